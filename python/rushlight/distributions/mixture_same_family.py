"""Mixtures of distributions of one kind."""

import rushlight as torch

from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """Draws one of the components, the last batch dimension of ``component_distribution``, by ``mixture_distribution``."""

    arg_constraints = {}
    has_rsample = False

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError("The Mixture distribution needs to be an instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution need to be an instance of torch.distributions.Distribution")
        mixed, parts = mixture_distribution.batch_shape, component_distribution.batch_shape
        for a, b in zip(reversed(mixed), reversed(parts[:-1])):
            if a != 1 and b != 1 and a != b:
                raise ValueError(f"`mixture_distribution.batch_shape` ({tuple(mixed)}) is not compatible with `component_distribution.batch_shape` ({tuple(parts)})")
        count, components = mixture_distribution.logits.shape[-1], parts[-1] if parts else None
        if count is not None and components is not None and count != components:
            raise ValueError(f"`mixture_distribution component` ({count}) does not equal `component_distribution.batch_shape[-1]` ({components})")
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        self._num_component = components
        event = component_distribution.event_shape
        self._event_ndims = len(event)
        super().__init__(parts[:-1], event, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        batch_shape = torch.Size(batch_shape)
        new._component_distribution = self._component_distribution.expand(batch_shape + (self._num_component,))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        super(MixtureSameFamily, new).__init__(batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self):
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self):
        """The distribution of the component's number."""
        return self._mixture_distribution

    @property
    def component_distribution(self):
        """The components."""
        return self._component_distribution

    def _weights(self):
        """The chances, with dimensions for events."""
        p = self.mixture_distribution.probs
        return p.reshape(p.shape + (1,) * self._event_ndims)

    @property
    def mean(self):
        return (self._weights() * self.component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self):
        dim, weights = -1 - self._event_ndims, self._weights()
        inside = (weights * self.component_distribution.variance).sum(dim)
        apart = (weights * (self.component_distribution.mean - self.mean.unsqueeze(dim)).pow(2.0)).sum(dim)
        return inside + apart

    def cdf(self, x):
        each = self.component_distribution.cdf(self._pad(x))
        return (each * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, x):
        if self._validate_args:
            self._validate_sample(x)
        each = self.component_distribution.log_prob(self._pad(x))
        return torch.logsumexp(each + self.mixture_distribution.logits.log_softmax(-1), -1)

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            dim = len(sample_shape) + len(self.batch_shape)
            index = chosen.reshape(chosen.shape + (1,) * (self._event_ndims + 1))
            index = index.expand(drawn.shape[:dim] + (1,) + drawn.shape[dim + 1 :])
            return drawn.gather(dim, index).squeeze(dim)

    def _pad(self, x):
        return x.unsqueeze(-1 - self._event_ndims)

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"

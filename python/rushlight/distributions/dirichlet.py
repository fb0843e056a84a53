"""The Dirichlet distribution."""

import rushlight as torch

from .._C import _functions
from . import constraints
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Dirichlet: vectors of sum 1.

    Samples are gamma-distributed numbers over their sum, and their gradients those of that quotient.
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Dirichlet, batch_shape, _instance, ("concentration",), {"concentration": self.event_shape})

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        left = (self.concentration - 1).clamp(min=0.0)
        mode = left / left.sum(-1, True)
        flat = (self.concentration < 1).all(-1)
        if flat.any():
            top = torch.nn.functional.one_hot(mode.nan_to_num().argmax(-1), self.concentration.shape[-1]).to(mode)
            mode = torch.where(flat.unsqueeze(-1), top, mode)
        return mode

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        # Small concentrations give numbers that float32 does not have.
        drawn = _functions["_standard_gamma"](self.concentration.expand(shape).double())
        return (drawn / drawn.sum(-1, True)).to(self.concentration.dtype)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return torch.xlogy(a - 1.0, value).sum(-1) + torch.lgamma(a.sum(-1)) - torch.lgamma(a).sum(-1)

    def entropy(self):
        a, k = self.concentration, self.concentration.size(-1)
        total = a.sum(-1)
        return (
            torch.lgamma(a).sum(-1) - torch.lgamma(total) - (k - total) * torch.digamma(total)
            - ((a - 1.0) * torch.digamma(a)).sum(-1)
        )  # fmt: skip

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - torch.lgamma(x.sum(-1))

"""The generalised Pareto distribution."""

import math

import rushlight as torch

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Generalised Pareto, from ``loc`` on: what excesses over a high bound tend to; exponential for ``concentration`` 0."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(GeneralizedPareto, batch_shape, _instance, ("loc", "scale", "concentration"))

    def _flat(self):
        """Where the exponential distribution is meant, and a concentration to divide by."""
        flat = torch.isclose(self.concentration, torch.zeros_like(self.concentration))
        return flat, torch.where(flat, torch.ones_like(self.concentration), self.concentration)

    def rsample(self, sample_shape=torch.Size()):
        return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        y, (flat, k) = self._z(value), self._flat()
        bent = (k + 1) * torch.log1p(k * y) / k
        return -torch.where(flat, y, bent) - self.scale.log()

    def log_survival_function(self, value):
        """The logarithm of the probability of larger values."""
        if self._validate_args:
            self._validate_sample(value)
        y, (flat, k) = self._z(value), self._flat()
        return torch.where(flat, -y, -torch.log1p(k * y) / k)

    def log_cdf(self, value):
        """The logarithm of ``cdf``."""
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value):
        return torch.exp(self.log_cdf(value))

    def icdf(self, value):
        flat, k = self._flat()
        log = torch.log1p(-value)
        return self.loc + self.scale * torch.where(flat, -log, torch.expm1(-k * log) / k)

    def _z(self, x):
        return (x - self.loc) / self.scale

    @property
    def mean(self):
        k = self.concentration
        return torch.where(k < 1, self.loc + self.scale / (1 - k), torch.full_like(k, math.inf))

    @property
    def variance(self):
        k = self.concentration
        return torch.where(k < 0.5, self.scale**2 / ((1 - k) ** 2 * (1 - 2 * k)), torch.full_like(k, math.inf))

    @property
    def mode(self):
        return self.loc

    def entropy(self):
        return (torch.log(self.scale) + self.concentration + 1).expand(self.batch_shape)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        top = torch.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, top)

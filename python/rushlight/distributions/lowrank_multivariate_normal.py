"""Normal vectors whose covariance is a diagonal and few directions."""

import math

import rushlight as torch

from . import constraints
from .distribution import Distribution
from .multivariate_normal import _batch_mahalanobis, _batch_mv
from .utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


class LowRankMultivariateNormal(Distribution):
    """Covariance ``cov_factor cov_factor' + diag(cov_diag)``: nothing larger than the factor is decomposed.

    By the matrix inversion and determinant lemmas, with the small matrix ``I + W' D^-1 W``.
    """

    arg_constraints = {
        "loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        n = loc.shape[-1]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2] != n:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {n} x m")
        if cov_diag.shape[-1:] != (n,):
            raise ValueError(f"cov_diag must be a batch of vectors with shape ({n},)")
        try:
            batch = tuple(torch.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]))
        except RuntimeError as error:
            raise ValueError(f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}") from error
        self.loc = loc.expand(batch + (n,))
        self.cov_diag = cov_diag.expand(batch + (n,))
        self.cov_factor = cov_factor.expand(batch + tuple(cov_factor.shape[-2:]))
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = self._small(cov_factor, cov_diag)
        super().__init__(batch, (n,), validate_args=validate_args)

    @staticmethod
    def _small(factor, diag):
        rank = factor.shape[-1]
        small = (factor.mT / diag.unsqueeze(-2)) @ factor
        return torch.linalg.cholesky(small + torch.eye(rank, dtype=small.dtype, device=small.device))

    def expand(self, batch_shape, _instance=None):
        (n,), factor = self.event_shape, tuple(self.cov_factor.shape[-2:])
        new = self._expanded(
            LowRankMultivariateNormal, batch_shape, _instance, ("loc", "cov_diag", "cov_factor"),
            {"loc": (n,), "cov_diag": (n,), "cov_factor": factor},
        )  # fmt: skip
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            setattr(new, name, getattr(self, name))
        return new

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @lazy_property
    def variance(self):
        whole = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return whole.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        whole = factor @ factor.mT + torch.diag_embed(self._unbroadcasted_cov_diag)
        return whole.expand(tuple(self._batch_shape) + tuple(self._event_shape) * 2)

    @lazy_property
    def scale_tril(self):
        """The lower Cholesky factor of the covariance."""
        return torch.linalg.cholesky(self.covariance_matrix)

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        factor, diag = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        a = torch.linalg.solve_triangular(self._capacitance_tril, factor.mT / diag.unsqueeze(-2), upper=False)
        whole = torch.diag_embed(diag.reciprocal()) - a.mT @ a
        return whole.expand(tuple(self._batch_shape) + tuple(self._event_shape) * 2)

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        w = _standard_normal((*shape[:-1], self.cov_factor.shape[-1]), self.loc.dtype, self.loc.device)
        d = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_cov_factor, w) + self._unbroadcasted_cov_diag.sqrt() * d

    def _log_det(self):
        small = self._capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return 2 * small + self._unbroadcasted_cov_diag.log().sum(-1)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        diff = value - self.loc
        scaled = diff / self._unbroadcasted_cov_diag
        inner = _batch_mv(self._unbroadcasted_cov_factor.mT, scaled)
        distance = (diff * scaled).sum(-1) - _batch_mahalanobis(self._capacitance_tril, inner)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + distance)

    def entropy(self):
        entropy = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return entropy.expand(self._batch_shape)

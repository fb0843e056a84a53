"""The Wishart distribution."""

import math
import warnings

import rushlight as torch

from . import constraints
from .exp_family import ExponentialFamily
from .multivariate_normal import _precision_to_scale_tril
from .utils import lazy_property

__all__ = ["Wishart"]


class Wishart(ExponentialFamily):
    """Wishart: sums of ``df`` squares of normal vectors of a covariance; positive definite matrices.

    Give one of covariance, its inverse ``precision_matrix``, and its Cholesky factor ``scale_tril``.
    Samples are made of triangular matrices (Bartlett 1933).
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self):
        n = self.event_shape[0] if self.event_shape else 1
        return {
            "covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(n - 1),
        }  # fmt: skip

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = {name: matrix for name, matrix in given.items() if matrix is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        df = torch.as_tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch, event = tuple(torch.broadcast_shapes(matrix.shape[:-2], df.shape)), tuple(matrix.shape[-2:])
        if event[0] != event[1]:
            raise ValueError(f"{name} must be a batch of square matrices, not of shape {tuple(matrix.shape)}")
        self.df = df.expand(batch)
        setattr(self, name, matrix.expand(batch + (-1, -1)))
        if self.df.le(event[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}.")
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = scale_tril
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(covariance_matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(precision_matrix)
        super().__init__(batch, event, validate_args=validate_args)
        if self.df.lt(event[-1]).any():
            warnings.warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.", stacklevel=2)

    def expand(self, batch_shape, _instance=None):
        names = ("df", "covariance_matrix", "scale_tril", "precision_matrix")
        new = self._expanded(Wishart, batch_shape, _instance, names, dict.fromkeys(names[1:], tuple(self.event_shape)))
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return new

    def _whole(self, matrix):
        return matrix.expand(tuple(self._batch_shape) + tuple(self._event_shape))

    @lazy_property
    def scale_tril(self):
        """The lower Cholesky factor of the covariance."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        """The covariance of the vectors."""
        return self._whole(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        return self._whole(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self):
        return self.df.view(tuple(self._batch_shape) + (1, 1)) * self.covariance_matrix

    @property
    def mode(self):
        factor = (self.df - self.covariance_matrix.shape[-1] - 1).masked_fill(self.df <= self.covariance_matrix.shape[-1] + 1, math.nan)
        return factor.view(tuple(self._batch_shape) + (1, 1)) * self.covariance_matrix

    @property
    def variance(self):
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.view(tuple(self._batch_shape) + (1, 1)) * (v.pow(2) + outer)

    def rsample(self, sample_shape=torch.Size(), max_try_correction=None):
        from .chi2 import Chi2

        n, shape = self._event_shape[0], self._extended_shape(sample_shape)
        down = torch.arange(n, dtype=self.df.dtype, device=self.df.device)
        chi = Chi2(self.df.unsqueeze(-1) - down, validate_args=False).rsample(sample_shape)
        below = torch.randn(shape, dtype=self.df.dtype, device=self.df.device).tril(-1)
        factor = self._unbroadcasted_scale_tril @ (below + chi.sqrt().diag_embed())
        return factor @ factor.mT

    def _log_det(self):
        return 2 * self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        solved = torch.cholesky_solve(value, self._unbroadcasted_scale_tril)
        return (
            -nu * (self._log_det() + p * math.log(2)) / 2 - torch.mvlgamma(nu / 2, p=p)
            + (nu - p - 1) / 2 * torch.linalg.slogdet(value).logabsdet
            - solved.diagonal(dim1=-2, dim2=-1).sum(-1) / 2
        )  # fmt: skip

    def entropy(self):
        nu, p = self.df, self._event_shape[-1]
        steps = torch.arange(p, dtype=nu.dtype, device=nu.device)
        digammas = torch.digamma((nu.unsqueeze(-1) - steps) / 2).sum(-1)
        return (p + 1) * (self._log_det() + p * math.log(2)) / 2 + torch.mvlgamma(nu / 2, p=p) - (nu - p - 1) / 2 * digammas + nu * p / 2

    @property
    def _natural_params(self):
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x, y):
        p, y = self._event_shape[-1], y + (self._event_shape[-1] + 1) / 2
        return y * (-torch.linalg.slogdet(-2 * x).logabsdet + p * math.log(2)) + torch.mvlgamma(y, p=p)

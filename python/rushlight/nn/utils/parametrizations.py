"""Parametrisations ready for use: lengths and directions, largest singular values, orthogonal matrices."""

from enum import Enum, auto

from ... import _C
from ...autograd import no_grad
from .. import functional as F
from ..modules import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from ..parameter import Parameter
from . import parametrize
from .weight_norm import length_except, normalised

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

_rows = _C._functions


def _tensor(name, module, tensor_name):
    """The parameter that is meant. ValueError: there is none."""
    found = getattr(module, tensor_name, None)
    if not isinstance(found, Parameter) and not parametrize.is_parametrized(module, tensor_name):
        raise ValueError(f"{name}: {type(module).__name__} has no parameter {tensor_name!r}")
    return found


def _is_orthogonal(Q, eps=None):
    """Whether the columns are orthonormal, to ``eps``."""
    n, k = Q.shape[-2:]
    if eps is None:
        from ... import finfo

        eps = 10.0 * n * finfo(Q.dtype).eps
    return bool(_rows["isclose"](Q.mH @ Q, _rows["eye"](k, dtype=Q.dtype, device=Q.device), rtol=1e-5, atol=eps).all())


def _make_orthogonal(A):
    """The nearest thing to ``A`` of QR: its factor Q, with signs such that ``A`` orthogonal stays as it is."""
    packed, tau = _rows["geqrf"](A)
    q = _rows["linalg_householder_product"](packed, tau)
    return q * packed.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    """A matrix with orthonormal columns (rows, if there are more columns), from any matrix of its shape."""

    def __init__(self, weight, orthogonal_map, *, use_trivialization=True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == _OrthMaps.householder:
            raise ValueError("orthogonal: the householder map takes real matrices only")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        wide = X.shape[-2] < X.shape[-1]
        x = X.mT if wide else X
        n, k = x.shape[-2:]
        if self.orthogonal_map == _OrthMaps.householder:
            a = x.tril(-1)
            tau = 2.0 / (1.0 + (a * a).sum(-2))
            q = _rows["linalg_householder_product"](a, tau) * x.diagonal(dim1=-2, dim2=-1).trunc().unsqueeze(-2)
        else:
            low = x.tril()
            if n != k:
                low = _rows["cat"]([low, low.new_zeros((*low.shape[:-2], n, n - k))], -1)
            skew = low - low.mH
            if self.orthogonal_map == _OrthMaps.matrix_exp:
                q = _rows["linalg_matrix_exp"](skew)
            else:
                one = _rows["eye"](n, dtype=skew.dtype, device=skew.device)
                q = _rows["linalg_solve"](one - skew * 0.5, one + skew * 0.5)
            q = q[..., :k] if n != k else q
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def right_inverse(self, Q):
        if Q.shape != self.shape:
            raise ValueError(f"orthogonal: a matrix of shape {list(Q.shape)}; {list(self.shape)} is needed")
        given, wide = Q, Q.shape[-2] < Q.shape[-1]
        q = Q.mT if wide else Q
        n, k = q.shape[-2:]
        if not hasattr(self, "base"):
            if self.orthogonal_map != _OrthMaps.householder:
                raise NotImplementedError("orthogonal: this map has no inverse without use_trivialization")
            packed, tau = _rows["geqrf"](q)
            # The diagonal keeps signs: of the reflections, and where there is none.
            diagonal = packed.diagonal(dim1=-2, dim2=-1)
            signs = diagonal.sign()
            diagonal.copy_(_rows["where"](tau == 0, -signs, signs))
            return packed.mT if wide else packed
        if n == k:
            q = q.clone() if _is_orthogonal(q) else _make_orthogonal(q)
        else:
            rest = q.new_empty((*q.shape[:-2], n, n - k)).normal_(0, 1)
            q = _make_orthogonal(_rows["cat"]([q, rest], -1))
        self.base = q
        minus = _rows["zeros"](given.shape, dtype=given.dtype, device=given.device)
        minus.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return minus


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Keeps a matrix, or a batch of them, orthogonal (unitary). Gives the module.

    ``orthogonal_map``: ``"matrix_exp"`` (square or complex matrices, unless told), ``"cayley"`` or ``"householder"``
    (others). ``use_trivialization``: maps start from the present matrix (Lezcano-Casado 2019).
    """
    weight = _tensor("orthogonal", module, name)
    if weight.ndim < 2:
        raise ValueError(f"orthogonal: takes a matrix or a batch of them, not {weight.ndim} dimensions")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    kind = getattr(_OrthMaps, orthogonal_map, None)
    if kind is None:
        raise ValueError(f"orthogonal: orthogonal_map must be 'matrix_exp', 'cayley' or 'householder', not {orthogonal_map!r}")
    made = _Orthogonal(weight, kind, use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, made, unsafe=True)
    return module


class _WeightNorm(Module):
    """A length for each place of ``dim``, and a direction."""

    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return normalised(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        return length_except(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """Makes a parameter ``original0 * original1 / |original1|``: lengths for each place of ``dim`` and directions. Gives the module."""
    _tensor("weight_norm", module, name)
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def older(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        # States of the weight norm that is a hook.
        for part, index in (("_g", 0), ("_v", 1)):
            key = f"{prefix}{name}{part}"
            if key in state_dict:
                state_dict[f"{prefix}parametrizations.{name}.original{index}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(older)
    return module


class _SpectralNorm(Module):
    """A weight over its largest singular value, which two vectors follow by power iteration."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"spectral_norm: dim {dim} is out of range for {ndim} dimensions")
        if n_power_iterations <= 0:
            raise ValueError(f"spectral_norm: n_power_iterations must be positive, got {n_power_iterations}")
        self.dim, self.eps = dim if dim >= 0 else dim + ndim, eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            u = matrix.new_empty(matrix.shape[0]).normal_(0, 1)
            v = matrix.new_empty(matrix.shape[1]).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            # Close to the singular vectors from the start.
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight):
        """Dimension ``dim`` by all others."""
        return weight.movedim(self.dim, 0).flatten(1)

    def _power_method(self, weight_mat, n_power_iterations):
        """Both vectors some steps further, in place."""
        with no_grad():
            for _ in range(n_power_iterations):
                self._u.copy_(F.normalize(weight_mat.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(weight_mat.mH.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # Backward needs them as they are now, also after the next call.
        u, v = self._u.clone(), self._v.clone()
        return weight / _rows["vdot"](u, matrix.mv(v))

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divides a parameter by its largest singular value, as a matrix of ``dim`` by the rest. Gives the module.

    ``dim``: 1 for transposed convolutions, else 0, unless given.
    """
    weight = _tensor("spectral_norm", module, name)
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module

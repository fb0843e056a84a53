"""The extension ``linalg``: matrices are the last two axes, all before them a batch. Operands promote."""

from .. import linalg as _linalg
from .._C import _functions as _rows
from . import statistics as _statistics
from ._arrays import array as _array
from ._arrays import axes_of as _axes_of
from ._arrays import promoted as _promoted
from .linear_algebra import matmul, matrix_transpose, tensordot, vecdot

__all__ = """cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power matrix_rank
    matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm""".split()


def _of_one(name, doc):
    def function(x, /):
        return getattr(_linalg, name)(_array(name, x))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


det = _of_one("det", "Determinants.")
eig = _of_one("eig", "Eigenvalues and right eigenvectors, always complex.")
eigh = _of_one("eigh", "Eigenvalues, which are real, and eigenvectors of symmetric or Hermitian matrices.")
eigvals = _of_one("eigvals", "Eigenvalues, always complex.")
eigvalsh = _of_one("eigvalsh", "Eigenvalues of symmetric or Hermitian matrices, which are real.")
inv = _of_one("inv", "Inverses.")
slogdet = _of_one("slogdet", "Signs, and logarithms of absolute values, of determinants.")
svdvals = _of_one("svdvals", "Singular values, the largest first.")


def cholesky(x, /, *, upper=False):
    """The lower (or upper) triangular factor ``L`` of positive definite matrices ``L @ L.mH``."""
    return _linalg.cholesky(_array("cholesky", x), upper=upper)


def cross(x1, x2, /, *, axis=-1):
    """Cross products of vectors of 3 elements along ``axis``; the other axes broadcast."""
    x1, x2 = _promoted(_array("cross", x1), _array("cross", x2))
    for x in (x1, x2):
        _axes_of("cross", axis, x.ndim)
        if x.shape[axis] != 3:
            raise ValueError(f"cross: axis {axis} must be of size 3, not {x.shape[axis]}")
    return _linalg.cross(*_rows["broadcast_tensors"]([x1, x2]), dim=axis)


def diagonal(x, /, *, offset=0):
    """The ``offset``-th diagonals of matrices, a view."""
    return _array("diagonal", x).diagonal(offset, -2, -1)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """A norm of each matrix: ``"fro"``, ``"nuc"``, 1, 2, infinity or one of these negative."""
    return _linalg.matrix_norm(_array("matrix_norm", x), ord, keepdim=keepdims)


def matrix_power(x, n, /):
    """Square matrices multiplied with themselves; inverses for a negative ``n``."""
    return _linalg.matrix_power(_array("matrix_power", x), n)


def matrix_rank(x, /, *, rtol=None):
    """How many singular values are more than ``rtol`` times the largest one."""
    return _linalg.matrix_rank(_array("matrix_rank", x), rtol=rtol)


def outer(x1, x2, /):
    """All products of an element of one 1-d array and an element of the other."""
    x1, x2 = _promoted(_array("outer", x1), _array("outer", x2))
    for x in (x1, x2):
        if x.ndim != 1:
            raise ValueError(f"outer: takes 1-d arrays, not {x.ndim} dimensions")
    return x1[:, None] * x2


def pinv(x, /, *, rtol=None):
    """Pseudo-inverses, without the singular values of less than ``rtol`` times the largest one."""
    return _linalg.pinv(_array("pinv", x), rtol=rtol)


def qr(x, /, *, mode="reduced"):
    """Factors ``Q``, whose columns are orthonormal, and ``R``, which is upper triangular."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: mode must be 'reduced' or 'complete', not {mode!r}")
    return _linalg.qr(_array("qr", x), mode)


def solve(x1, x2, /):
    """``x`` for which ``x1 @ x`` is ``x2``: a vector if ``x2`` is 1-d, else matrices."""
    x1, x2 = _promoted(_array("solve", x1), _array("solve", x2))
    if x2.ndim == 1:
        return _linalg.solve(x1, x2[:, None]).squeeze(-1)
    # Where it could be read as a batch of vectors, a batch axis tells that it is one of matrices.
    if x2.shape == x1.shape[:-1]:
        x2 = x2.expand((*x1.shape[:-2], *x2.shape[-2:]))
    return _linalg.solve(x1, x2)


def svd(x, /, *, full_matrices=True):
    """Factors ``U``, singular values ``S``, the largest first, and ``Vh``."""
    return _linalg.svd(_array("svd", x), full_matrices=full_matrices)


def trace(x, /, *, offset=0, dtype=None):
    """Sums of the ``offset``-th diagonals; dtypes as in ``sum``."""
    return _statistics.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """A norm of the vectors along ``axis``: of the flattened array, along one axis, or over those of a tuple."""
    if axis == ():
        lengths = _rows["abs"](_array("vector_norm", x))
        return (lengths != 0).to(lengths.dtype) if ord == 0 else lengths
    return _linalg.vector_norm(_array("vector_norm", x), ord, axis, keepdim=keepdims)

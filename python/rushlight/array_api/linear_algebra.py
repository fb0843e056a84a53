"""Linear algebra of the main namespace: products. Operands promote."""

from .. import _functions
from .._C import _functions as rows
from ._arrays import array, axes_of, promoted


def matmul(x1, x2, /):
    """The matrix product; of a 1-d array with the last axis of the other, batches broadcast."""
    return rows["matmul"](*promoted(array("matmul", x1), array("matmul", x2)))


def matrix_transpose(x, /):
    """The last two axes exchanged."""
    if array("matrix_transpose", x).ndim < 2:
        raise ValueError(f"matrix_transpose: takes at least 2 dimensions, not {x.ndim}")
    return x.mT


def tensordot(x1, x2, /, *, axes=2):
    """Sums of products over pairs of axes: the last ``axes`` of ``x1`` with the first of ``x2``, or two sequences of them."""
    x1, x2 = promoted(array("tensordot", x1), array("tensordot", x2))
    if not isinstance(axes, int):
        axes = tuple(list(side) for side in axes)
    return _functions.tensordot(x1, x2, dims=axes)


def vecdot(x1, x2, /, *, axis=-1):
    """Sums along ``axis`` of the conjugate of ``x1`` times ``x2``."""
    x1, x2 = promoted(array("vecdot", x1), array("vecdot", x2))
    for x in (x1, x2):
        axes_of("vecdot", axis, x.ndim)
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: axis {axis} has size {x1.shape[axis]} in one array and {x2.shape[axis]} in the other")
    lines = (rows["movedim"](_functions.conj(x1), axis, -1), rows["movedim"](x2, axis, -1))
    return rows["matmul"](lines[0].unsqueeze(-2), lines[1].unsqueeze(-1)).squeeze(-1).squeeze(-1)

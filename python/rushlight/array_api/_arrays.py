"""What the chapters share: reading arguments, and the standard's promotion."""

import builtins

from .. import _C
from .._C import Tensor
from .._C import _functions as rows

NUMBERS = (builtins.bool, int, float, complex)
UNSIGNED = frozenset((_C.uint8, _C.uint16, _C.uint32, _C.uint64))
SIGNED = frozenset((_C.int8, _C.int16, _C.int32, _C.int64))
INTEGERS = UNSIGNED | SIGNED


def array(op, x):
    """`x`, which must be an array."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{op}: takes arrays, not {type(x).__name__}")
    return x


def promoted(*arrays):
    """The arrays in their common dtype. In the standard a 0-d array counts like any other."""
    if builtins.all(x.dtype is arrays[0].dtype for x in arrays):
        return arrays
    common = arrays[0].dtype
    for x in arrays[1:]:
        common = _C.promote_types(common, x.dtype)
    return tuple(x.to(common) for x in arrays)


def pair(op, x1, x2):
    """Two operands in their common dtype, of which one may be a Python number."""
    if isinstance(x1, Tensor):
        if isinstance(x2, Tensor):
            return (x1, x2) if x1.dtype is x2.dtype else promoted(x1, x2)
        if isinstance(x2, NUMBERS):
            kind = _C.result_type(x1, x2)
            return x1.to(kind), scalar(x2, kind, x1.device)
    elif isinstance(x2, Tensor) and isinstance(x1, NUMBERS):
        kind = _C.result_type(x2, x1)
        return scalar(x1, kind, x2.device), x2.to(kind)
    raise TypeError(f"{op}: takes two arrays, or an array and a number, not {type(x1).__name__} and {type(x2).__name__}")


def scalar(number, dtype, device):
    """A 0-d array."""
    return rows["full"]((), number, dtype=dtype, device=device)


def shape_of(op, shape):
    """A shape, which may be given as an integer or as any sequence."""
    if isinstance(shape, (tuple, list)):
        return tuple(shape)
    try:
        return (shape.__index__(),)
    except AttributeError:
        raise TypeError(f"{op}: shape must be an integer or a tuple of them, not {type(shape).__name__}") from None


def axes_of(op, axis, ndim):
    """An axis or several as a tuple of non-negative ones."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    for a in axes:
        if not -ndim <= a < ndim:
            raise IndexError(f"{op}: axis {a} is out of range for {ndim} dimensions")
    return tuple(a % ndim for a in axes)

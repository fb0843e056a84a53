"""Searching functions."""

from .. import _C
from .._C import Tensor
from .._C import _functions as rows
from ._arrays import NUMBERS, array, pair, scalar


def _position(name):
    row = rows[name]

    def find(x, /, *, axis=None, keepdims=False):
        found = row(array(name, x), axis, keepdims)
        return found.reshape((1,) * x.ndim) if keepdims and axis is None else found

    find.__name__ = find.__qualname__ = name
    find.__doc__ = f"Where the first {'largest' if name == 'argmax' else 'smallest'} element is: along ``axis``, or in the flattened array."
    return find


argmax = _position("argmax")
argmin = _position("argmin")


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """How many elements are not zero, along ``axis``: all axes, one, or those of a tuple."""
    truths = array("count_nonzero", x).to(_C.bool)
    return truths.to(_C.int64) if axis == () else rows["sum"](truths, axis, keepdims)


def nonzero(x, /):
    """Where elements are not zero: an array of positions for each axis."""
    if array("nonzero", x).ndim == 0:
        raise ValueError("nonzero: a 0-d array has no positions")
    return tuple(rows["nonzero"](x).unbind(1))


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """For each of ``x2`` the place in the sorted 1-d ``x1`` before which (``side="right"``: behind which equals) it belongs."""
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', not {side!r}")
    x1, x2 = pair("searchsorted", x1, x2)
    if sorter is not None:
        x1 = x1[sorter.to(_C.int64)]
    return rows["searchsorted"](x1, x2, side=side)


def where(condition, x1, x2, /):
    """Elements of ``x1`` where ``condition`` holds, of ``x2`` elsewhere; both may be Python numbers."""
    if isinstance(x1, NUMBERS) and isinstance(x2, NUMBERS):
        kind = _C.result_type(x1, x2)
        x1, x2 = (scalar(x, kind, condition.device) for x in (x1, x2))
    elif isinstance(x1, Tensor) or isinstance(x2, Tensor):
        x1, x2 = pair("where", x1, x2)
    return rows["where"](array("where", condition), x1, x2)

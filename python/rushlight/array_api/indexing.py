"""Indexing functions."""

from .. import _C
from .._C import _functions as rows
from ._arrays import array, axes_of


def take(x, indices, /, *, axis=None):
    """The slices of ``x`` at a 1-d array of ``indices`` along ``axis``; negative ones count from the end."""
    if axis is None:
        if array("take", x).ndim != 1:
            raise ValueError(f"take: needs an axis where there are {x.ndim} dimensions, not one")
        axis = 0
    (axis,) = axes_of("take", axis, x.ndim)
    indices = array("take", indices).to(_C.int64)
    return x[(slice(None),) * axis + (indices,)]


def take_along_axis(x, indices, /, *, axis=-1):
    """The elements at ``indices`` along ``axis``, one for each; the other dimensions broadcast. Negative ones count back."""
    (axis,) = axes_of("take_along_axis", axis, array("take_along_axis", x).ndim)
    indices = array("take_along_axis", indices).to(_C.int64)
    return rows["take_along_dim"](x, rows["where"](indices < 0, indices + x.shape[axis], indices), axis)

"""Utility functions."""

import builtins

from .. import _C
from .._C import _functions as rows
from ._arrays import array, axes_of, promoted


def _truth(name, doc):
    row = rows[name]

    def reduce(x, /, *, axis=None, keepdims=False):
        return row(array(name, x).to(_C.bool), axis, keepdims)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f"Whether {doc} along ``axis`` (all axes, one, a tuple) is true, which what is not zero is."
    return reduce


all = _truth("all", "every element")
any = _truth("any", "any element")


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Differences of neighbours along ``axis``, ``n`` times; ``prepend`` and ``append`` are put at its ends before."""
    (axis,) = axes_of("diff", axis, array("diff", x).ndim)
    parts = promoted(*(part for part in (prepend, x, append) if part is not None))
    line = rows["cat"](list(parts), axis) if len(parts) > 1 else parts[0]
    if n < 0:
        raise ValueError(f"diff: n must not be negative, got {n}")
    for _ in range(n):
        size = builtins.max(line.shape[axis] - 1, 0)
        line = line.narrow(axis, line.shape[axis] - size, size) - line.narrow(axis, 0, size)
    return line

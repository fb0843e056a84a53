"""Statistical functions. ``axis`` is None (all axes), one, or a tuple, of which the empty one reduces nothing."""

from .. import _C
from .._C import _functions as rows
from ._arrays import SIGNED, UNSIGNED, array


def _held(x, dtype):
    """The dtype of sums and products: of integers the widest of their kind."""
    if dtype is not None:
        return dtype
    return _C.uint64 if x.dtype in UNSIGNED else _C.int64 if x.dtype in SIGNED or x.dtype is _C.bool else x.dtype


def _accumulated(name, doc):
    row = rows[name]

    def reduce(x, /, *, axis=None, dtype=None, keepdims=False):
        held = _held(array(name, x), dtype)
        return x.to(held, copy=True) if axis == () else row(x, axis, keepdims, dtype=held)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f"{doc} along ``axis``; integers in the widest dtype of their kind, unless ``dtype`` says otherwise."
    return reduce


sum = _accumulated("sum", "Sums")
prod = _accumulated("prod", "Products")


def _extremum(name, row, doc):
    row = rows[row]

    def reduce(x, /, *, axis=None, keepdims=False):
        array(name, x)
        return x.clone() if axis == () else row(x, axis, keepdims)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f"The {doc} element along ``axis``; NaN wins."
    return reduce


max = _extremum("max", "amax", "largest")
min = _extremum("min", "amin", "smallest")


def mean(x, /, *, axis=None, keepdims=False):
    """Means along ``axis``."""
    array("mean", x)
    return x.clone() if axis == () else rows["mean"](x, axis, keepdims)


def _spread(name, doc):
    row = rows[name]

    def reduce(x, /, *, axis=None, correction=0.0, keepdims=False):
        array(name, x)
        if axis == ():
            # Each element is its own mean: 0, and of the infinite ones and by a correction of all NaN.
            return (x - x).real / (1 - correction if correction < 1 else 0)
        return row(x, axis, correction=correction, keepdim=keepdims)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f"{doc} along ``axis``, by the count less ``correction``."
    return reduce


std = _spread("std", "Standard deviations")
var = _spread("var", "Variances")


def _running(name, row, first, doc):
    row = rows[row]

    def run(x, /, *, axis=None, dtype=None, include_initial=False):
        if axis is None:
            if array(name, x).ndim != 1:
                raise ValueError(f"{name}: needs an axis where there are {x.ndim} dimensions, not one")
            axis = 0
        made = row(x, axis, dtype=_held(x, dtype))
        if not include_initial:
            return made
        shape = list(made.shape)
        shape[axis] = 1
        return rows["cat"]([rows["full"](shape, first, dtype=made.dtype, device=made.device), made], axis)

    run.__name__ = run.__qualname__ = name
    run.__doc__ = f"Running {doc} along ``axis``, after ``include_initial`` one of nothing; dtypes as in ``sum``."
    return run


cumulative_sum = _running("cumulative_sum", "cumsum", 0, "sums")
cumulative_prod = _running("cumulative_prod", "cumprod", 1, "products")

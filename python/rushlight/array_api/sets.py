"""Set functions. Every NaN is an element of its own; 0 and -0 are one."""

from collections import namedtuple

from .. import _C
from .._C import _functions as rows
from ._arrays import array, pair

_All = namedtuple("unique_all_result", "values indices inverse_indices counts")
_Counts = namedtuple("unique_counts_result", "values counts")
_Inverse = namedtuple("unique_inverse_result", "values inverse_indices")


def _sorted(x):
    """The flattened elements in order, and where each came from; equal ones keep their order."""
    flat = x.reshape(-1)
    if not flat.is_complex():
        return rows["sort"](flat, 0, False)
    # By imaginary part first, then stably by real part.
    minor = rows["argsort"](flat.imag, 0, False)
    order = minor[rows["argsort"](flat.real[minor], 0, False)]
    return flat[order], order


def _unique(op, x):
    """The distinct elements, where each is found first, which one each element is, and how often each occurs."""
    line, order = _sorted(array(op, x).detach())
    first = rows["ones"](line.shape, dtype=_C.bool)
    first[1:] = line[1:] != line[:-1]
    starts = rows["nonzero"](first).squeeze(1)
    inverse = rows["empty"](line.shape, dtype=_C.int64)
    inverse[order] = rows["cumsum"](first, 0) - 1
    ends = rows["cat"]([starts[1:], rows["full"]((1,), line.numel(), dtype=_C.int64)]) if len(starts) else starts
    indices = order[starts]
    return x.reshape(-1)[indices], indices, inverse.reshape(x.shape), ends - starts


def unique_all(x, /):
    """The distinct elements in order, the position of each one's first occurrence in the flattened array, the
    number of the distinct one at each place of ``x``, and how often each occurs."""
    return _All(*_unique("unique_all", x))


def unique_counts(x, /):
    """The distinct elements in order and how often each occurs."""
    values, _, _, counts = _unique("unique_counts", x)
    return _Counts(values, counts)


def unique_inverse(x, /):
    """The distinct elements in order and the number of the distinct one at each place of ``x``."""
    values, _, inverse, _ = _unique("unique_inverse", x)
    return _Inverse(values, inverse)


def unique_values(x, /):
    """The distinct elements in order."""
    return _unique("unique_values", x)[0]


def isin(x1, x2, /, *, invert=False):
    """Whether each of ``x1`` is among ``x2``, or with ``invert`` whether it is not; one may be a Python number."""
    x1, x2 = pair("isin", x1, x2)
    return rows["isin"](x1, x2, invert=invert)

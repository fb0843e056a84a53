"""Reductions and normalisations over the elements that a mask keeps.

Every function takes ``mask``, a bool tensor that broadcasts to the input and is true where elements
count. What does not count is replaced by what changes nothing (0 in a sum, 1 in a product, the
least number in a maximum), and the row of the same purpose does the rest. ``dtype`` is that of the result.
"""

from . import _C
from ._C import _functions
from ._functions import _tensor
from ._types import iinfo as _iinfo

__all__ = """amax amin argmax argmin cumprod cumsum log_softmax logaddexp logsumexp mean median norm normalize prod
    softmax softmin std sum var""".split()

_rows = dict(_functions)
_SMALL = (_C.bool, _C.uint8, _C.int8, _C.int16, _C.int32)


def _mask(op, input, mask):
    """The mask in the input's shape."""
    if mask.ndim > input.ndim:
        raise IndexError(f"{op}: the mask has {mask.ndim} dimensions, the input only {input.ndim}")
    return mask.to(_C.bool).expand(input.shape)


def _filled(op, input, mask, value):
    """The input with ``value`` where the mask is false."""
    if mask is None:
        return _tensor(op, input)
    other = _rows["full"]((), value, dtype=_tensor(op, input).dtype, device=input.device)
    return _rows["where"](_mask(op, input, mask), input, other)


def _least(op, input, sign=1):
    """The least number of the input's dtype, or with ``sign`` -1 the greatest."""
    if input.dtype.is_floating_point or input.dtype.is_complex:
        return -sign * float("inf")
    if input.dtype is _C.bool:
        raise NotImplementedError(f"{op}: is not defined for bool; convert with to()")
    limits = _iinfo(input.dtype)
    return limits.min if sign == 1 else limits.max


def _dims(dim, input):
    """The dimensions to reduce; all for None and for an empty list."""
    dims = () if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    return list(dims or range(input.ndim))


def _one(dim, input):
    return dim if isinstance(dim, int) else dim[0]


def _summed_as(input, dtype):
    return dtype or (_C.int64 if input.dtype in _SMALL else input.dtype)


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The sum over ``dim``; 0 where nothing counts. Small integers sum to int64."""
    dtype = _summed_as(_tensor("sum", input), dtype)
    return _rows["sum"](_filled("sum", input, mask, 0), _dims(dim, input), bool(keepdim), dtype=dtype)


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The product over ``dim``; 1 where nothing counts. Small integers give int64."""
    dtype = _summed_as(_tensor("prod", input), dtype)
    result = _filled("prod", input, mask, 1).to(dtype)
    for d in sorted((d % max(input.ndim, 1) for d in _dims(dim, input)), reverse=True):
        result = _rows["prod"](result, d, bool(keepdim))
    return result


def cumsum(input, dim, *, dtype=None, mask=None):
    """The running sum along ``dim``."""
    dtype = dtype or _tensor("cumsum", input).dtype
    return _rows["cumsum"](_filled("cumsum", input, mask, 0), _one(dim, input), dtype=dtype).to(dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    """The running product along ``dim``."""
    dtype = dtype or _tensor("cumprod", input).dtype
    return _rows["cumprod"](_filled("cumprod", input, mask, 1), _one(dim, input), dtype=dtype).to(dtype)


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The largest element over ``dim``; the least number there is where nothing counts."""
    filled = _filled("amax", input, mask, None if mask is None else _least("amax", input))
    return _rows["amax"](filled, _dims(dim, input), bool(keepdim)).to(dtype or input.dtype)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The smallest element over ``dim``; the greatest number there is where nothing counts."""
    filled = _filled("amin", input, mask, None if mask is None else _least("amin", input, -1))
    return _rows["amin"](filled, _dims(dim, input), bool(keepdim)).to(dtype or input.dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The place of the largest element along ``dim``, in the input's dtype unless told."""
    filled = _filled("argmax", input, mask, None if mask is None else _least("argmax", input))
    return _rows["argmax"](filled, dim, bool(keepdim)).to(dtype or input.dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The place of the smallest element along ``dim``, in the input's dtype unless told."""
    filled = _filled("argmin", input, mask, None if mask is None else _least("argmin", input, -1))
    return _rows["argmin"](filled, dim, bool(keepdim)).to(dtype or input.dtype)


def _count(op, input, dims, keepdim, mask):
    """How many elements count."""
    counted = _rows["ones"]((), dtype=_C.bool, device=input.device) if mask is None else _mask(op, input, mask)
    return _rows["sum"](counted.expand(input.shape), dims, keepdim)


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The mean over ``dim``; NaN where nothing counts. Floats and complex numbers only."""
    dtype = dtype or _tensor("mean", input).dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(f"mean: takes floats and complex numbers, not {dtype}; give a dtype")
    total = sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask)
    return total / _count("mean", input, _dims(dim, input), bool(keepdim), mask)


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The middle element along ``dim``, the lower of two; NaN where nothing counts.

    ValueError: nothing counts somewhere, and the dtype has no NaN.
    """
    dtype = dtype or _tensor("median", input).dtype
    floats = input.dtype.is_floating_point
    filled = _filled("median", input if floats else input.to(_C.float32), mask, float("nan"))
    found = _rows["nanmedian"](filled, _one(dim, input), keepdim)[0]
    if floats:
        return found
    if bool(found.isnan().any()):
        raise ValueError(f"median: nothing counts somewhere, and {dtype} has no NaN to say so")
    return found.to(dtype)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The logarithm of the sum of exponentials over ``dim``."""
    filled = _filled("logsumexp", input, mask, None if mask is None else _least("logsumexp", input))
    return _rows["logsumexp"](filled, _dims(dim, input), bool(keepdim)).to(dtype or input.dtype)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """``log(exp(input) + exp(other))`` of the elements that count in each."""
    left, right = (
        _filled("logaddexp", x, mask, None if mask is None else _least("logaddexp", x))
        for x, mask in ((input, input_mask), (other, other_mask))
    )
    return _rows["logaddexp"](left, right).to(dtype or input.dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The norm of order ``ord`` over ``dim``."""
    nothing = float("inf") if ord == float("-inf") else 0
    filled = _filled("norm", input, mask, nothing)
    return _rows["linalg_vector_norm"](filled, ord, _dims(dim, input), bool(keepdim), dtype=dtype or input.dtype)


def _variance(op, input, dim, unbiased, correction, keepdim, dtype, mask):
    if unbiased is not None and correction is not None:
        raise AssertionError(f"{op}: give unbiased or correction, not both")
    correction = 1.0 if correction is None and unbiased is not False else float(correction or 0)
    if dtype is None:
        inexact = input.dtype.is_floating_point or input.dtype.is_complex
        dtype = input.dtype if inexact else _C.float32
    wide = dtype if dtype.is_floating_point or dtype.is_complex else _C.float32
    dims = _dims(dim, input)
    away = input - sum(input, dims, keepdim=True, dtype=dtype, mask=mask) / _count(op, input, dims, True, mask)
    total = sum(away * away.conj(), dims, keepdim=keepdim, dtype=wide, mask=mask)
    count = _count(op, input, dims, bool(keepdim), mask)
    if correction != 0:
        count = (count.to(total.real.dtype) - correction).clamp(min=0)
    return (total / count).to(dtype)


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The variance over ``dim``; the divisor is the count less ``correction``, but not below 0."""
    return _variance("var", _tensor("var", input), dim, unbiased, correction, keepdim, dtype, mask)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The root of the variance over ``dim``."""
    return _variance("std", _tensor("std", input), dim, unbiased, correction, keepdim, dtype, mask).sqrt()


def softmax(input, dim, *, dtype=None, mask=None):
    """The softmax along ``dim``; 0 where an element does not count."""
    filled = _filled("softmax", input, mask, None if mask is None else _least("softmax", input))
    return _rows["softmax"](filled, _one(dim, input), dtype=dtype or input.dtype)


def log_softmax(input, dim, *, dtype=None, mask=None):
    """The logarithm of the softmax along ``dim``."""
    filled = _filled("log_softmax", input, mask, None if mask is None else _least("log_softmax", input))
    return _rows["log_softmax"](filled, _one(dim, input), dtype=dtype or input.dtype)


def softmin(input, dim, *, dtype=None, mask=None):
    """The softmax of the negated input along ``dim``."""
    filled = _filled("softmin", input, mask, None if mask is None else _least("softmin", input, -1))
    return _rows["softmax"](-filled, _one(dim, input), dtype=dtype or input.dtype)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """The input over its norm along ``dim``, which counts as at least ``eps``."""
    filled = _filled("normalize", input, mask, 0)
    return filled / norm(input, ord, dim, keepdim=True, dtype=dtype or input.dtype, mask=mask).clamp(min=eps)

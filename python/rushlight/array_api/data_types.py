"""Data types: conversion, promotion, limits."""

import builtins

from .. import _C, _types
from .._C import Tensor
from ._arrays import INTEGERS, NUMBERS, SIGNED, UNSIGNED, array


def _dtype(op, x):
    if isinstance(x, Tensor):
        return x.dtype
    if isinstance(x, _C.dtype):
        return x
    raise TypeError(f"{op}: takes arrays and dtypes, not {type(x).__name__}")


def astype(x, dtype, /, *, copy=True, device=None):
    """``x`` in another dtype, a copy unless ``copy=False`` and nothing changes. Complex numbers stay complex."""
    if not isinstance(dtype, _C.dtype):
        raise TypeError(f"astype: takes a dtype of this namespace, not {dtype!r}")
    if array("astype", x).dtype.is_complex and not (dtype.is_complex or dtype is _C.bool):
        raise TypeError(f"astype: {x.dtype} has no {dtype} of its own; take real(x), imag(x) or abs(x)")
    return x.to(dtype=dtype, device=device or x.device, copy=copy)


def can_cast(from_, to, /):
    """Whether ``from_``, an array or a dtype, promotes to ``to``."""
    try:
        return _C.promote_types(_dtype("can_cast", from_), to) is to
    except RuntimeError:
        return False


def result_type(*arrays_and_dtypes):
    """The common dtype of arrays, dtypes and Python numbers; numbers give way to the others.

    Raises ``TypeError`` where there is none: ``uint64`` beside signed integers.
    """
    numbers = [x for x in arrays_and_dtypes if isinstance(x, NUMBERS)]
    kinds = [_dtype("result_type", x) for x in arrays_and_dtypes if not isinstance(x, NUMBERS)]
    if not kinds:
        raise ValueError("result_type: needs at least one array or dtype")
    # Floats first, beside which uint64 and signed integers have a common dtype.
    kinds.sort(key=lambda d: d in INTEGERS)
    common = kinds[0]
    try:
        for kind in kinds[1:]:
            common = _C.promote_types(common, kind)
    except RuntimeError as e:
        raise TypeError(f"result_type: {e}") from None
    for number in numbers:
        common = _C.result_type(_C._functions["empty"]((1,), dtype=common), number)
    return common


class _Limits:
    """Limits of a dtype; ``dtype`` is the dtype itself, of the parts for complex numbers."""

    _fields = ()

    def __init__(self, kind, limits):
        self.dtype = kind
        for field in self._fields:
            setattr(self, field, getattr(limits, field))

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{f}={getattr(self, f)}' for f in self._fields)}, dtype={self.dtype})"


class _Floats(_Limits):
    _fields = ("bits", "eps", "max", "min", "smallest_normal")


class _Integers(_Limits):
    _fields = ("bits", "max", "min")


def finfo(type, /):
    """Limits of a floating point dtype, or of that of an array: bits, eps, max, min, smallest_normal, dtype."""
    kind = _dtype("finfo", type)
    return _Floats(kind.to_real() if kind.is_complex else kind, _types.finfo(kind))


def iinfo(type, /):
    """Limits of an integer dtype, or of that of an array: bits, max, min, dtype."""
    kind = _dtype("iinfo", type)
    return _Integers(kind, _types.iinfo(kind))


_KINDS = {
    "bool": lambda d: d is _C.bool,
    "signed integer": lambda d: d in SIGNED,
    "unsigned integer": lambda d: d in UNSIGNED,
    "integral": lambda d: d in INTEGERS,
    "real floating": lambda d: d.is_floating_point,
    "complex floating": lambda d: d.is_complex,
    "numeric": lambda d: d is not _C.bool,
}


def isdtype(dtype, kind):
    """Whether ``dtype`` is ``kind``: a dtype, a name of the standard such as ``"integral"``, or one of a tuple of these."""
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"isdtype: there is no kind {kind!r}; there are {', '.join(_KINDS)}")
        return _KINDS[kind](dtype)
    if not isinstance(kind, _C.dtype):
        raise TypeError(f"isdtype: kind must be a dtype, a str or a tuple of them, not {type(kind).__name__}")
    return dtype is kind

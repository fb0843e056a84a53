"""What numbers a dtype can hold, and the old names of tensor types."""

from . import _C
from ._C import dtype, get_default_dtype

# Bits of the exponent and of the fraction, and the decimal digits that torch says are exact.
_FLOATS = {_C.float16: (5, 10, 3), _C.bfloat16: (8, 7, 2), _C.float32: (8, 23, 6), _C.float64: (11, 52, 15)}
_FLOATS[_C.complex64], _FLOATS[_C.complex128] = _FLOATS[_C.float32], _FLOATS[_C.float64]
_INTS = (_C.uint8, _C.int8, _C.int16, _C.int32, _C.int64, _C.uint16, _C.uint32, _C.uint64)


class _Info:
    __slots__ = ("_dtype",)

    def __init_subclass__(cls):
        cls.__module__ = "rushlight"

    @property
    def bits(self):
        """Bits of one number; of one part, for complex numbers."""
        return self._dtype.to_real().itemsize * 8 if self._dtype.is_complex else self._dtype.itemsize * 8

    @property
    def dtype(self):
        """The dtype's name."""
        real = self._dtype.to_real() if self._dtype.is_complex else self._dtype
        return str(real).removeprefix("torch.")

    def __eq__(self, other):
        return type(other) is type(self) and other._dtype is self._dtype

    def __hash__(self):
        return hash((type(self), self._dtype))


class finfo(_Info):
    """Limits of a float dtype: the default one if none is given."""

    __slots__ = ()

    def __init__(self, type=None):
        type = get_default_dtype() if type is None else type
        if not isinstance(type, dtype):
            raise TypeError(f"finfo: takes a dtype, not {type!r}")
        if type not in _FLOATS:
            raise TypeError(f"finfo: {type} is no floating point dtype; see iinfo")
        self._dtype = type

    @property
    def eps(self):
        """The distance from 1 to the next number."""
        return 2.0 ** -_FLOATS[self._dtype][1]

    @property
    def max(self):
        """The largest finite number."""
        exponent, fraction, _ = _FLOATS[self._dtype]
        return (2.0 - 2.0**-fraction) * 2.0 ** (2 ** (exponent - 1) - 1)

    @property
    def min(self):
        """The smallest finite number, which is ``-max``."""
        return -self.max

    @property
    def smallest_normal(self):
        """The smallest positive number that has all its digits."""
        return 2.0 ** (2 - 2 ** (_FLOATS[self._dtype][0] - 1))

    @property
    def tiny(self):
        """The same as ``smallest_normal``."""
        return self.smallest_normal

    @property
    def resolution(self):
        """Ten to the minus number of digits that are always exact."""
        return 10.0 ** -_FLOATS[self._dtype][2]

    def __repr__(self):
        parts = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{p}={getattr(self, p):g}' for p in parts)}, dtype={self.dtype})"


class iinfo(_Info):
    """Limits of an integer dtype."""

    __slots__ = ()

    def __init__(self, type):
        if not isinstance(type, dtype):
            raise TypeError(f"iinfo: takes a dtype, not {type!r}")
        if type not in _INTS:
            raise TypeError(f"iinfo: {type} is no integer dtype; see finfo")
        self._dtype = type

    @property
    def max(self):
        """The largest number."""
        return 2 ** (self.bits - self._dtype.is_signed) - 1

    @property
    def min(self):
        """The smallest number."""
        return -(2 ** (self.bits - 1)) if self._dtype.is_signed else 0

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


#: The old name of each dtype's tensors: ``x.type()``.
OLD_NAMES = {
    _C.float32: "Float",
    _C.float64: "Double",
    _C.float16: "Half",
    _C.bfloat16: "BFloat16",
    _C.int64: "Long",
    _C.int32: "Int",
    _C.int16: "Short",
    _C.int8: "Char",
    _C.uint8: "Byte",
    _C.uint16: "UInt16",
    _C.uint32: "UInt32",
    _C.uint64: "UInt64",
    _C.bool: "Bool",
    _C.complex64: "ComplexFloat",
    _C.complex128: "ComplexDouble",
}
OLD_TYPES = {f"torch.{name}Tensor": kind for kind, name in OLD_NAMES.items()}


def named_dtype(name):
    """The dtype of an old type's name, such as ``torch.FloatTensor``."""
    if name in ("torch.Tensor", "Tensor"):
        return get_default_dtype()
    try:
        return OLD_TYPES[name]
    except KeyError:
        raise ValueError(f"type: there is no type {name!r}; pass a dtype, such as torch.float32") from None

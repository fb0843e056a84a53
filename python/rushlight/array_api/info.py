"""What the namespace can do."""

from .. import _C
from .data_types import isdtype

_NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()


class _Info:
    """Answers about the namespace."""

    def capabilities(self):
        """Which optional parts of the standard there are."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        """The device that new arrays are on."""
        return _C.device("cpu")

    def default_dtypes(self, *, device=None):
        """The dtypes that functions choose by themselves."""
        real = _C.get_default_dtype()
        wide = _C.complex128 if real is _C.float64 else _C.complex64
        return {"real floating": real, "complex floating": wide, "integral": _C.int64, "indexing": _C.int64}

    def dtypes(self, *, device=None, kind=None):
        """The standard's dtypes by name; all, or those of a kind that ``isdtype`` knows."""
        every = {name: getattr(_C, name) for name in _NAMES}
        return {name: d for name, d in every.items() if kind is None or isdtype(d, kind)}

    def devices(self):
        """The devices that arrays can be on."""
        return (_C.device("cpu"),)


def __array_namespace_info__():
    """An object that answers what the namespace can do."""
    return _Info()

"""``FloatTensor``, ``LongTensor`` and the like: constructors of old programs, one for each dtype."""

from . import _C
from ._C import Tensor


class tensortype(type):
    """The class of these constructors: a tensor of the dtype is an instance."""

    def __instancecheck__(cls, x):
        return isinstance(x, Tensor) and x.dtype is cls.dtype and x.device.type == "cpu"

    def __call__(cls, *args, **kwargs):
        return _C._legacy_tensor(cls.dtype, args, kwargs)

    def __repr__(cls):
        return f"<class 'torch.{cls.__name__}'>"


#: The dtype that each name stands for, as ``Tensor.type()`` says it without ``torch.``.
NAMES = {
    "DoubleTensor": _C.float64,
    "FloatTensor": _C.float32,
    "HalfTensor": _C.float16,
    "BFloat16Tensor": _C.bfloat16,
    "LongTensor": _C.int64,
    "IntTensor": _C.int32,
    "ShortTensor": _C.int16,
    "CharTensor": _C.int8,
    "ByteTensor": _C.uint8,
    "BoolTensor": _C.bool,
    "ComplexFloatTensor": _C.complex64,
    "ComplexDoubleTensor": _C.complex128,
}

for _name, _dtype in NAMES.items():
    globals()[_name] = tensortype(_name, (), {"dtype": _dtype, "is_cuda": False, "__module__": "torch"})

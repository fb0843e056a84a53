"""PyTorch's tensor in a few megabytes of Rust.

``import rushlight as torch`` gives torch's tensors, views, indexing and autograd.
"""

from . import _C
from ._C import (
    Generator,
    Tensor,
    UntypedStorage,
    as_tensor,
    asarray,
    default_generator,
    device,
    dtype,
    from_dlpack,
    from_numpy,
    frombuffer,
    is_grad_enabled,
    is_inference_mode_enabled,
    memory_format,
    tensor,
    to_dlpack,
)
from ._size import Size

for _name in ("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128", "contiguous_format", "preserve_format", "channels_last", "channels_last_3d"):
    globals()[_name] = getattr(_C, _name)
half, float, double, short, int, long, cfloat, cdouble = float16, float32, float64, int16, int32, int64, complex64, complex128  # noqa: F821

globals().update({k: v for k, v in _C._functions.items()})

from . import _tensor, autograd, return_types, storage, utils  # noqa: E402
from ._legacy import (  # noqa: E402
    BFloat16Tensor, BoolTensor, ByteTensor, CharTensor, ComplexDoubleTensor, ComplexFloatTensor, DoubleTensor,
    FloatTensor, HalfTensor, IntTensor, LongTensor, ShortTensor,
)
from .storage import (  # noqa: E402
    BFloat16Storage, BoolStorage, ByteStorage, CharStorage, ComplexDoubleStorage, ComplexFloatStorage,
    DoubleStorage, FloatStorage, HalfStorage, IntStorage, LongStorage, ShortStorage, TypedStorage,
)
from .autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: E402
from ._pointwise import pointwise  # noqa: E402
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled  # noqa: E402
from .random import get_rng_state, initial_seed, manual_seed, seed, set_rng_state  # noqa: E402
from . import trace  # noqa: E402  (a module that can be called as torch's function)

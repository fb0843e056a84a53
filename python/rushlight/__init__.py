"""PyTorch's tensor in a few megabytes of Rust.

``import rushlight as torch`` gives torch's tensors, views, indexing and autograd.
"""

import importlib.util  # noqa: F401  (programs count on torch having imported it)

from . import _C
from ._C import (
    Generator,
    Tensor,
    UntypedStorage,
    as_tensor,
    asarray,
    can_cast,
    default_generator,
    device,
    dtype,
    from_dlpack,
    from_numpy,
    frombuffer,
    get_default_dtype,
    get_num_threads,
    is_grad_enabled,
    is_inference_mode_enabled,
    memory_format,
    promote_types,
    result_type,
    set_num_threads,
    tensor,
    to_dlpack,
)
from ._size import Size

for _name in ("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128", "contiguous_format", "preserve_format", "channels_last", "channels_last_3d"):
    globals()[_name] = getattr(_C, _name)
half, float, double, short, int, long, cfloat, cdouble = float16, float32, float64, int16, int32, int64, complex64, complex128  # noqa: F821

# The op table's functions, then those that call rows in other ways.
from . import _surface  # noqa: E402

_surface.arrange_methods()
globals().update(_surface.functions())

from . import _functions, _linear, _methods, _reductions, _tensor, autograd, return_types, storage, utils  # noqa: E402

globals().update(_functions.FUNCTIONS)

from ._legacy import (  # noqa: E402
    BFloat16Tensor, BoolTensor, ByteTensor, CharTensor, DoubleTensor,
    FloatTensor, HalfTensor, IntTensor, LongTensor, ShortTensor,
)
from .storage import (  # noqa: E402
    BFloat16Storage, BoolStorage, ByteStorage, CharStorage, ComplexDoubleStorage, ComplexFloatStorage,
    DoubleStorage, FloatStorage, HalfStorage, IntStorage, LongStorage, ShortStorage, TypedStorage,
)
from ._methods import layout_type as layout  # noqa: E402
from ._methods import sparse_coo, sparse_csr, strided  # noqa: E402
from ._types import finfo, iinfo  # noqa: E402
from .autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: E402
from ._pointwise import pointwise  # noqa: E402
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled  # noqa: E402
from .random import get_rng_state, initial_seed, manual_seed, seed, set_rng_state  # noqa: E402
from . import trace  # noqa: E402  (a module that can be called as torch's function)

e, pi, inf, nan, newaxis = 2.718281828459045, 3.141592653589793, 1e999, 1e999 - 1e999, None


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """How tensors are shown from now on; ``profile`` is ``"default"``, ``"short"`` or ``"full"``."""
    from . import _printing

    _printing.set_options(precision, threshold, edgeitems, linewidth, profile, sci_mode)


# Programs ask torch's extension for these.
_C._log_api_usage_once = lambda *names: None
_C._is_tracing = lambda: False

#: Modules that are imported when first asked for.
_LAZY = frozenset(
    """accelerator amp array_api backends compiler cpu cuda distributed distributions fft func futures hub jit linalg masked
    multiprocessing nn optim overrides profiler safetensors serialization signal special types version""".split()
)
#: Names of modules that are imported when first asked for.
_ELSEWHERE = {
    **dict.fromkeys(
        """autocast is_autocast_enabled set_autocast_enabled get_autocast_dtype set_autocast_dtype
        is_autocast_cache_enabled set_autocast_cache_enabled clear_autocast_cache""".split(),
        "amp.autocast_mode",
    ),
    "Future": "futures",
    "load": "serialization",
    "save": "serialization",
    "vmap": "func",
}


def __getattr__(name):
    if name in _LAZY:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    if name in _ELSEWHERE:
        import importlib

        return getattr(importlib.import_module(f"{__name__}.{_ELSEWHERE[name]}"), name)
    if name == "__version__":
        from .version import __version__

        return __version__
    if name == "fx":
        raise AttributeError("rushlight has no fx: programs are not traced into graphs that could be rewritten")
    raise AttributeError(f"rushlight has no {name!r}; docs/coverage.md lists what there is of torch")


def __dir__():
    return sorted({*globals(), *_LAZY, *_ELSEWHERE})


def as_torch():
    """From now on in this process, ``import torch`` and its submodules give rushlight."""
    from ._as_torch import install

    install()


def _meet_einops():
    import sys

    if "einops._backends" in sys.modules:
        from .utils import einops  # noqa: F401  (its class is found by being there)


_meet_einops()

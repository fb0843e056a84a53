"""Flags of libraries that torch may use. They are kept, and change nothing."""

import sys as _sys
from types import ModuleType as _Module


class _Flags(_Module):
    """A module of flags."""

    def __init__(self, name, available=False, **flags):
        super().__init__(f"{__name__}.{name}")
        self.__doc__ = f"Flags of {name}."
        self.__dict__.update(flags)
        self.is_available = lambda: available
        self.is_built = lambda: available
        _sys.modules[self.__name__] = self


cudnn = _Flags("cudnn", enabled=False, benchmark=False, deterministic=False, allow_tf32=True, benchmark_limit=10)
cudnn.version = lambda: None
mps = _Flags("mps")
mkl = _Flags("mkl")
mkldnn = _Flags("mkldnn", enabled=False)
openmp = _Flags("openmp")
cuda = _Flags("cuda")
cuda.matmul = _Flags("cuda.matmul", allow_tf32=False, allow_fp16_reduced_precision_reduction=True)
cuda.enable_flash_sdp = cuda.enable_mem_efficient_sdp = cuda.enable_math_sdp = lambda enabled: None
cuda.flash_sdp_enabled = cuda.mem_efficient_sdp_enabled = lambda: False
cuda.math_sdp_enabled = lambda: True
cpu = _Flags("cpu", available=True)
cpu.get_cpu_capability = lambda: "DEFAULT"

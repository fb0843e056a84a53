"""Flags of libraries that torch may use. They are kept, and change nothing."""

import sys as _sys
from contextlib import contextmanager as _contextmanager
from types import ModuleType as _Module


class _Flags(_Module):
    """A module of flags."""

    def __init__(self, name, available=False, **flags):
        super().__init__(f"{__name__}.{name}")
        self.__doc__ = f"Flags of {name}."
        self.__dict__.update(flags)
        self.is_available = lambda: available
        self.is_built = lambda: available
        self.flags = self._kept
        _sys.modules[self.__name__] = self

    @_contextmanager
    def _kept(self, **flags):
        """Sets flags for the block."""
        before = {name: self.__dict__.get(name) for name in flags}
        self.__dict__.update(flags)
        try:
            yield
        finally:
            self.__dict__.update(before)


cudnn = _Flags("cudnn", enabled=False, benchmark=False, deterministic=False, allow_tf32=True, benchmark_limit=10)
cudnn.version = lambda: None
cudnn.is_acceptable = lambda tensor: False
mps = _Flags("mps")
mkl = _Flags("mkl")
mkldnn = _Flags("mkldnn", enabled=False)
openmp = _Flags("openmp")
opt_einsum = _Flags("opt_einsum", enabled=False, strategy=None)
nnpack = _Flags("nnpack")
mkldnn.verbose = mkl.verbose = lambda *args, **kwargs: mkldnn.flags()
cuda = _Flags("cuda")
cuda.preferred_linalg_library = lambda backend=None: None
cuda.matmul = _Flags("cuda.matmul", allow_tf32=False, allow_fp16_reduced_precision_reduction=True)
cuda.enable_flash_sdp = cuda.enable_mem_efficient_sdp = cuda.enable_math_sdp = lambda enabled: None
cuda.enable_cudnn_sdp = cuda.enable_flash_sdp
cuda.sdp_kernel = lambda *args, **kwargs: cuda.flags()
cuda.cudnn_sdp_enabled = cuda.flash_sdp_enabled = cuda.mem_efficient_sdp_enabled = lambda: False
cuda.math_sdp_enabled = lambda: True
cpu = _Flags("cpu", available=True)
cpu.get_cpu_capability = lambda: "DEFAULT"

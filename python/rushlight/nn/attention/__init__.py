"""Which kernel attention takes: there is one here, so choices are accepted and change nothing."""

import contextlib
from enum import IntEnum

__all__ = ["SDPBackend", "sdpa_kernel", "WARN_FOR_UNFUSED_KERNELS"]

#: Whether to warn where no fused kernel is taken.
WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(IntEnum):
    """torch's kernels of attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Inside the block these kernels are meant; results are the same.

    AssertionError: something else than an ``SDPBackend``, or several of them.
    """
    chosen = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if not all(isinstance(backend, SDPBackend) for backend in chosen):
        raise AssertionError(f"sdpa_kernel: takes SDPBackend, or several, not {backends!r}")
    yield {}

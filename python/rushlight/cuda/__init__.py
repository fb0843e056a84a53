"""CUDA, of which there is none: what scripts ask before they choose the CPU."""



def is_available():
    """False."""
    return False


def is_initialized():
    """False."""
    return False


def is_bf16_supported(including_emulation=True):
    """False."""
    return False


def device_count():
    """0."""
    return 0


def manual_seed(seed):
    """Nothing to seed."""


def manual_seed_all(seed):
    """Nothing to seed."""


def empty_cache():
    """Nothing to free."""


def _absent(name):
    def ask(*args, **kwargs):
        raise RuntimeError(f"cuda.{name}: there is no CUDA device here; see cuda.is_available()")

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = "Fails: there is no CUDA device."
    return ask


for _name in """Event ExternalStream Stream CUDAGraph current_blas_handle current_device current_stream default_stream
    get_device_capability get_device_name get_device_properties get_rng_state graph init mem_get_info set_device
    set_rng_state set_stream synchronize utilization""".split():
    globals()[_name] = _absent(_name)


def _zero(name):
    def ask(*args, **kwargs):
        return 0

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = "0: there is no memory of a CUDA device."
    return ask


for _name in """max_memory_allocated max_memory_cached max_memory_reserved memory_allocated memory_cached
    memory_reserved""".split():
    globals()[_name] = _zero(_name)


def memory_stats(device=None):
    """Nothing to count."""
    return {}


def memory_summary(device=None, abbreviated=False):
    """No memory to tell of."""
    return ""


def reset_peak_memory_stats(device=None):
    """Nothing to count."""


reset_max_memory_allocated = reset_max_memory_cached = reset_accumulated_memory_stats = reset_peak_memory_stats


def ipc_collect():
    """Nothing to free."""


def seed():
    """Nothing to seed."""


seed_all = seed


def get_arch_list():
    """None."""
    return []


def is_current_stream_capturing():
    """False."""
    return False


def can_device_access_peer(device, peer_device):
    """False."""
    return False


class device:
    """A block on another device; without a number, or with a negative one, nothing changes."""

    def __init__(self, device):
        if device is not None and not (isinstance(device, int) and device < 0):
            raise RuntimeError(f"cuda.device: there is no CUDA device {device!r} here; see cuda.is_available()")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False


def stream(stream=None):
    """A block in which nothing changes, for ``None``; there are no streams."""
    if stream is not None:
        raise RuntimeError("cuda.stream: there is no CUDA device here; see cuda.is_available()")
    return device(None)


_initialized = False


class OutOfMemoryError(RuntimeError):
    """A device has no memory left; only for ``except`` clauses here."""


def __getattr__(name):
    if name in ("amp", "memory", "nvtx", "random"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    if name.endswith("Tensor"):
        raise AttributeError(f"cuda.{name}: there is no CUDA device here; see cuda.is_available()")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

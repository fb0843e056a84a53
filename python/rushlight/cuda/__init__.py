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


for _name in """current_device current_stream get_device_capability get_device_name get_device_properties init
    max_memory_allocated mem_get_info memory_allocated memory_reserved reset_peak_memory_stats set_device
    synchronize""".split():
    globals()[_name] = _absent(_name)


class OutOfMemoryError(RuntimeError):
    """A device has no memory left; only for ``except`` clauses here."""



"""The CPU as a device."""


def is_available():
    """True."""
    return True


def device_count():
    """1."""
    return 1


def current_device():
    """Its name."""
    return "cpu"


def synchronize(device=None):
    """Nothing to wait for: ops are done when they return."""


def __getattr__(name):
    if name == "amp":
        import importlib

        return importlib.import_module(f"{__name__}.amp")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Accelerators, of which there is none."""


def is_available():
    """False."""
    return False


def device_count():
    """0."""
    return 0


def current_accelerator(check_available=False):
    """None."""
    return None


def synchronize(device=None):
    """Nothing to wait for."""

"""The compiler, of which there is none: functions run as they are."""


def is_compiling():
    """False."""
    return False


def is_dynamo_compiling():
    """False."""
    return False


def is_exporting():
    """False."""
    return False


def compile(*args, **kwargs):
    """The function itself."""
    from . import compile as same

    return same(*args, **kwargs)


def disable(fn=None, recursive=True, *, reason=None):
    """The function itself."""
    return (lambda f: f) if fn is None else fn


def allow_in_graph(fn):
    """The function itself."""
    return fn


def assume_constant_result(fn):
    """The function itself."""
    return fn


def reset():
    """Nothing is kept."""


def cudagraph_mark_step_begin():
    """There are no graphs of devices."""


def list_backends(exclude_tags=("debug", "experimental")):
    """None."""
    return []

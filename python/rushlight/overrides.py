"""Objects that answer for tensors: ``__torch_function__`` is asked by no op here."""

from ._C import Tensor


def has_torch_function(relevant_args):
    """False: no op hands a call over."""
    return False


def has_torch_function_unary(obj):
    """False."""
    return False


def has_torch_function_variadic(*args):
    """False."""
    return False


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """TypeError: no op hands a call over."""
    raise TypeError(f"{getattr(public_api, '__name__', public_api)}: rushlight's ops do not ask __torch_function__")


def is_tensor_like(inp):
    """Whether it is a tensor, or has ``__torch_function__``."""
    return isinstance(inp, Tensor) or hasattr(type(inp), "__torch_function__")


def get_ignored_functions():
    """All of them; see the head of this module."""
    return set()


def get_overridable_functions():
    """None."""
    return {}


def resolve_name(f):
    """The name of a function."""
    return getattr(f, "__qualname__", None)


def wrap_torch_function(dispatcher):
    """The function itself."""
    return lambda function: function


def enable_reentrant_dispatch():
    """A block in which nothing changes."""
    from contextlib import nullcontext

    return nullcontext()

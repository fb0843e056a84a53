"""What compiles in torch: accepted, and the function or module itself, with one note that says so."""

from contextlib import contextmanager
from functools import cache
from typing import Any, Final

from .._notes import note

__all__ = """Attribute Final ScriptFunction ScriptModule annotate export fork freeze ignore is_scripting is_tracing
    isinstance load optimize_for_inference optimized_execution save script script_method trace trace_module
    unused wait""".split()

_SAME = "rushlight compiles nothing: jit.{} gives the function or module itself, which runs as it is"


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """The function, class or module itself."""
    note(_SAME.format("script"))
    return obj


def trace(func=None, example_inputs=None, *args, **kwargs):
    """The function or module itself; it is not run."""
    note(_SAME.format("trace"))
    return (lambda f: f) if func is None else func


def trace_module(mod, inputs, *args, **kwargs):
    """The module itself; it is not run."""
    note(_SAME.format("trace_module"))
    return mod


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """The module itself."""
    note(_SAME.format("freeze"))
    return mod


def optimize_for_inference(mod, other_methods=None):
    """The module itself."""
    note(_SAME.format("optimize_for_inference"))
    return mod


def script_method(fn):
    """The method itself."""
    return fn


def script_if_tracing(fn):
    """The function itself."""
    return fn


def export(fn):
    """The method itself."""
    return fn


def ignore(drop=False, **kwargs):
    """The function itself; also with arguments, as ``ignore(drop=True)``."""
    return drop if callable(drop) else lambda fn: fn


def unused(fn):
    """The function itself."""
    return fn


def interface(obj):
    """The class itself."""
    return obj


def is_scripting():
    """False: code runs as Python."""
    return False


def is_tracing():
    """False: code runs as Python."""
    return False


def annotate(the_type, the_value):
    """The value; the type is for readers."""
    return the_value


def isinstance(obj, target_type):
    """Python's, for types without parameters; a parametrised one counts as its class."""
    import builtins
    from typing import get_args, get_origin

    if builtins.isinstance(target_type, tuple):
        return any(isinstance(obj, t) for t in target_type)
    origin = get_origin(target_type)
    if origin is None:
        return target_type is Any or builtins.isinstance(obj, target_type)
    if builtins.isinstance(origin, type):
        return builtins.isinstance(obj, origin)
    return any(isinstance(obj, t) for t in get_args(target_type))


def fork(func, *args, **kwargs):
    """Runs the function at once; ``wait`` gives its result."""
    return func(*args, **kwargs)


def wait(future):
    """The result of ``fork``."""
    return future


@contextmanager
def optimized_execution(should_optimize):
    """Nothing changes in its block."""
    yield


def set_fusion_strategy(strategy):
    """Nothing changes."""
    return strategy


def Attribute(value, type):
    """The value."""
    return value


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """RuntimeError: files of TorchScript hold programs of another kind, which nothing here runs."""
    raise RuntimeError("jit.load: rushlight does not run TorchScript; save the state_dict and load that")


def save(m, f, _extra_files=None):
    """RuntimeError: there is nothing compiled to save."""
    raise RuntimeError("jit.save: rushlight compiles nothing; save the module's state_dict()")


class ScriptFunction:
    """What ``script`` gives for functions in torch; nothing here is one."""


class RecursiveScriptModule:
    """What ``script`` gives for modules in torch; nothing here is one."""


class Error(RuntimeError):
    """An error of compiled code; for ``except`` clauses."""


@cache
def _script_module():
    from ..nn import Module

    def original_name(self):
        """The name of the class."""
        return type(self).__name__

    about = "A module whose methods torch would compile: a module like others."
    names = {"__doc__": about, "__module__": __name__, "original_name": property(original_name)}
    return type("ScriptModule", (Module,), names)


def __getattr__(name):
    if name == "ScriptModule":
        return _script_module()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

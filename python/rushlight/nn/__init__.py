"""Parameters, layers, losses and functions of neural networks."""

from . import _reduction, functional, init, modules, parameter, utils
from .modules import *  # noqa: F403
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from .parallel import DataParallel

#: Imported when first asked for.
_LAZY = ("attention", "common_types", "grad", "parallel")


def factory_kwargs(kwargs):
    """The ``device``, ``dtype`` and ``memory_format`` among keywords, those in ``kwargs["factory_kwargs"]`` too.

    TypeError: other keywords, or one in both places.
    """
    if kwargs is None:
        return {}
    names = {"device", "dtype", "memory_format"}
    extra = kwargs.keys() - names - {"factory_kwargs"}
    if extra:
        raise TypeError(f"factory_kwargs: unexpected {', '.join(sorted(extra))}")
    inner = dict(kwargs.get("factory_kwargs", {}))
    both = inner.keys() & kwargs.keys()
    if both or inner.keys() - names:
        raise TypeError(f"factory_kwargs: {', '.join(sorted(both or inner.keys() - names))} given twice, or unknown")
    return {**inner, **{k: v for k, v in kwargs.items() if k in names}}


def __getattr__(name):
    if name in _LAZY:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    if name == "LinearCrossEntropyOptions":
        # A dataclass, whose module is slow to import.
        from .modules.linear_cross_entropy_options import LinearCrossEntropyOptions

        return LinearCrossEntropyOptions
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; docs/coverage.md lists what there is of torch")

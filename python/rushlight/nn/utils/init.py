"""Modules whose values nobody has set yet."""

import inspect


def skip_init(module_cls, *args, **kwargs):
    """A module with any values in its parameters and buffers: it is built on the meta device and moved, so nothing is drawn.

    RuntimeError: no class of modules, or one that takes no ``device``.
    """
    from ..modules.module import Module

    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"skip_init: takes a class of modules, not {module_cls!r}")
    parameters = inspect.signature(module_cls).parameters
    if "device" not in parameters and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        raise RuntimeError(f"skip_init: {module_cls.__name__} takes no device, so it cannot be built on the meta device")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=device)

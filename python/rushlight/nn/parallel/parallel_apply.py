"""Several modules, each on its own arguments."""

__all__ = ["parallel_apply"]


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """The results of each module on its inputs (a tuple, or one thing), as a list; one after another."""
    if len(modules) != len(inputs) or kwargs_tup is not None and len(kwargs_tup) != len(modules):
        raise AssertionError(f"parallel_apply: {len(modules)} modules, but {len(inputs)} inputs")
    kwargs_tup = kwargs_tup or [{}] * len(modules)
    return [m(*(x if isinstance(x, (tuple, list)) else (x,)), **kw) for m, x, kw in zip(modules, inputs, kwargs_tup)]

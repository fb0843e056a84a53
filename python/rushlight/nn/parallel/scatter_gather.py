"""Batches cut into parts for several devices, and put together again."""

from ..._C import Tensor, _functions

__all__ = ["scatter", "scatter_kwargs", "gather"]


def is_namedtuple(obj):
    """Whether an object is a named tuple."""
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def scatter(inputs, target_gpus, dim=0):
    """Tensors cut along ``dim``, one part for each device, within tuples, lists and dicts; all else goes to each."""
    count = len(target_gpus)

    def parts(x):
        if isinstance(x, Tensor):
            return [t.to(d) for t, d in zip(x.chunk(count, dim), target_gpus)]
        if is_namedtuple(x):
            return [type(x)(*group) for group in zip(*map(parts, x))]
        if isinstance(x, (tuple, list)) and len(x):
            return [type(x)(group) for group in zip(*map(parts, x))]
        if isinstance(x, dict) and len(x):
            return [type(x)(zip(x, group)) for group in zip(*map(parts, x.values()))]
        return [x] * count

    return parts(inputs)


def scatter_kwargs(inputs, kwargs, target_gpus, dim=0):
    """Arguments and keywords for each device, as two tuples of one length."""
    inputs = list(scatter(inputs, target_gpus, dim)) if inputs else []
    kwargs = list(scatter(kwargs, target_gpus, dim)) if kwargs else []
    inputs += [()] * (len(kwargs) - len(inputs))
    kwargs += [{}] * (len(inputs) - len(kwargs))
    return tuple(inputs), tuple(kwargs)


def gather(outputs, target_device, dim=0):
    """The results of several devices as one, along ``dim``; numbers become elements of a vector."""
    first = outputs[0]
    if isinstance(first, Tensor):
        parts = [t.to(target_device) for t in outputs]
        if all(t.ndim == 0 for t in parts) and dim == 0:
            return _functions["stack"](parts)
        return _functions["cat"](parts, dim)
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(first) != len(d) for d in outputs):
            raise ValueError("gather: the dicts must have the same keys")
        return type(first)((k, gather([d[k] for d in outputs], target_device, dim)) for k in first)
    joined = [gather(group, target_device, dim) for group in zip(*outputs)]
    return type(first)(*joined) if is_namedtuple(first) else type(first)(joined)

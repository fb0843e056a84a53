"""How tensors are copied and pickled, and rebuilt."""

from . import _C
from ._C import Tensor
from .storage import TypedStorage


def _rebuild_tensor(storage, storage_offset, size, stride):
    return _C._from_storage(storage._untyped_storage, storage_offset, list(size), list(stride), storage.dtype)


def _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
    if requires_grad:
        tensor.requires_grad_(True)
    return tensor


def _rebuild_parameter(data, requires_grad, backward_hooks):
    from .nn import Parameter

    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    parameter = _rebuild_parameter(data, requires_grad, backward_hooks)
    _set_state(parameter, state)
    return parameter


def _rebuild_from_type_v2(func, new_type, args, state):
    """The tensor that ``func`` makes, as an object of ``new_type``."""
    tensor = func(*args)
    if type(tensor) is not new_type:
        tensor = Tensor._make_subclass(new_type, tensor, tensor.requires_grad)
    if state:
        tensor.__setstate__(state)
    return tensor


def _set_state(tensor, state):
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    tensor.__dict__.update(attributes or {})
    for name, value in (slots or {}).items():
        setattr(tensor, name, value)


def _state(tensor):
    """The attributes that a program set on a tensor."""
    attributes = dict(tensor.__dict__)
    slots = {}
    for cls in type(tensor).__mro__:
        names = cls.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name not in ("__dict__", "__weakref__") and hasattr(tensor, name):
                slots[name] = getattr(tensor, name)
    return (attributes, slots) if slots else attributes


def reduce(tensor, protocol):
    """What pickle and copy need: the whole storage, once for all tensors that share it."""
    storage = TypedStorage(wrap_storage=tensor.untyped_storage(), dtype=tensor.dtype)
    args = (storage, tensor.storage_offset(), tuple(tensor.size()), tensor.stride(), tensor.requires_grad, {})
    made = _rebuild_tensor_v2, args
    if type(tensor) is not Tensor:
        made = _rebuild_from_type_v2, (_rebuild_tensor_v2, type(tensor), args, None)
    state = _state(tensor)
    # Attributes come last, when the tensor is known: one of them may lead back to it.
    return (*made, state) if state else made


def deepcopy(tensor, memo):
    """A copy with a copy of the whole storage, which copies of other tensors in ``memo`` share."""
    import copy

    if not tensor.is_leaf:
        raise RuntimeError(
            "deepcopy: only tensors that a program made itself, the leaves of a graph, can be copied; this one "
            "was computed, so use clone() or detach() first"
        )
    if id(tensor) in memo:
        return memo[id(tensor)]
    storage = copy.deepcopy(tensor.untyped_storage(), memo)
    plain = _C._from_storage(storage, tensor.storage_offset(), list(tensor.size()), list(tensor.stride()), tensor.dtype)
    if type(tensor) is Tensor:
        new = plain.requires_grad_(tensor.requires_grad)
    else:
        new = Tensor._make_subclass(type(tensor), plain, tensor.requires_grad)
    memo[id(tensor)] = new
    if tensor.requires_grad and tensor.grad is not None:
        new.grad = copy.deepcopy(tensor.grad, memo)
    _set_state(new, copy.deepcopy(_state(tensor), memo))
    return new


def set_state(tensor, state):
    """``__setstate__``: attributes, or what old pickles hold: storage, offset, size and stride."""
    if isinstance(state, tuple) and len(state) in (4, 5) and hasattr(state[0], "data_ptr"):
        tensor.set_(*state[:4])
        if len(state) == 5:
            tensor.requires_grad_(bool(state[4]))
    else:
        _set_state(tensor, state)

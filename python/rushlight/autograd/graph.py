"""The graph itself: its steps, what they save, hooks over several gradients."""

from .. import _C
from .._C import Node, Tensor



def increment_version(tensor):
    """Counts an in-place write to a tensor (or several), for writes that rushlight cannot see."""
    for t in [tensor] if isinstance(tensor, Tensor) else tensor:
        if t.is_inference():
            raise RuntimeError("increment_version: an inference tensor has no version")
        _C._increment_version(t)


_DISABLED = []


class saved_tensors_hooks:
    """Inside the block, what ops save goes through ``pack_hook(tensor)``, and back through ``unpack_hook``."""

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        if _DISABLED:
            raise RuntimeError(_DISABLED[-1])
        _C._push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exc):
        _C._pop_saved_tensors_hooks()


class disable_saved_tensors_hooks:
    """Inside the block, using ``saved_tensors_hooks`` is a RuntimeError with this message."""

    def __init__(self, error_message):
        self.error_message = error_message

    def __enter__(self):
        _DISABLED.append(self.error_message)

    def __exit__(self, *exc):
        _DISABLED.pop()


class save_on_cpu(saved_tensors_hooks):
    """What ops save lives on the CPU until backward needs it."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda t: (t.device, t.cpu()), lambda kept: kept[1].to(kept[0]))


class allow_mutation_on_saved_tensors:
    """Inside the block, ops save copies, so that what they read may be changed in place afterwards."""

    def __init__(self):
        self._hooks = saved_tensors_hooks(lambda t: t.clone(), lambda t: t)

    def __enter__(self):
        self._hooks.__enter__()
        return self

    def __exit__(self, *exc):
        self._hooks.__exit__(*exc)

    def clear(self):
        """Nothing is kept beside the copies."""


class _Handles:
    def __init__(self, handles):
        self.handles = tuple(handles)

    def remove(self):
        for h in self.handles:
            h.remove()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Calls ``fn`` with the list of gradients once a backward has brought them all, or, with
    ``mode="any"``, with the first that arrives."""
    if mode not in ("all", "any"):
        raise ValueError(f'register_multi_grad_hook: mode is "all" or "any", not {mode!r}')
    import threading

    tensors, lock, seen = tuple(tensors), threading.Lock(), {}

    def arrived(k, grad):
        run = _C._current_run()
        with lock:
            if seen.get("run") != run:
                seen.clear()
                seen.update(run=run, grads=[None] * len(tensors), count=0)
            seen["count"] += 1
            if mode == "any":
                ready = seen["count"] == 1
                result = grad
            else:
                seen["grads"][k] = grad
                ready = seen["count"] == len(tensors)
                result = list(seen["grads"])
            if ready and mode == "all":
                seen.clear()
        if ready:
            fn(result)

    return _Handles(t.register_hook(lambda g, k=k: arrived(k, g)) for k, t in enumerate(tensors))


__all__ = [
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]

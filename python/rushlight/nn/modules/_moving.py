"""How a module moves to other devices and dtypes: methods of ``Module``."""

import warnings

from ... import _C
from ...autograd import no_grad
from ..parameter import Parameter, is_lazy
from .utils import _parse_to


def _apply(self, fn, recurse=True):
    """Replaces every parameter, gradient and buffer by what ``fn`` gives for it; parameters stay the same objects."""
    if recurse:
        for child in self.children():
            child._apply(fn)
    for name, parameter in self._parameters.items():
        if parameter is None:
            continue
        with no_grad():
            moved = fn(parameter)
        grad = parameter.grad
        if is_lazy(parameter) or moved.device.type == parameter.device.type:
            parameter.data = moved
            kept = parameter
        else:
            kept = Parameter(moved, parameter.requires_grad)
            self._parameters[name] = kept
        if grad is not None:
            with no_grad():
                kept.grad = None
                kept.grad = fn(grad).requires_grad_(grad.requires_grad)
    for name, buffer in self._buffers.items():
        if buffer is not None:
            self._buffers[name] = fn(buffer)
    return self


def to(self, *args, **kwargs):
    """``to(device, dtype, non_blocking)``, ``to(dtype)``, ``to(tensor)`` or ``to(memory_format=..)``, in place.

    A dtype must be one of floats or complex numbers; whole numbers keep theirs.
    """
    device, dtype, non_blocking, memory_format = _parse_to("to", args, kwargs)
    if dtype is not None:
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"to: a module takes dtypes of floats or complex numbers, not {dtype}")
        if dtype.is_complex:
            warnings.warn("to: complex modules are new; some layers do not take them", stacklevel=2)

    def convert(t):
        kind = dtype if t.is_floating_point() or t.is_complex() else None
        if memory_format is not None and not is_lazy(t) and t.ndim in (4, 5):
            return t.to(device, kind, non_blocking, memory_format=memory_format)
        if device is None:
            return t if kind is None else t.to(kind)
        return t.to(device, kind, non_blocking)

    return self._apply(convert)


def cpu(self):
    """Moves everything to the CPU."""
    return self._apply(lambda t: t.cpu())


def cuda(self, device=None):
    """Fails unless the module has nothing to move: there is no CUDA here."""
    return self._apply(lambda t: t.cuda(device))


def _elsewhere(self, kind, device):
    return self._apply(lambda t: t.to(kind if device is None else f"{kind}:{device}" if isinstance(device, int) else device))


def xpu(self, device=None):
    """Fails unless the module has nothing to move: there is no such device here."""
    return self._elsewhere("xpu", device)


def ipu(self, device=None):
    """Fails unless the module has nothing to move: there is no such device here."""
    return self._elsewhere("ipu", device)


def mtia(self, device=None):
    """Fails unless the module has nothing to move: there is no such device here."""
    return self._elsewhere("mtia", device)


def type(self, dst_type):
    """Converts every parameter and buffer, whole numbers too."""
    return self._apply(lambda t: t.type(dst_type))


def _floats(self, dtype):
    return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)


def float(self):
    """Floats become float32."""
    return self._floats(_C.float32)


def double(self):
    """Floats become float64."""
    return self._floats(_C.float64)


def half(self):
    """Floats become float16."""
    return self._floats(_C.float16)


def bfloat16(self):
    """Floats become bfloat16."""
    return self._floats(_C.bfloat16)


def to_empty(self, *, device, recurse=True):
    """Moves to a device without copying: the values are any."""
    from ... import empty_like

    return self._apply(lambda t: empty_like(t, device=device), recurse=recurse)


def share_memory(self):
    """The module itself; threads share all memory, and processes inherit it."""
    return self._apply(lambda t: t.share_memory_())

"""``GradScaler``: multiplies losses so that gradients in halves do not vanish, and steps only where they are finite."""

import warnings
from collections import defaultdict
from enum import Enum

from .. import _C
from ..autograd.grad_mode import no_grad

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """How far an optimiser is in this iteration."""

    READY, UNSCALED, STEPPED = 0, 1, 2


def _fresh():
    return {"stage": OptState.READY, "found_inf": None}


class GradScaler:
    """``scale`` the loss, run backward, ``step`` the optimiser through it, then ``update``.

    The scale shrinks by ``backoff_factor`` when a gradient was not finite, in which case the step is
    left out, and grows by ``growth_factor`` after ``growth_interval`` steps without that. On a device
    that there is none of (the default, CUDA) it does nothing, as it does with ``enabled=False``.
    """

    def __init__(self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        self._device, self._enabled = device, enabled
        if enabled and device != "cpu":
            warnings.warn(f"GradScaler: there is no {device} here, so it does nothing; device='cpu' scales", UserWarning, stacklevel=2)
            self._enabled = False
        if self._enabled:
            if growth_factor <= 1.0:
                raise AssertionError(f"The growth factor must be > 1.0, not {growth_factor}")
            if backoff_factor >= 1.0:
                raise AssertionError(f"The backoff factor must be < 1.0, not {backoff_factor}")
        self._init_scale, self._scale = init_scale, None
        self._growth_factor, self._backoff_factor, self._growth_interval = growth_factor, backoff_factor, growth_interval
        self._init_growth_tracker, self._growth_tracker = 0, None
        self._per_optimizer_states = defaultdict(_fresh)

    def _begin(self):
        self._scale = _C.tensor(self._init_scale, dtype=_C.float32)
        self._growth_tracker = _C.tensor(self._init_growth_tracker, dtype=_C.int32)

    def _check(self, what):
        if self._scale is None:
            raise AssertionError(f"Attempted {what} but _scale is None. Call scale(loss) before, in each iteration")

    def scale(self, outputs):
        """The tensor, or each of several, times the scale."""
        if not self._enabled:
            return outputs
        if self._scale is None:
            self._begin()
        if isinstance(outputs, _C.Tensor):
            return outputs * self._scale
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(self.scale(o) for o in outputs)
        try:
            return [self.scale(o) for o in outputs]
        except TypeError:
            raise ValueError("outputs must be a Tensor or an iterable of Tensors") from None

    @no_grad()
    def _unscale_grads_(self, optimizer, inverse, found_inf, allow_fp16):
        finite = True
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if not allow_fp16 and p.grad.dtype is _C.float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                finite = finite and bool(_C._functions["isfinite"](p.grad).all())
                p.grad.mul_(inverse)
        return {"cpu": _C.tensor(0.0 if finite else 1.0)}

    def unscale_(self, optimizer):
        """Divides the gradients by the scale: before they are clipped, say. Once in an iteration."""
        if not self._enabled:
            return
        self._check("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = 1.0 / self._scale.item()
        state["found_inf"] = self._unscale_grads_(optimizer, inverse, None, False)
        state["stage"] = OptState.UNSCALED

    def step(self, optimizer, *args, **kwargs):
        """The optimiser's step, after ``unscale_`` if that was not called, unless a gradient is not finite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        result = None
        if not sum(v.item() for v in state["found_inf"].values()):
            result = optimizer.step(*args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale=None):
        """Adjusts the scale, or sets it; at the end of each iteration."""
        if not self._enabled:
            return
        self._check("update")
        if new_scale is not None:
            value = new_scale.item() if isinstance(new_scale, _C.Tensor) else float(new_scale)
            self._scale.fill_(value)
        else:
            found = [s["found_inf"] for s in self._per_optimizer_states.values() if s["found_inf"] is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(v.item() for f in found for v in f.values()):
                self._scale.mul_(self._backoff_factor)
                self._growth_tracker.zero_()
            else:
                self._growth_tracker += 1
                if self._growth_tracker.item() == self._growth_interval:
                    if (self._scale * self._growth_factor).isfinite():
                        self._scale.mul_(self._growth_factor)
                    self._growth_tracker.zero_()
        self._per_optimizer_states = defaultdict(_fresh)

    def get_scale(self):
        """The scale, 1 when it does nothing."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self):
        """What the scale grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        """Sets what the scale grows by."""
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        """What the scale shrinks by."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        """Sets what the scale shrinks by."""
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        """After how many steps the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        """Sets after how many steps the scale grows."""
        self._growth_interval = new_interval

    def is_enabled(self):
        """Whether it does anything."""
        return self._enabled

    def state_dict(self):
        """Scale, settings and count; empty when it does nothing."""
        if not self._enabled:
            return {}
        tracker = self._init_growth_tracker if self._growth_tracker is None else self._growth_tracker.item()
        return {
            "scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval, "_growth_tracker": tracker,
        }  # fmt: skip

    def load_state_dict(self, state_dict):
        """Takes over what ``state_dict`` gave."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.")
        self._init_scale, self._growth_factor = state_dict["scale"], state_dict["growth_factor"]
        self._backoff_factor, self._growth_interval = state_dict["backoff_factor"], state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._scale is not None:
            self._begin()

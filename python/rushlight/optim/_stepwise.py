"""What most optimisers share: settings and their checks, closures, state made at need, one formula a parameter."""

from .. import _C
from .._C import Tensor, _functions
from ..autograd.grad_mode import enable_grad, set_grad_enabled
from .optimizer import Optimizer

zeros_like, ones_like, full_like = _functions["zeros_like"], _functions["ones_like"], _functions["full_like"]
view_as_real = _functions["view_as_real"]


def at_least_zero(**numbers):
    """ValueError for a number below 0 or NaN."""
    for name, x in numbers.items():
        if isinstance(x, Tensor):
            if x.numel() != 1:
                raise ValueError(f"Tensor {name} must be 1-element, not of shape {tuple(x.shape)}")
        if not x >= 0.0:
            raise ValueError(f"Invalid {name} value: {x} is not at least 0")


def shares(betas, name="beta parameter"):
    """ValueError for a number that is not in ``[0, 1)``."""
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid {name} at index {i}: {beta} is not in [0, 1)")


def plain(x):
    """A tensor's number, or the number."""
    return x.item() if isinstance(x, Tensor) else x


def counter(value=0.0):
    """A count, or another number of a state, as the tensor that torch keeps it in."""
    wide = _C.get_default_dtype() is _C.float64
    return _C.tensor(float(value), dtype=_C.float64 if wide else _C.float32)


class Stepwise(Optimizer):
    """An optimiser with a formula: ``_begin`` makes a parameter's state, ``_update`` changes parameter and state.

    ``foreach``, ``fused`` and ``capturable`` choose among torch's implementations of one formula; there
    is one here. Formulas see complex tensors as real ones with a last axis of 2.
    """

    def __init__(self, params, defaults):
        if defaults.get("fused"):
            if defaults.get("differentiable"):
                raise RuntimeError("`fused` does not support `differentiable`")
            if defaults.get("foreach"):
                raise RuntimeError("`fused` and `foreach` cannot be `True` together")
            self._step_supports_amp_scaling = False
        if isinstance(defaults.get("lr"), Tensor) and defaults.get("foreach") and not defaults.get("capturable"):
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self.defaults.items():
                group.setdefault(name, value)
            for p in group["params"]:
                own = self.state.get(p)
                if own and "step" in own and not isinstance(own["step"], Tensor):
                    own["step"] = counter(own["step"])  # older files hold numbers

    def _begin(self, group, p):
        """The state of a parameter before its first step."""
        raise NotImplementedError

    def _update(self, group, p, grad, state):
        """Changes ``p`` and ``state`` in place. ``grad`` is negated already where ``maximize`` is set."""
        raise NotImplementedError

    def step(self, closure=None):
        """Changes every parameter that has a gradient.

        ``closure`` clears gradients, computes the loss, runs backward and gives the loss, which is the
        result.
        """
        with set_grad_enabled(bool(self.defaults.get("differentiable"))):
            loss = None
            if closure is not None:
                with enable_grad():
                    loss = closure()
            for group in self.param_groups:
                self._step_group(group)
        return loss

    def _gathered(self, group):
        """Parameters with a gradient, their gradients and states."""
        found = []
        for p in group["params"]:
            grad = p.grad
            if grad is not None:
                state = self.state[p]
                if not state:
                    state.update(self._begin(group, p))
                found.append((p, grad, state))
        return found

    def _step_group(self, group):
        for p, grad, state in self._gathered(group):
            if group.get("maximize"):
                grad = -grad
            if "step" in state:
                state["step"] += 1
            if self._REAL and p.is_complex():
                state = {k: view_as_real(v) if v.is_complex() else v for k, v in state.items()}
                p, grad = view_as_real(p), view_as_real(grad)
            self._update(group, p, grad, state)

    #: Whether the formula sees complex numbers as pairs of real ones.
    _REAL = True


def decayed(group, p, grad):
    """The gradient with the pull of ``weight_decay``."""
    decay = group["weight_decay"]
    if isinstance(decay, Tensor):
        return grad + p * decay
    return grad.add(p, alpha=decay) if decay else grad


def subtract(group, p, numerator, denominator, rate):
    """``p -= rate * numerator / denominator``; ``rate`` may be a tensor in a graph."""
    if isinstance(rate, Tensor) and group.get("differentiable"):
        p.sub_(numerator * rate / denominator)
    else:
        p.addcdiv_(numerator, denominator, value=-plain(rate))


def rate_of(group):
    """The learning rate, a tensor only where a graph is asked for."""
    return group["lr"] if group.get("differentiable") else plain(group["lr"])

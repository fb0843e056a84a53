"""Muon (Jordan et al. 2024)."""

import math

from .._C import _functions
from .. import _C
from ._stepwise import Stepwise, at_least_zero, plain, zeros_like

__all__ = ["Muon"]


def _orthogonal(update, coefficients, steps, eps):
    """``update`` with all singular values near 1, by Newton and Schulz's iteration in bfloat16."""
    a, b, c = coefficients
    x = update.to(_C.bfloat16)
    tall = x.size(0) > x.size(1)
    if tall:
        x = x.T
    x = x / x.norm().clamp(min=eps)
    addmm = _functions["addmm"]
    for _ in range(steps):
        gram = x @ x.T
        x = addmm(x, addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x


def _factor(how, shape):
    rows, columns = shape
    if how is None or how == "original":
        return math.sqrt(max(1, rows / columns))
    return 0.2 * math.sqrt(max(rows, columns))


class Muon(Stepwise):
    """Momentum whose direction, a matrix, is made orthogonal before each step. Matrices only.

    ``adjust_lr_fn`` scales steps by shape: ``"original"`` (also for ``None``) or ``"match_rms_adamw"``.
    """

    def __init__(
        self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315),
        eps=1e-7, ns_steps=5, adjust_lr_fn=None,
    ):
        at_least_zero(**{"learning rate": lr}, momentum=momentum, weight_decay=weight_decay)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"adjust_lr_fn is {adjust_lr_fn!r}; 'original' and 'match_rms_adamw' are known")
        if ns_steps >= 100:
            raise ValueError(f"ns_steps is {ns_steps}; it must be below 100")
        if len(ns_coefficients) != 3:
            raise ValueError(f"ns_coefficients must be 3 numbers, not {len(ns_coefficients)}")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
        })  # fmt: skip
        for group in self.param_groups:
            for p in group["params"]:
                if p.dim() != 2:
                    raise ValueError(f"Muon only supports 2D parameters, not one of shape {tuple(p.shape)}")

    def _begin(self, group, p):
        if p.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        return {"momentum_buffer": zeros_like(p.grad)}

    def _update(self, group, p, grad, state):
        lr, momentum, buffer = plain(group["lr"]), group["momentum"], state["momentum_buffer"]
        buffer.lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
        update = _orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        p.mul_(1 - lr * group["weight_decay"])
        p.add_(update, alpha=-lr * _factor(group["adjust_lr_fn"], p.shape))

"""Adamax (Kingma and Ba 2015, section 7)."""

from .._C import _functions
from ._stepwise import Stepwise, at_least_zero, counter, decayed, plain, rate_of, shares, subtract, zeros_like

__all__ = ["Adamax"]


class Adamax(Stepwise):
    """Adam with a decaying largest gradient in the place of the root mean square."""

    def __init__(
        self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
        differentiable=False, capturable=False,
    ):
        at_least_zero(**{"learning rate": lr}, epsilon=eps, weight_decay=weight_decay)
        shares(betas)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        })  # fmt: skip

    def _begin(self, group, p):
        return {"step": counter(), "exp_avg": zeros_like(p), "exp_inf": zeros_like(p)}

    def _update(self, group, p, grad, state):
        grad, (beta1, beta2) = decayed(group, p, grad), group["betas"]
        mean, largest = state["exp_avg"], state["exp_inf"]
        mean.lerp_(grad, 1 - beta1)
        largest.copy_(_functions["maximum"](largest * beta2, grad.abs() + group["eps"]))
        subtract(group, p, mean, largest.clone(), rate_of(group) / (1 - beta1 ** plain(state["step"])))

"""Averaged stochastic gradient descent (Polyak and Juditsky 1992)."""

from ._stepwise import Stepwise, at_least_zero, counter, decayed, plain, zeros_like

__all__ = ["ASGD"]


class ASGD(Stepwise):
    """Gradient descent that keeps the mean of the parameters, from step ``t0`` on, in the state's ``ax``.

    The rate of step ``t`` is ``lr / (1 + lambd * lr * t) ** alpha``; ``lambd`` also pulls towards 0.
    """

    def __init__(
        self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
        differentiable=False, capturable=False,
    ):
        at_least_zero(**{"learning rate": lr}, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        })  # fmt: skip

    def _begin(self, group, p):
        return {"step": counter(), "eta": counter(plain(group["lr"])), "mu": counter(1.0), "ax": zeros_like(p)}

    def _update(self, group, p, grad, state):
        grad, lr, step = decayed(group, p, grad), plain(group["lr"]), plain(state["step"])
        eta, mu, mean = plain(state["eta"]), plain(state["mu"]), state["ax"]
        p.mul_(1 - group["lambd"] * eta)
        p.add_(grad, alpha=-eta)
        if mu == 1:
            mean.copy_(p)
        else:
            mean.add_((p - mean) * mu)
        state["eta"].copy_(counter(lr / (1 + group["lambd"] * lr * step) ** group["alpha"]))
        state["mu"].copy_(counter(1 / max(1, step - group["t0"])))

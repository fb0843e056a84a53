"""Adadelta (Zeiler 2012)."""

from ._stepwise import Stepwise, at_least_zero, counter, decayed, plain, rate_of, zeros_like

__all__ = ["Adadelta"]


class Adadelta(Stepwise):
    """Steps of the size of former steps: their root mean square over that of gradients. ``rho`` of both is kept."""

    def __init__(
        self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False,
        differentiable=False,
    ):
        at_least_zero(**{"learning rate": lr}, epsilon=eps, weight_decay=weight_decay)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho} is not in [0, 1]")
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        })  # fmt: skip

    def _begin(self, group, p):
        return {"step": counter(), "square_avg": zeros_like(p), "acc_delta": zeros_like(p)}

    def _update(self, group, p, grad, state):
        grad, lr, rho, eps = decayed(group, p, grad), rate_of(group), group["rho"], group["eps"]
        square, moved = state["square_avg"], state["acc_delta"]
        square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = (moved + eps).sqrt() / (square + eps).sqrt() * grad
        moved.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        p.sub_(delta * lr) if group["differentiable"] else p.add_(delta, alpha=-plain(lr))

"""RMSprop (Tieleman and Hinton 2012)."""

from ._stepwise import Stepwise, at_least_zero, counter, decayed, plain, rate_of, subtract, zeros_like

__all__ = ["RMSprop"]


class RMSprop(Stepwise):
    """Divides by the root of the running mean of squared gradients, of which ``alpha`` is kept each time.

    ``centered`` takes the square of the mean gradient from it first (Graves 2013).
    """

    def __init__(
        self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False,
        foreach=None, maximize=False, differentiable=False,
    ):
        at_least_zero(**{"learning rate": lr}, epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        })  # fmt: skip

    def _begin(self, group, p):
        state = {"step": counter(), "square_avg": zeros_like(p)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = zeros_like(p)
        return state

    def _update(self, group, p, grad, state):
        grad, lr, alpha = decayed(group, p, grad), rate_of(group), group["alpha"]
        square = state["square_avg"]
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(grad, 1 - alpha)
            square = square.addcmul(mean, mean, value=-1)
        root = square.sqrt() + group["eps"]
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]
            buffer.mul_(group["momentum"]).addcdiv_(grad, root)
            p.sub_(buffer * lr) if group["differentiable"] else p.add_(buffer, alpha=-plain(lr))
        else:
            subtract(group, p, grad, root, lr)

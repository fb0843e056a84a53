"""RAdam (Liu et al. 2020)."""

from ._stepwise import Stepwise, at_least_zero, counter, plain, rate_of, shares, zeros_like

__all__ = ["RAdam"]


class RAdam(Stepwise):
    """Adam that does not divide by the root mean square before enough gradients went into it."""

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *,
        foreach=None, maximize=False, capturable=False, differentiable=False,
    ):
        at_least_zero(**{"learning rate": lr}, epsilon=eps, weight_decay=weight_decay)
        shares(betas)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        })  # fmt: skip

    def _begin(self, group, p):
        return {"step": counter(), "exp_avg": zeros_like(p), "exp_avg_sq": zeros_like(p)}

    def _update(self, group, p, grad, state):
        (beta1, beta2), lr, step = group["betas"], rate_of(group), plain(state["step"])
        if group["weight_decay"]:
            if group["decoupled_weight_decay"]:
                p.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad.add(p, alpha=group["weight_decay"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        direction = mean / (1 - beta1**step)
        # The length of the average behind the mean square: of ever so many steps, and of these.
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / (1 - beta2**step)
        if length > 5:
            variance = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
            adapted = (1 - beta2**step) ** 0.5 / (square.sqrt() + group["eps"])
            p.sub_(direction * lr * adapted * variance**0.5)
        else:
            p.sub_(direction * lr)

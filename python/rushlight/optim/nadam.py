"""NAdam (Dozat 2016)."""

from ._stepwise import Stepwise, at_least_zero, counter, plain, rate_of, shares, subtract, zeros_like

__all__ = ["NAdam"]


class NAdam(Stepwise):
    """Adam that looks ahead along its mean, as Nesterov's momentum does; ``momentum_decay`` lets momentum grow."""

    def __init__(
        self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
        decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False,
    ):
        at_least_zero(
            **{"learning rate": lr}, epsilon=eps, weight_decay=weight_decay, momentum_decay=momentum_decay
        )
        shares(betas)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable,
        })  # fmt: skip

    def _begin(self, group, p):
        return {"step": counter(), "mu_product": counter(1.0), "exp_avg": zeros_like(p), "exp_avg_sq": zeros_like(p)}

    def _update(self, group, p, grad, state):
        (beta1, beta2), lr, step = group["betas"], rate_of(group), plain(state["step"])
        if group["weight_decay"]:
            if group["decoupled_weight_decay"]:
                p.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad.add(p, alpha=group["weight_decay"])
        now, following = (beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1))
        state["mu_product"] *= now
        product = plain(state["mu_product"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        root = (square / (1 - beta2**step)).sqrt() + group["eps"]
        subtract(group, p, grad, root, lr * (1 - now) / (1 - product))
        subtract(group, p, mean, root, lr * following / (1 - product * following))

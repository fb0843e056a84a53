"""Adam (Kingma and Ba 2015), with AMSGrad (Reddi et al. 2018)."""

from .._C import Tensor, _functions
from ._stepwise import Stepwise, at_least_zero, counter, plain, rate_of, shares, subtract, view_as_real, zeros_like

__all__ = ["Adam", "adam"]


class Adam(Stepwise):
    """Steps along the running mean of gradients over the root of the running mean of their squares.

    ``betas`` are the shares of the two means that are kept; ``eps`` is added to the root; ``amsgrad``
    divides by the largest mean square so far. ``weight_decay`` enters the gradient, or with
    ``decoupled_weight_decay`` takes its share of the parameter. A step is one pass over memory.
    """

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
        maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False,
    ):
        at_least_zero(**{"learning rate": lr}, epsilon=eps, weight_decay=weight_decay)
        shares(betas)
        if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
            raise ValueError("betas must be either both floats or both Tensors")
        betas = (plain(betas[0]), plain(betas[1]))
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay,
        })  # fmt: skip

    def _begin(self, group, p):
        state = {"step": counter(), "exp_avg": zeros_like(p), "exp_avg_sq": zeros_like(p)}
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(p)
        return state

    def _step_group(self, group):
        if group["differentiable"]:
            super()._step_group(group)
            return
        params, grads, means, squares, largest, steps = lists = ([], [], [], [], [], [])
        for p, grad, state in self._gathered(group):
            params.append(p)
            grads.append(grad)
            means.append(state["exp_avg"])
            squares.append(state["exp_avg_sq"])
            if group["amsgrad"]:
                largest.append(state["max_exp_avg_sq"])
            steps.append(state["step"])
            state["step"] += 1
        _step(*lists, group)

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
        if group["amsgrad"]:
            square = _functions["maximum"](state["max_exp_avg_sq"].clone(), square)
            state["max_exp_avg_sq"].copy_(square)
        root = square.sqrt() / (1 - beta2**step) ** 0.5 + group["eps"]
        subtract(group, p, mean, root, lr / (1 - beta1**step))


def _step(params, grads, means, squares, largest, steps, group):
    if not params:
        return
    if any(p.is_complex() for p in params):
        params, grads, means, squares, largest = (
            [view_as_real(t) if t.is_complex() else t for t in list_]
            for list_ in (params, grads, means, squares, largest)
        )
    row = _functions["_fused_adamw_" if group["decoupled_weight_decay"] else "_fused_adam_"]
    row(
        params, grads, means, squares, largest, steps, lr=plain(group["lr"]), beta1=group["betas"][0],
        beta2=group["betas"][1], weight_decay=group["weight_decay"], eps=group["eps"], amsgrad=group["amsgrad"],
        maximize=group["maximize"],
    )  # fmt: skip


def adam(
    params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, foreach=None, capturable=False,
    differentiable=False, fused=None, grad_scale=None, found_inf=None, has_complex=False, decoupled_weight_decay=False,
    *, amsgrad, beta1, beta2, lr, weight_decay, eps, maximize,
):
    """One step of Adam on lists of tensors, in place."""
    for step in state_steps:
        step += 1
    _step(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, {
        "lr": lr, "betas": (plain(beta1), plain(beta2)), "weight_decay": weight_decay, "eps": eps,
        "amsgrad": amsgrad, "maximize": maximize, "decoupled_weight_decay": decoupled_weight_decay,
    })  # fmt: skip

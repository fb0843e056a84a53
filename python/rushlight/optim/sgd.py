"""Stochastic gradient descent."""

from .._C import Tensor, _functions
from ._stepwise import Stepwise, at_least_zero, decayed, plain, rate_of, view_as_real, zeros_like

__all__ = ["SGD", "sgd"]


class SGD(Stepwise):
    """``direction = momentum * direction + (1 - dampening) * g; p -= lr * direction``.

    ``g`` is the gradient plus ``weight_decay * p``, and the first direction is ``g`` itself. ``nesterov``
    steps along ``g + momentum * direction`` instead. A step is one pass over memory.
    """

    def __init__(
        self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False,
        foreach=None, differentiable=False, fused=None,
    ):
        at_least_zero(**{"learning rate": lr}, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach, "differentiable": differentiable,
            "fused": fused,
        })  # fmt: skip

    _REAL = False  # all is linear

    def _gathered(self, group):
        state = self.state
        if group["momentum"] != 0:
            return [(p, p.grad, state[p]) for p in group["params"] if p.grad is not None]
        return [(p, p.grad, {}) for p in group["params"] if p.grad is not None]

    def _step_group(self, group):
        if group["differentiable"]:
            super()._step_group(group)
            return
        begun, fresh = ([], [], []), ([], [], [])
        for p, grad, state in self._gathered(group):
            buffer = state.get("momentum_buffer")
            params, grads, buffers = begun
            if group["momentum"] != 0:
                if buffer is None:
                    params, grads, buffers = fresh
                    buffer = state["momentum_buffer"] = zeros_like(grad)
                buffers.append(buffer)
            params.append(p)
            grads.append(grad)
        _step(*fresh, group, True)
        _step(*begun, group, False)

    def _update(self, group, p, grad, state):
        grad, momentum, lr = decayed(group, p, grad), group["momentum"], rate_of(group)
        if momentum != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.clone().detach()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        if isinstance(lr, Tensor):
            p.sub_(grad * lr)
        else:
            p.add_(grad, alpha=-lr)


def _step(params, grads, buffers, group, first):
    if not params:
        return
    if any(p.is_complex() for p in params):
        params, grads, buffers = (
            [view_as_real(t) if t.is_complex() else t for t in list_] for list_ in (params, grads, buffers)
        )
    _functions["_fused_sgd_"](
        params, grads, buffers, weight_decay=plain(group["weight_decay"]), momentum=group["momentum"],
        lr=plain(group["lr"]), dampening=group["dampening"], nesterov=group["nesterov"], maximize=group["maximize"],
        is_first_step=first,
    )  # fmt: skip


def sgd(
    params, d_p_list, momentum_buffer_list, has_sparse_grad=False, foreach=None, fused=None, grad_scale=None,
    found_inf=None, *, weight_decay, momentum, lr, dampening, nesterov, maximize,
):
    """One step of gradient descent on lists of tensors, in place; missing buffers, ``None``, are filled in."""
    group = {
        "weight_decay": weight_decay, "momentum": momentum, "lr": lr, "dampening": dampening, "nesterov": nesterov,
        "maximize": maximize,
    }  # fmt: skip
    for i, (p, grad) in enumerate(zip(params, d_p_list)):
        first = momentum != 0 and momentum_buffer_list[i] is None
        if first:
            momentum_buffer_list[i] = zeros_like(grad)
        _step([p], [grad], [momentum_buffer_list[i]] if momentum != 0 else [], group, first)

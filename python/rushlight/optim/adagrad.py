"""Adagrad (Duchi et al. 2011)."""

from .._C import _functions
from ._stepwise import Stepwise, at_least_zero, counter, decayed, full_like, plain, rate_of, subtract, view_as_real

__all__ = ["Adagrad"]


class Adagrad(Stepwise):
    """Divides by the root of the sum of all squared gradients, which starts at ``initial_accumulator_value``.

    In step ``t`` the rate is ``lr / (1 + (t - 1) * lr_decay)``. A step is one pass over memory.
    """

    def __init__(
        self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *,
        maximize=False, differentiable=False, fused=None,
    ):
        at_least_zero(
            **{"learning rate": lr}, lr_decay=lr_decay, weight_decay=weight_decay, epsilon=eps,
            initial_accumulator_value=initial_accumulator_value,
        )  # fmt: skip
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        })  # fmt: skip
        for group in self.param_groups:  # torch's programs look at the sums before the first step
            for p in group["params"]:
                self.state[p].update(self._begin(group, p))

    def share_memory(self):
        """The state's memory can be seen by other processes."""
        for state in self.state.values():
            for value in state.values():
                value.share_memory_()

    def _begin(self, group, p):
        start = group["initial_accumulator_value"]
        return {"step": counter(), "sum": full_like(p, complex(start, start) if p.is_complex() else start).detach()}

    def _step_group(self, group):
        if group["differentiable"]:
            super()._step_group(group)
            return
        lists = params, grads, sums, steps = [], [], [], []
        for p, grad, state in self._gathered(group):
            real = view_as_real if p.is_complex() else lambda t: t
            params.append(real(p))
            grads.append(real(grad))
            sums.append(real(state["sum"]))
            steps.append(state["step"])
            state["step"] += 1
        if params:
            _functions["_fused_adagrad_"](
                *lists, lr=plain(group["lr"]), lr_decay=group["lr_decay"], weight_decay=group["weight_decay"],
                eps=group["eps"], maximize=group["maximize"],
            )  # fmt: skip

    def _update(self, group, p, grad, state):
        grad = decayed(group, p, grad)
        rate = rate_of(group) / (1 + (plain(state["step"]) - 1) * group["lr_decay"])
        total = state["sum"].addcmul_(grad, grad)
        subtract(group, p, grad, total.sqrt() + group["eps"], rate)

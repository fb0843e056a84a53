"""Adafactor (Shazeer and Stern 2018)."""

from .._C import Tensor
from ._stepwise import Stepwise, at_least_zero, counter, plain

__all__ = ["Adafactor"]


class Adafactor(Stepwise):
    """Steps over the root mean square of gradients, which for matrices is kept as a row times a column.

    ``beta2_decay`` is the exponent by which the running mean slows down, ``eps`` the smallest square and
    the smallest size of a parameter that steps are relative to, ``d`` the bound of a step.
    """

    def __init__(
        self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
        maximize=False,
    ):
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        at_least_zero(**{"learning rate": lr}, weight_decay=weight_decay)
        if not beta2_decay <= 0:
            raise ValueError(f"beta2_decay must be at most 0, not {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0 or not eps[1] >= 0:
            raise ValueError(f"epsilons must be at least 0, not {eps}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d must be at least 1, not {d}")
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize,
        })  # fmt: skip

    def _begin(self, group, p):
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        grad = p.grad
        if grad.dim() < 2:
            return {"step": counter(), "variance": grad.new_zeros(grad.shape)}
        *rest, rows, columns = grad.shape
        return {
            "step": counter(), "row_var": grad.new_zeros([*rest, rows, 1]), "col_var": grad.new_zeros([*rest, 1, columns])
        }  # fmt: skip

    def _update(self, group, p, grad, state):
        smallest, floor = group["eps"]
        if smallest is None:
            from .._types import finfo

            smallest = finfo(p.dtype).eps
        step, lr = plain(state["step"]), plain(group["lr"])
        share = step ** group["beta2_decay"]
        alpha = max(floor, p.norm(2).item() / p.numel() ** 0.5) * min(lr, 1 / step**0.5)
        if group["weight_decay"]:
            p.mul_(1 - lr * group["weight_decay"])
        if grad.dim() > 1:
            row, column = state["row_var"], state["col_var"]
            row.lerp_(grad.square().mean(-1, keepdim=True), share)
            column.lerp_(grad.square().mean(-2, keepdim=True), share)
            square = row @ column / row.mean(-2, keepdim=True).clamp(min=smallest)
        else:
            square = state["variance"].lerp_(grad.square(), share)
        update = square.clamp(min=smallest * smallest).rsqrt() * grad
        bound = max(1.0, update.norm(2).item() / (update.numel() ** 0.5 * group["d"]))
        p.add_(update, alpha=-alpha / bound)

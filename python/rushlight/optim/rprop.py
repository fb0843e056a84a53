"""Rprop (Riedmiller and Braun 1993)."""

from ._stepwise import Stepwise, at_least_zero, counter, full_like, ones_like, plain, zeros_like

__all__ = ["Rprop"]


class Rprop(Stepwise):
    """Steps by the sign of the gradient; the size of each grows while the sign stays and shrinks when it turns.

    ``etas`` are the factors of shrinking and growing, ``step_sizes`` the bounds.
    """

    def __init__(
        self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None,
        maximize=False, differentiable=False,
    ):
        at_least_zero(**{"learning rate": lr})
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]} must be in (0, 1) and {etas[1]} above 1")
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        })  # fmt: skip

    def _begin(self, group, p):
        size = plain(group["lr"])
        size = full_like(p, complex(size, size) if p.is_complex() else size).detach()
        return {"step": counter(), "prev": zeros_like(p), "step_size": size}

    def _update(self, group, p, grad, state):
        (shrink, grow), (low, high) = group["etas"], group["step_sizes"]
        turned = grad * state["prev"]
        factor = ones_like(turned).masked_fill(turned > 0, grow).masked_fill(turned < 0, shrink)
        state["step_size"].mul_(factor).clamp_(low, high)
        # A gradient that turned counts for nothing, in this step and in the comparison of the next.
        grad = grad.masked_fill(turned < 0, 0)
        p.addcmul_(grad.sign(), state["step_size"].clone(), value=-1)
        state["prev"].copy_(grad)

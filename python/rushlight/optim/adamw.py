"""AdamW (Loshchilov and Hutter 2019)."""

from .adam import Adam, adam

__all__ = ["AdamW", "adamw"]


class AdamW(Adam):
    """Adam whose ``weight_decay`` takes its share of the parameter and does not enter the gradient."""

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False,
        foreach=None, capturable=False, differentiable=False, fused=None,
    ):
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


def adamw(*args, **kwargs):
    """One step of AdamW on lists of tensors, in place; the arguments are those of ``adam``."""
    adam(*args, **kwargs, decoupled_weight_decay=True)

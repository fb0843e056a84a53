"""A schedule that waits for a number to stop improving."""

import math

from ..._C import Tensor
from ..optimizer import Optimizer
from ._base import LRScheduler, for_each_group, set_rate


class ReduceLROnPlateau(LRScheduler):
    """``factor`` times the rate when ``step(metrics)`` saw no better number for more than ``patience`` steps.

    Better means lower (``mode="min"``) or higher (``"max"``) by ``threshold``, as a share of the best
    (``threshold_mode="rel"``) or in its unit (``"abs"``). For ``cooldown`` steps after a change nothing
    counts; rates stay above ``min_lr``, and changes below ``eps`` are left out.
    """

    def __init__(
        self, optimizer, mode="min", factor=0.1, patience=10, threshold=1e-4, threshold_mode="rel", cooldown=0,
        min_lr=0, eps=1e-8,
    ):
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown! It is 'min' or 'max'")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown! It is 'rel' or 'abs'")
        self.factor, self.optimizer = factor, optimizer
        several = isinstance(min_lr, (list, tuple))
        self.default_min_lr = None if several else min_lr
        self.min_lrs = for_each_group(optimizer, "min_lr", min_lr)
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = [group["lr"] for group in optimizer.param_groups]
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self._reset()

    def _reset(self):
        """Forgets what was seen."""
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    def step(self, metrics, epoch=None):
        """Looks at a number: a loss, or an accuracy."""
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(self.last_epoch)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _reduce_lr(self, epoch):
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):  # groups were added since
            if self.default_min_lr is None:
                raise RuntimeError(f"the optimizer has {len(groups)} groups now and min_lr has {len(self.min_lrs)} numbers")
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, low in zip(groups, self.min_lrs):
            old = group["lr"].item() if isinstance(group["lr"], Tensor) else float(group["lr"])
            new = max(old * self.factor, low)
            if old - new > self.eps:
                set_rate(group, new)

    @property
    def in_cooldown(self):
        """Whether nothing counts now."""
        return self.cooldown_counter > 0

    def _is_better(self, a, best):
        sign = 1 if self.mode == "max" else -1
        margin = best * self.threshold if self.threshold_mode == "rel" else self.threshold
        if self.threshold_mode == "rel":
            bound = best + sign * margin if math.isfinite(best) else best
        else:
            bound = best + sign * margin
        return a > bound if self.mode == "max" else a < bound

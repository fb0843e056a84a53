"""Schedules that multiply the rate: by functions, at milestones, towards an end."""

import types
from bisect import bisect_right
from collections import Counter

from ._base import LRScheduler, copied, for_each_group


class _OfFunctions(LRScheduler):
    """Rates by functions of the step, ``lr_lambda``: one, or a list with one a group."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.optimizer = optimizer
        self.lr_lambdas = for_each_group(optimizer, "lr_lambda", lr_lambda)
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        """All but the optimiser and plain functions; of objects that can be called their attributes."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "lr_lambdas")}
        state["lr_lambdas"] = [
            None if isinstance(f, types.FunctionType) else f.__dict__.copy() for f in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict):
        """Takes over what ``state_dict`` gave; plain functions stay as they are."""
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if attributes is not None:
                function.__dict__.update(attributes)


class LambdaLR(_OfFunctions):
    """The initial rate times ``lr_lambda(step)``."""

    def get_lr(self):
        """The rates now, one a group."""
        self._warn_outside_step()
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(_OfFunctions):
    """The present rate times ``lr_lambda(step)``, from step 1 on."""

    def get_lr(self):
        """The rates now, one a group."""
        self._warn_outside_step()
        if self._is_initial:
            return self._rates()
        return [rate * f(self.last_epoch) for rate, f in zip(self._rates(), self.lr_lambdas)]


class StepLR(LRScheduler):
    """``gamma`` times as much every ``step_size`` steps."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates now, one a group."""
        self._warn_outside_step()
        if self.last_epoch == 0 or self.last_epoch % self.step_size:
            return self._rates()
        return [rate * self.gamma for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """``gamma`` times as much at each of the ``milestones``."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates now, one a group."""
        self._warn_outside_step()
        times = self.milestones.get(self.last_epoch, 0)
        return [rate * self.gamma**times for rate in self._rates()] if times else self._rates()

    def _get_closed_form_lr(self):
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """``factor`` times the rate for ``total_iters`` steps, then the rate itself."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if not 0 <= factor <= 1.0:
            raise ValueError(f"Constant multiplicative factor expected to be between 0 and 1, not {factor}")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates now, one a group."""
        self._warn_outside_step()
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self._rates()]
        if self.last_epoch != self.total_iters:
            return self._rates()
        return [rate * (1.0 / self.factor) for rate in self._rates()]

    def _get_closed_form_lr(self):
        factor = self.factor if self.last_epoch < self.total_iters else 1
        return [base * factor for base in self.base_lrs]


class LinearLR(LRScheduler):
    """From ``start_factor`` to ``end_factor`` times the rate in ``total_iters`` equal steps."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if not 0 < start_factor <= 1.0:
            raise ValueError(f"Starting multiplicative factor expected to be greater than 0 and less or equal to 1, not {start_factor}")
        if not 0 <= end_factor <= 1.0:
            raise ValueError(f"Ending multiplicative factor expected to be between 0 and 1, not {end_factor}")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates now, one a group."""
        self._warn_outside_step()
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self._rates()]
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return [rate * (1.0 + rise / before) for rate in self._rates()]

    def _get_closed_form_lr(self):
        share = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + (self.end_factor - self.start_factor) * share) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """``gamma`` times as much every step."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates now, one a group."""
        self._warn_outside_step()
        if self._is_initial:
            return self._rates()
        return [rate * self.gamma for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """The rate times ``(1 - step / total_iters) ** power``, 0 after ``total_iters`` steps."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates now, one a group."""
        self._warn_outside_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return [copied(rate) for rate in self._rates()]
        now, before = (1.0 - step / self.total_iters for step in (self.last_epoch, self.last_epoch - 1))
        return [rate * (now / before) ** self.power for rate in self._rates()]

    def _get_closed_form_lr(self):
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]

"""Schedules along cosines and in cycles."""

import math
import types

from ..optimizer import Optimizer
from ._base import LRScheduler, copied, for_each_group, set_rate


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the rate down to ``eta_min`` in ``T_max`` steps (Loshchilov and Hutter 2017), and back up."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates now, one a group: chained to the present ones, so that other schedules count too."""
        self._warn_outside_step()
        if self._is_initial:
            return self._rates()
        step, low, turn = self.last_epoch, self.eta_min, math.pi / self.T_max
        if self._step_count == 1 and step > 0:
            return [low + (base - low) * (1 + math.cos(step * turn)) / 2 for base in self.base_lrs]
        if (step - 1 - self.T_max) % (2 * self.T_max) == 0:  # out of the valley, where the quotient is 0 / 0
            return [
                rate + (base - low) * (1 - math.cos(turn)) / 2 for rate, base in zip(self._rates(), self.base_lrs)
            ]
        quotient = (1 + math.cos(turn * step)) / (1 + math.cos(turn * (step - 1)))
        return [quotient * (rate - low) + low for rate in self._rates()]

    def _get_closed_form_lr(self):
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half cosines of ``T_0``, ``T_0 * T_mult``, ... steps, each from the rate down to ``eta_min``.

    ``step`` takes fractions of epochs.
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates now, one a group."""
        self._warn_outside_step()
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def step(self, epoch=None):
        """One step on, or to ``epoch``, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self.T_cur, self.T_i = self._place(epoch)
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        try:
            rates = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        for group, rate in zip(self.optimizer.param_groups, rates):
            set_rate(group, rate)
        self._last_lr = [copied(group["lr"]) for group in self.optimizer.param_groups]

    def _place(self, epoch):
        """How far into which cycle an epoch is: steps gone, steps of the cycle."""
        if epoch < self.T_0:
            return epoch, self.T_0
        if self.T_mult == 1:
            return epoch % self.T_0, self.T_0
        gone = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
        length = self.T_0 * self.T_mult**gone
        return epoch - self.T_0 * (self.T_mult**gone - 1) / (self.T_mult - 1), length


def _momentum_key(optimizer, name):
    """Whether momentum is the first beta. ValueError: there is neither."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError(f"optimizer must support momentum or beta1 with `cycle_momentum` option enabled of {name}")
    return "betas" in optimizer.defaults


def _set_momentum(group, use_beta1, value):
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class CyclicLR(LRScheduler):
    """Between ``base_lr`` and ``max_lr``: up in ``step_size_up`` steps, down in ``step_size_down`` (Smith 2017).

    ``mode``: ``"triangular"``, ``"triangular2"`` (half the height each cycle), ``"exp_range"`` (times
    ``gamma ** step``), or ``scale_fn`` of the cycle or of the step, as ``scale_mode`` says. Momentum goes
    the other way, between ``max_momentum`` and ``base_momentum``.
    """

    def __init__(
        self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular", gamma=1.0,
        scale_fn=None, scale_mode="cycle", cycle_momentum=True, base_momentum=0.8, max_momentum=0.9, last_epoch=-1,
    ):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, for_each_group(optimizer, "base_lr", base_lr)):
                set_rate(group, rate)
        self.max_lrs = for_each_group(optimizer, "max_lr", max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(f"mode is {mode!r} and scale_fn is None; triangular, triangular2 and exp_range are known")
        self.mode, self.gamma, self.scale_mode = mode, gamma, scale_mode
        self._scale_fn_custom = scale_fn
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _momentum_key(optimizer, "CyclicLR")
            self.base_momentums = for_each_group(optimizer, "base_momentum", base_momentum)
            self.max_momentums = for_each_group(optimizer, "max_momentum", max_momentum)
            if last_epoch == -1:
                for group, high, low in zip(optimizer.param_groups, self.max_momentums, self.base_momentums):
                    _set_momentum(group, self.use_beta1, high)
                    group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)
        self.base_lrs = for_each_group(optimizer, "base_lr", base_lr)

    def scale_fn(self, x):
        """The height of cycle ``x``, or at step ``x``, beside that of the first."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return {"triangular": 1.0, "triangular2": 1 / (2.0 ** (x - 1)), "exp_range": self.gamma**x}[self.mode]

    def get_lr(self):
        """The rates now, one a group; sets momentum on the way."""
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                _set_momentum(group, self.use_beta1, high - (high - low) * height * scale)
        return [base + (top - base) * height * scale for base, top in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self):
        """All but the optimiser; of a ``scale_fn`` that is an object its attributes, of a function nothing."""
        state = super().state_dict()
        custom = state.pop("_scale_fn_custom")
        plain = custom is None or isinstance(custom, types.FunctionType)
        state["_scale_fn_custom"] = None if plain else custom.__dict__.copy()
        return state

    def load_state_dict(self, state_dict):
        """Takes over what ``state_dict`` gave."""
        state_dict = dict(state_dict)
        attributes = state_dict.pop("_scale_fn_custom", None)
        super().load_state_dict(state_dict)
        if attributes is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(attributes)


def _along_cosine(start, end, share):
    return end + (start - end) / 2.0 * (1 + math.cos(math.pi * share))


def _along_line(start, end, share):
    return (end - start) * share + start


class OneCycleLR(LRScheduler):
    """Up to ``max_lr`` in ``pct_start`` of all steps, then down far below the start (Smith and Topin 2018).

    It starts at ``max_lr / div_factor`` and ends at that over ``final_div_factor``; momentum goes the
    other way. ``three_phase`` comes down as it went up before the last fall. All steps are
    ``total_steps``, or ``epochs * steps_per_epoch``.
    """

    def __init__(
        self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3,
        anneal_strategy="cos", cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.0,
        final_div_factor=1e4, three_phase=False, last_epoch=-1,
    ):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        if total_steps is not None:
            if total_steps <= 0 or not isinstance(total_steps, int):
                raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
            self.total_steps = total_steps
        elif epochs is not None and steps_per_epoch is not None:
            for name, x in (("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
                if not isinstance(x, int) or x <= 0:
                    raise ValueError(f"Expected positive integer {name}, but got {x}")
            self.total_steps = epochs * steps_per_epoch
        else:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        if not 0 <= pct_start <= 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._schedule_phases = self._phases(pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        tops = for_each_group(optimizer, "max_lr", max_lr)
        if last_epoch == -1:
            for group, top in zip(optimizer.param_groups, tops):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _momentum_key(optimizer, "OneCycleLR")
            highs = for_each_group(optimizer, "max_momentum", max_momentum)
            lows = for_each_group(optimizer, "base_momentum", base_momentum)
            if last_epoch == -1:
                for group, high, low in zip(optimizer.param_groups, highs, lows):
                    _set_momentum(group, self.use_beta1, high)
                    group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)

    def _phases(self, share, three):
        def phase(end, lrs, momenta):
            return {
                "end_step": end, "start_lr": lrs[0], "end_lr": lrs[1],
                "start_momentum": momenta[0], "end_momentum": momenta[1],
            }  # fmt: skip

        up, down = ("max_momentum", "base_momentum"), ("base_momentum", "max_momentum")
        top = float(share * self.total_steps) - 1
        first = phase(top, ("initial_lr", "max_lr"), up)
        if not three:
            return [first, phase(self.total_steps - 1, ("max_lr", "min_lr"), down)]
        return [
            first,
            phase(float(2 * share * self.total_steps) - 2, ("max_lr", "initial_lr"), down),
            phase(self.total_steps - 1, ("initial_lr", "min_lr"), ("max_momentum", "max_momentum")),
        ]

    def get_lr(self):
        """The rates now, one a group; sets momentum on the way. ValueError: after the last step."""
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        anneal = _along_cosine if self._anneal_func_type == "cos" else _along_line
        start, rates = 0.0, []
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            start = end
        share = (step - start) / (end - start)
        for group in self.optimizer.param_groups:
            rates.append(anneal(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                value = anneal(group[phase["start_momentum"]], group[phase["end_momentum"]], share)
                _set_momentum(group, self.use_beta1, value)
        return rates

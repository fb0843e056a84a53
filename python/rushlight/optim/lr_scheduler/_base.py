"""``LRScheduler``: counts steps and sets the rates that a subclass computes."""

import functools
import warnings
import weakref

from ..._C import Tensor
from ..optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "scheduler.step(epoch) is deprecated: call step() without an epoch wherever possible; schedulers count themselves"
)


def copied(x):
    """A number, or a copy of the tensor that holds it."""
    return x.detach().clone() if isinstance(x, Tensor) else x


def set_rate(group, value, key="lr"):
    """Sets a group's rate; one that is a tensor keeps its object."""
    if isinstance(group[key], Tensor):
        group[key].fill_(value.item() if isinstance(value, Tensor) else value)
    else:
        group[key] = value


def for_each_group(optimizer, name, value):
    """A setting of every group: the list given, or one value for all."""
    groups = optimizer.param_groups
    if not isinstance(value, (list, tuple)):
        return [value] * len(groups)
    if len(value) != len(groups):
        raise ValueError(f"{name} must have the same length as optimizer.param_groups: {len(groups)}, not {len(value)}")
    return list(value)


def _count_steps(optimizer):
    """Has the optimiser note that it made a step, so that a schedule can tell whether it came first."""
    step = optimizer.step
    if hasattr(step, "_wrapped_by_lr_sched"):
        return
    method, owner = step.__func__, weakref.ref(optimizer)

    @functools.wraps(method)
    def counted(*args, **kwargs):
        self = owner()
        self._opt_called = True
        return method.__get__(self, type(self))(*args, **kwargs)

    counted._wrapped_by_lr_sched = True
    optimizer.step = counted


class LRScheduler:
    """Base of schedules: a subclass has ``get_lr``, which gives the rates after the step that was just counted.

    ``last_epoch`` other than -1 goes on where another run stopped; groups must have ``"initial_lr"``
    then. TypeError: no optimiser. KeyError: that is missing.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0")
        self.optimizer = optimizer
        self.base_lrs = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        _count_steps(optimizer)
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def state_dict(self):
        """All that the schedule knows, without its optimiser."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict):
        """Takes over what ``state_dict`` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """The rates that were set last, one a group."""
        return self._last_lr

    def get_lr(self):
        """The rates now, one a group."""
        raise NotImplementedError

    def _warn_outside_step(self):
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`: get_lr() "
                "computes the one after it",
                UserWarning,
                stacklevel=3,
            )

    def _rates(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    def step(self, epoch=None):
        """Counts a step and sets the rates."""
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warnings.warn("optimizer.step was replaced after the schedule was made; call the schedule's step() after it", stacklevel=2)
            elif not getattr(self.optimizer, "_opt_called", False):
                warnings.warn(
                    "Detected call of `lr_scheduler.step()` before `optimizer.step()`: the first rate of the schedule "
                    "is skipped then; call optimizer.step() first",
                    UserWarning,
                    stacklevel=2,
                )
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch=None):
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                rates = getattr(self, "_get_closed_form_lr", self.get_lr)()
        finally:
            self._get_lr_called_within_step = False
        for group, rate in zip(self.optimizer.param_groups, rates):
            set_rate(group, rate)
        self._last_lr = [copied(group["lr"]) for group in self.optimizer.param_groups]


class _LRScheduler(LRScheduler):
    """The former name of ``LRScheduler``."""

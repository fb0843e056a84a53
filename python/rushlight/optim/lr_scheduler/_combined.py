"""Schedules made of schedules."""

from bisect import bisect_right

from ..optimizer import Optimizer
from ._base import LRScheduler, copied, set_rate


def _check(optimizer, schedulers, where):
    for i, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{where} at index {i} should have `optimizer` as its attribute")
        if type(scheduler).__name__ == "ReduceLROnPlateau":
            raise ValueError(f"{where} does not support ReduceLROnPlateau, whose step() needs a metric")
        if scheduler.optimizer is not optimizer:
            raise ValueError(f"{where} expects all schedulers to belong to the same optimizer; the one at index {i} does not")


class _Several(LRScheduler):
    def state_dict(self):
        """All but the optimiser, with the state of each schedule."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict):
        """Takes over what ``state_dict`` gave."""
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"]):
            scheduler.load_state_dict(state)


class SequentialLR(_Several):
    """One schedule after the other; the next takes over at each of the ``milestones``."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if not schedulers:
            raise ValueError("SequentialLR expects at least one scheduler")
        optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        _check(optimizer, schedulers, "SequentialLR")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"SequentialLR expects number of schedulers provided to be one more than the number of milestones, "
                f"but got {len(schedulers)} schedulers and {len(milestones)} milestones"
            )
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch, self.optimizer = last_epoch + 1, optimizer
        for group in optimizer.param_groups:  # as if no schedule had begun
            set_rate(group, group["initial_lr"])
        self._undo(schedulers)
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def _undo(self, schedulers):
        """Takes back the first step that each schedule made when it was made."""
        for scheduler in schedulers:
            if hasattr(scheduler, "_schedulers"):
                self._undo(scheduler._schedulers)
            elif hasattr(scheduler, "last_epoch"):
                scheduler.last_epoch -= 1

    def step(self):
        """One step of the schedule whose turn it is."""
        self.last_epoch += 1
        at = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[at]
        if at > 0 and self._milestones[at - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Several):
    """All schedules at once: each changes the rates that the one before it left."""

    def __init__(self, schedulers, optimizer=None):
        if not schedulers:
            raise ValueError("ChainedScheduler expects at least one scheduler")
        optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        _check(optimizer, schedulers, "ChainedScheduler")
        self._schedulers, self.optimizer = schedulers, optimizer
        self._last_lr = [copied(group["lr"]) for group in optimizer.param_groups]

    def step(self):
        """One step of each."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = [copied(group["lr"]) for group in self.optimizer.param_groups]

"""Averages of models: equal ones (Izmailov et al. 2018) and exponential ones, and what belongs to them."""

import math
from copy import deepcopy

from .. import _C
from ..autograd.grad_mode import no_grad
from ..nn import Module
from .lr_scheduler._base import LRScheduler, for_each_group
from ..nn.modules.batchnorm import _BatchNorm

__all__ = ["AveragedModel", "update_bn", "SWALR", "get_ema_multi_avg_fn", "get_swa_multi_avg_fn", "get_ema_avg_fn", "get_swa_avg_fn"]


def _decay(decay):
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")
    return decay


def get_ema_avg_fn(decay=0.999):
    """``decay`` of the average and the rest of the new value: a function of two tensors."""
    _decay(decay)

    @no_grad()
    def ema_update(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn():
    """The equal average: a function of two tensors and how many went into the first."""

    @no_grad()
    def swa_update(averaged_param, current_param, num_averaged):
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_ema_multi_avg_fn(decay=0.999):
    """As ``get_ema_avg_fn``, on lists of tensors and in place."""
    _decay(decay)

    @no_grad()
    def ema_update(ema_param_list, current_param_list, _):
        for average, current in zip(ema_param_list, current_param_list):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(current.to(average.dtype), 1 - decay)
            else:
                average.copy_(average * decay + current * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn():
    """As ``get_swa_avg_fn``, on lists of tensors and in place."""

    @no_grad()
    def swa_update(averaged_param_list, current_param_list, num_averaged):
        count = float(num_averaged) + 1
        for average, current in zip(averaged_param_list, current_param_list):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(current.to(average.dtype), 1 / count)
            else:
                average.copy_(average + (current - average) / count)

    return swa_update


class AveragedModel(Module):
    """A copy of ``model`` whose parameters are averages of those that ``update_parameters`` is given.

    ``avg_fn(average, current, count)`` gives a new average, ``multi_avg_fn`` does so for lists and in
    place; without either it is the equal average. With ``use_buffers`` buffers are averaged too, else
    they are copied.
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", _C.tensor(0, dtype=_C.int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        """The averaged model's."""
        return self.module(*args, **kwargs)

    def _pairs(self, model):
        from itertools import chain

        def of(m):
            return chain(m.parameters(), m.buffers()) if self.use_buffers else m.parameters()

        return [(ours.detach(), theirs.detach().to(ours.device)) for ours, theirs in zip(of(self.module), of(model))]

    def update_parameters(self, model):
        """Takes the parameters of ``model`` into the average; the first are it."""
        pairs = self._pairs(model)
        with no_grad():
            if self.n_averaged == 0:
                for ours, theirs in pairs:
                    ours.copy_(theirs)
            elif self.avg_fn is not None:
                for ours, theirs in pairs:
                    ours.copy_(self.avg_fn(ours, theirs, self.n_averaged.to(ours.device)))
            else:
                update = self.multi_avg_fn or get_swa_multi_avg_fn()
                ours, theirs = [a for a, _ in pairs], [b for _, b in pairs]
                if ours:
                    update(ours, theirs, self.n_averaged)
            if not self.use_buffers:
                for ours, theirs in zip(self.module.buffers(), model.buffers()):
                    ours.detach().copy_(theirs.detach().to(ours.device))
            self.n_averaged += 1


@no_grad()
def update_bn(loader, model, device=None):
    """Computes the running statistics of batch norms anew, over the batches of ``loader``.

    Batches that are lists or tuples count by their first entry.
    """
    norms = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not norms:
        return
    was_training = model.training
    model.train()
    for module in norms:
        module.reset_running_stats()
        module.momentum = None  # equal weight for each batch
    for batch in loader:
        if isinstance(batch, (list, tuple)):
            batch = batch[0]
        model(batch if device is None else batch.to(device))
    for module, momentum in norms.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the present rate to ``swa_lr`` in ``anneal_epochs`` steps, along a cosine or a line, and then on with it."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        for group, rate in zip(optimizer.param_groups, for_each_group(optimizer, "swa_lr", swa_lr)):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step):
        """How much of the way is gone after ``step`` steps."""
        if self.anneal_epochs == 0:
            return 1.0
        x = max(0.0, min(1.0, step / self.anneal_epochs))
        return x if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * x)) / 2

    def get_lr(self):
        """The rates now, one a group."""
        self._warn_outside_step()
        step = self._step_count - 1
        before, now = self._share(max(0, step - 1)), self._share(max(0, step))
        rates = []
        for group in self.optimizer.param_groups:
            # Where it started follows from where it is, so that other schedules may act too.
            start = group["lr"] if before == 1 else (group["lr"] - before * group["swa_lr"]) / (1 - before)
            rates.append(group["swa_lr"] * now + start * (1 - now))
        return rates

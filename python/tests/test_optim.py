"""The protocol of optimisers: groups, hooks, what is saved, what is refused."""

import copy
import pickle
import warnings

import pytest
import rushlight as torch
from rushlight import nn, optim


def _trained(cls=optim.Adam, steps=3, **settings):
    p = nn.Parameter(torch.tensor([1.0, -2.0]))
    optimizer = cls([p], **settings)
    for _ in range(steps):
        optimizer.zero_grad()
        (p * p).sum().backward()
        optimizer.step()
    return p, optimizer


@pytest.mark.parametrize("cls", [optim.Adam, optim.AdamW, optim.RMSprop, optim.NAdam, optim.ASGD, optim.Adagrad])
@pytest.mark.parametrize("how", ["state_dict", "pickle", "deepcopy"])
def test_goes_on_where_it_stopped(cls, how):
    p, optimizer = _trained(cls)
    q = nn.Parameter(p.detach().clone())
    if how == "state_dict":
        other = cls([q])
        other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    elif how == "pickle":
        other = pickle.loads(pickle.dumps(optimizer))
        q = other.param_groups[0]["params"][0]
    else:
        other = copy.deepcopy(optimizer)
        q = other.param_groups[0]["params"][0]
    for x, o in ((p, optimizer), (q, other)):
        o.zero_grad()
        (x * x).sum().backward()
        o.step()
    assert p is not q and p.tolist() == q.tolist()


def test_state_has_the_dtype_of_the_parameter_and_counts_keep_theirs():
    saved = _trained()[1].state_dict()
    q = nn.Parameter(torch.zeros(2, dtype=torch.float64))
    other = optim.Adam([q])
    other.load_state_dict(saved)
    assert other.state[q]["exp_avg"].dtype is torch.float64
    assert other.state[q]["step"].dtype is torch.float32 and other.state[q]["step"].item() == 3


def test_hooks_run_in_order_and_may_change_what_they_see():
    p, optimizer = _trained()
    seen = []
    handles = [
        optim.optimizer.register_optimizer_step_pre_hook(lambda o, a, k: seen.append("all before")),
        optim.optimizer.register_optimizer_step_post_hook(lambda o, a, k: seen.append("all after")),
        optimizer.register_step_pre_hook(lambda o, a, k: seen.append("before")),
        optimizer.register_step_post_hook(lambda o, a, k: seen.append("after")),
    ]
    assert optimizer.step(lambda: (seen.append("loss"), 5)[1]) == 5
    assert seen == ["all before", "before", "loss", "after", "all after"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(seen) == 5
    optimizer.register_state_dict_post_hook(lambda o, s: {**s, "more": 1})
    assert optimizer.state_dict()["more"] == 1
    optimizer.register_load_state_dict_pre_hook(lambda o, s: {k: v for k, v in s.items() if k != "more"})
    optimizer.load_state_dict(optimizer.state_dict())
    optimizer.register_step_pre_hook(lambda o, a, k: 3)
    with pytest.raises(RuntimeError, match="None or a tuple"):
        optimizer.step()


def test_an_optimizer_of_the_users_own_has_hooks_and_schedules():
    class Own(optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 1.0})

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.add_(p.grad, alpha=-group["lr"])

    p = nn.Parameter(torch.ones(2))
    own, seen = Own([p]), []
    own.register_step_post_hook(lambda *a: seen.append(1))
    schedule = optim.lr_scheduler.StepLR(own, 1, 0.5)
    p.sum().backward()
    own.step()
    schedule.step()
    own.step()
    assert p.tolist() == [-0.5, -0.5] and seen == [1, 1]


def test_a_schedule_that_comes_first_is_warned_of():
    _, optimizer = _trained()
    schedule = optim.lr_scheduler.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match="before"):
        schedule.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schedule.step()


def test_a_schedule_goes_on_where_it_stopped():
    def make():
        optimizer = optim.SGD([nn.Parameter(torch.ones(1))], 0.1, momentum=0.9)
        s = optim.lr_scheduler
        return optimizer, s.SequentialLR(optimizer, [s.LinearLR(optimizer, 0.1, total_iters=3), s.CosineAnnealingLR(optimizer, 5)], [3])

    optimizer, schedule = make()
    other, again = make()
    for _ in range(4):
        optimizer.step()
        schedule.step()
    other.load_state_dict(optimizer.state_dict())
    again.load_state_dict(pickle.loads(pickle.dumps(schedule.state_dict())))
    for o, s in ((optimizer, schedule), (other, again)):
        o.step()
        s.step()
    assert schedule.get_last_lr() == again.get_last_lr() and other.param_groups[0]["lr"] == optimizer.param_groups[0]["lr"]


@pytest.mark.parametrize(
    "error, make",
    [
        (TypeError, lambda p: optim.SGD(p)),
        (TypeError, lambda p: optim.SGD([1.0])),
        (ValueError, lambda p: optim.SGD([])),
        (ValueError, lambda p: optim.SGD([p * 2])),
        (ValueError, lambda p: optim.SGD([p], lr=-1)),
        (ValueError, lambda p: optim.SGD([p], nesterov=True)),
        (ValueError, lambda p: optim.Adam([p], betas=(1.0, 0.9))),
        (ValueError, lambda p: optim.Adam([{"params": p}, {"params": [p]}])),
        (TypeError, lambda p: optim.Adam([p]).add_param_group({"params": {p}})),
        (ValueError, lambda p: optim.Adam([p]).load_state_dict({"state": {}, "param_groups": []})),
        (ValueError, lambda p: optim.Muon([p])),
        (ValueError, lambda p: optim.lr_scheduler.OneCycleLR(optim.SGD([p]), 0.1)),
        (TypeError, lambda p: optim.lr_scheduler.StepLR(p, 3)),
        (KeyError, lambda p: optim.lr_scheduler.StepLR(optim.SGD([p]), 3, last_epoch=4)),
        (AttributeError, lambda p: optim.SparseAdam([p])),
    ],
)
def test_what_is_refused(error, make):
    with pytest.raises(error):
        make(nn.Parameter(torch.ones(3)))


def test_gradients_are_dropped_or_filled_with_zeros():
    p, optimizer = _trained()
    optimizer.zero_grad(set_to_none=False)
    assert p.grad.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert p.grad is None
    before = p.tolist()
    optimizer.step()
    assert p.tolist() == before


def test_a_step_can_be_differentiated():
    rate = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    start = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    p = start.clone()
    p.grad = torch.tensor([0.5, -1.0], dtype=torch.float64)
    optimizer = optim.SGD([p], lr=rate, differentiable=True)
    optimizer.step()
    p.sum().backward()
    assert rate.grad.item() == pytest.approx(0.5) and start.grad.tolist() == [1.0, 1.0]


def test_named_parameters_keep_their_names():
    model = nn.Linear(2, 1)
    optimizer = optim.SGD(model.named_parameters(), 0.1)
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]


def test_a_failed_step_changes_nothing():
    p = nn.Parameter(torch.ones(3))
    optimizer = optim.SGD([p], 0.1, momentum=0.9)
    p.sum().backward()
    optimizer.step()
    optimizer.state[p]["momentum_buffer"] = torch.zeros(4)
    before = p.tolist()
    with pytest.raises(RuntimeError, match="shape"):
        optimizer.step()
    assert p.tolist() == before


def test_averages_of_models():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    equal = optim.swa_utils.AveragedModel(model)
    falling = optim.swa_utils.AveragedModel(model, multi_avg_fn=optim.swa_utils.get_ema_multi_avg_fn(0.5))
    for value in (1.0, 2.0, 6.0):
        with torch.no_grad():
            model[0].weight.fill_(value)
        equal.update_parameters(model)
        falling.update_parameters(model)
    assert equal.module[0].weight[0, 0].item() == pytest.approx(3.0)
    assert falling.module[0].weight[0, 0].item() == pytest.approx(3.75)
    assert equal.n_averaged.item() == 3
    batches = [torch.randn(8, 2) for _ in range(4)]
    optim.swa_utils.update_bn(batches, equal)
    out = torch.cat([equal.module[0](b) for b in batches])
    assert torch.allclose(equal.module[1].running_mean, out.mean(0), atol=1e-5)

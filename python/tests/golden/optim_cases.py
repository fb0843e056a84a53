"""Trajectories of optimisers and rates of schedules. ``python optim_cases.py`` writes torch's into optim.json."""

import json
import pathlib
import warnings

#: Optimiser and settings; every flag that changes arithmetic.
OPTIMIZERS = {
    "SGD": [{}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.3}, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}, {"weight_decay": 0.1, "maximize": True}],
    "Adam": [{}, {"amsgrad": True}, {"weight_decay": 0.1}, {"maximize": True, "amsgrad": True}, {"betas": (0.8, 0.9), "eps": 1e-3}, {"weight_decay": 0.1, "decoupled_weight_decay": True}, {"fused": True}],
    "AdamW": [{}, {"amsgrad": True, "weight_decay": 0.2}, {"maximize": True}, {"foreach": True}],
    "RMSprop": [{}, {"momentum": 0.9}, {"centered": True}, {"centered": True, "momentum": 0.5, "weight_decay": 0.1, "maximize": True}],
    "Adagrad": [{}, {"lr_decay": 0.1, "weight_decay": 0.1}, {"initial_accumulator_value": 0.5, "maximize": True}],
    "Adadelta": [{}, {"rho": 0.7, "weight_decay": 0.1}, {"maximize": True}],
    "Adamax": [{}, {"weight_decay": 0.1}, {"maximize": True}],
    "NAdam": [{}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}],
    "RAdam": [{}, {"betas": (0.9, 0.9)}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}, {"maximize": True}],
    "Rprop": [{}, {"etas": (0.4, 1.5), "step_sizes": (0.005, 0.03)}, {"maximize": True}],
    "ASGD": [{}, {"t0": 2, "weight_decay": 0.1}, {"maximize": True, "lambd": 0.1}],
    "LBFGS": [{"max_iter": 4}, {"max_iter": 4, "line_search_fn": "strong_wolfe"}, {"history_size": 2, "line_search_fn": "strong_wolfe"}, {"lr": 0.1, "max_iter": 3, "maximize": True}],
    "Adafactor": [{}, {"weight_decay": 0.1, "beta2_decay": -0.5}, {"maximize": True, "d": 2.0, "eps": (1e-3, 1e-2)}],
    "Muon": [{}, {"adjust_lr_fn": "match_rms_adamw", "nesterov": False, "weight_decay": 0.0}],
}
REAL_ONLY = ("Adafactor", "Muon")

SCHEDULES = {
    "lambda": lambda s, o: s.LambdaLR(o, [lambda e: 0.95**e, lambda e: e // 3]),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda e: 0.9),
    "step": lambda s, o: s.StepLR(o, 3, 0.5),
    "milestones": lambda s, o: s.MultiStepLR(o, [2, 5, 5, 9], 0.5),
    "constant": lambda s, o: s.ConstantLR(o, 0.25, 4),
    "linear": lambda s, o: s.LinearLR(o, 0.25, 0.75, 6),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.8),
    "polynomial": lambda s, o: s.PolynomialLR(o, 8, 2.0),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 5, 0.01),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2, 0.001),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 3, 5),
    "cyclic2": lambda s, o: s.CyclicLR(o, [0.01, 0.02], [0.2, 0.3], 3, mode="triangular2", cycle_momentum=False),
    "cyclic_exp": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 3, mode="exp_range", gamma=0.9),
    "cyclic_own": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 2, scale_fn=lambda x: 1 / (5**x), scale_mode="iterations"),
    "one_cycle": lambda s, o: s.OneCycleLR(o, 0.4, 12),
    "one_cycle_line": lambda s, o: s.OneCycleLR(o, [0.4, 0.2], epochs=3, steps_per_epoch=4, anneal_strategy="linear", pct_start=0.25),
    "one_cycle_three": lambda s, o: s.OneCycleLR(o, 0.4, 14, three_phase=True, div_factor=10.0),
    "sequential": lambda s, o: s.SequentialLR(o, [s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9), s.StepLR(o, 2, 0.5)], [3, 7]),
    "chained": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 4), s.ExponentialLR(o, 0.9)], o),
    "warmup_cosine": lambda s, o: s.SequentialLR(o, [s.LinearLR(o, 0.1, total_iters=4), s.CosineAnnealingLR(o, 6)], [4]),
    "sequential_of_sequential": lambda s, o: s.SequentialLR(o, [s.SequentialLR(o, [s.ConstantLR(o, 0.5, 9), s.StepLR(o, 1, 0.9)], [2]), s.ExponentialLR(o, 0.8)], [6]),
    "plateau": lambda s, o: s.ReduceLROnPlateau(o, patience=1, factor=0.5),
    "plateau_max": lambda s, o: s.ReduceLROnPlateau(o, "max", 0.5, 0, 0.2, "abs", 1, [0.02, 0.03]),
    "swa": lambda s, o: s.SWALR(o, 0.02, 5),
    "swa_line": lambda s, o: s.SWALR(o, [0.02, 0.5], 3, "linear"),
}  # fmt: skip

CASES = [f"{name}:{i}:{kind}" for name, settings in OPTIMIZERS.items() for i in range(len(settings)) for kind in ("real", "single", "complex") if kind != "complex" or name not in REAL_ONLY and "fused" not in settings[i]]
CASES += [f"schedule:{name}" for name in SCHEDULES]


def plain(x):
    return [plain(i) for i in x] if isinstance(x, (list, tuple)) else [x.real, x.imag] if isinstance(x, complex) else x


def trajectory(torch, name, settings, kind):
    dtype = {"real": torch.float64, "single": torch.float32, "complex": torch.complex128}[kind]
    numbers = [[0.5, -1.5, 2.0], [0.25, 3.0, -0.75]]
    params = [torch.nn.Parameter(torch.tensor(numbers, dtype=dtype) * (1 + (0.5j if kind == "complex" else 0)))]
    if name != "Muon":
        params.append(torch.nn.Parameter(torch.tensor([1.0, -2.0, 0.1], dtype=dtype)))
    optimizer = getattr(torch.optim, name)(params, **settings)
    target = torch.tensor([[1.0, 0.0, -1.0], [0.5, 0.5, 2.0]], dtype=dtype)

    def loss():
        optimizer.zero_grad()
        first = params[0] - target
        value = (first * first.conj() * 2).real.sum() + (params[-1] * params[-1].conj()).real.sin().sum()
        (-value if settings.get("maximize") else value).backward()
        return -value if settings.get("maximize") else value

    seen = []
    for step in range(10):
        optimizer.step(loss)
        seen.append([p.detach().tolist() for p in params])
    return plain(seen)


def rates(torch, name):
    params = [torch.nn.Parameter(torch.ones(1)) for _ in range(2)]
    optimizer = torch.optim.SGD([{"params": params[:1]}, {"params": params[1:], "lr": 0.05}], lr=0.1, momentum=0.9)
    schedule = SCHEDULES[name](torch.optim.swa_utils if name.startswith("swa") else torch.optim.lr_scheduler, optimizer)
    losses = [1.0, 0.5, 0.6, 0.6, 0.6, 0.4, 0.7, 0.7, 0.7, 0.7, 0.3]
    seen = []
    for step in range(11):
        seen.append([[g["lr"], g["momentum"]] for g in optimizer.param_groups])
        optimizer.step()
        schedule.step(losses[step]) if name.startswith("plateau") else schedule.step()
    return seen + [list(schedule.get_last_lr())]


def run(torch, case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, *rest = case.split(":")
        if first == "schedule":
            return rates(torch, rest[0])
        return trajectory(torch, first, OPTIMIZERS[first][int(rest[0])], rest[1])


if __name__ == "__main__":
    import torch

    path = pathlib.Path(__file__).with_name("optim.json")
    lines = [f"{json.dumps(case)}: {json.dumps(run(torch, case))}" for case in CASES]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")

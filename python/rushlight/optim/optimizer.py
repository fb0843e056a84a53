"""``Optimizer``: groups of parameters with settings, state of each parameter, hooks, and what is saved of them."""

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from copy import deepcopy
from itertools import chain
from typing import Any, TypeAlias, Union

from .._C import Tensor
from ..utils.hooks import RemovableHandle

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

ParamsT: TypeAlias = Union[Iterable[Tensor], Iterable[dict[str, Any]], Iterable[tuple[str, Tensor]]]

_before_every_step, _after_every_step = OrderedDict(), OrderedDict()


class _RequiredParameter:
    """Stands in ``defaults`` for what every group has to set itself."""

    def __repr__(self):
        return "<required parameter>"


required = _RequiredParameter()


def _hooked(hooks, hook, prepend=False):
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook):
    """Calls ``hook(optimizer, args, kwargs)`` before each step of every optimiser; see ``Optimizer.register_step_pre_hook``."""
    return _hooked(_before_every_step, hook)


def register_optimizer_step_post_hook(hook):
    """Calls ``hook(optimizer, args, kwargs)`` after each step of every optimiser."""
    return _hooked(_after_every_step, hook)


#: An optimiser's own hooks, by the attribute that holds them.
_HOOKS = tuple(
    f"_optimizer_{of}_hooks"
    for of in """step_pre step_post state_dict_pre state_dict_post load_state_dict_pre load_state_dict_post""".split()
)


class Optimizer:
    """Base of all optimisers: subclasses have ``step(closure=None)``.

    ``params`` are tensors, ``(name, tensor)`` pairs, or dicts with ``"params"`` and settings of their
    own; ``defaults`` are the settings where a group says nothing.

    TypeError, ValueError: no parameters, something else than tensors, tensors that are no leaves.
    """

    def __init__(self, params, defaults):
        self.defaults = defaults
        for name in _HOOKS:
            setattr(self, name, OrderedDict())
        self._patch_step_function()
        if isinstance(params, Tensor):
            raise TypeError(f"params must be an iterable of tensors or dicts, not one tensor of shape {tuple(params.shape)}")
        if isinstance(params, set):
            warnings.warn("parameters in a set have another order in every run; use a list", FutureWarning, stacklevel=2)
        self.state, self.param_groups = defaultdict(dict), []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self):
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join(lines) + "\n)"

    # ---- steps and their hooks

    @staticmethod
    def profile_hook_step(func):
        """``func``, a method ``step``, with the hooks of all optimisers and of its own around it."""

        @functools.wraps(func)
        def step(*args, **kwargs):
            self = args[0]
            for hook in chain(_before_every_step.values(), self._optimizer_step_pre_hooks.values()):
                given = hook(self, args, kwargs)
                if given is None:
                    continue
                if not (isinstance(given, tuple) and len(given) == 2):
                    raise RuntimeError(f"{func} must return None or a tuple of (new_args, new_kwargs): a hook gave {given}")
                args, kwargs = given
            out = func(*args, **kwargs)
            self._optimizer_step_code()
            for hook in chain(self._optimizer_step_post_hooks.values(), _after_every_step.values()):
                hook(self, args, kwargs)
            return out

        return step

    def _patch_step_function(self):
        self._zero_grad_profile_name = f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"
        cls = type(self)
        if not getattr(cls.step, "hooked", False):
            cls.step = self.profile_hook_step(cls.step)
            cls.step.hooked = True

    def _optimizer_step_code(self):
        """Called after each step; profilers look for it."""

    def _cuda_graph_capture_health_check(self):
        """There are no graphs of devices to capture."""

    _accelerator_graph_capture_health_check = _cuda_graph_capture_health_check

    def register_step_pre_hook(self, hook):
        """``hook(optimizer, args, kwargs)`` runs before each step; it may give new ``(args, kwargs)``."""
        return _hooked(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """``hook(optimizer, args, kwargs)`` runs after each step."""
        return _hooked(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """``hook(optimizer)`` runs before ``state_dict``."""
        return _hooked(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """``hook(optimizer, state_dict)`` runs after ``state_dict``; what it gives, if anything, is the result."""
        return _hooked(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """``hook(optimizer, state_dict)`` runs before ``load_state_dict``; what it gives, if anything, is loaded."""
        return _hooked(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """``hook(optimizer)`` runs after ``load_state_dict``."""
        return _hooked(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def step(self, closure=None):
        """Changes the parameters once; ``closure`` computes the loss anew. Subclasses say how."""
        raise NotImplementedError

    def zero_grad(self, set_to_none=True):
        """Drops the gradients of all parameters, or fills them with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                grad = p.grad
                if grad is None:
                    continue
                if set_to_none:
                    p.grad = None
                else:
                    if grad.grad_fn is not None:
                        grad.detach_()
                    else:
                        grad.requires_grad_(False)
                    grad.zero_()

    # ---- groups

    def add_param_group(self, param_group):
        """Adds a group: a dict with ``"params"`` and settings that differ from the defaults.

        TypeError: no dict, or something else than leaves in it. ValueError: a parameter that another
        group has, a setting without a default.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, not {type(param_group).__name__}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError("parameters need an order, which a set does not have; use a list")
        params = [params] if isinstance(params, Tensor) else list(params)
        named = [isinstance(p, tuple) for p in params]
        if any(named):
            if not all(named):
                raise ValueError("all optimizer params should be with/without names; some are, some are not")
            param_group["param_names"] = [name for name, _ in params]
            params = [p for _, p in params]
        param_group["params"] = params
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not self.defaults.get("differentiable") and not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor: this one was computed from others")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(set(map(id, params))) != len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error",
                stacklevel=3,
            )
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in known for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        if self.param_groups and ("param_names" in param_group) != ("param_names" in self.param_groups[0]):
            raise ValueError("all optimizer param groups should be with/without names; this one differs from the first")
        self.param_groups.append(param_group)

    # ---- saving and loading

    def state_dict(self):
        """The state, by the parameters' places, and the groups: plain data to save."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        places = {}
        for group in self.param_groups:
            for p in group["params"]:
                places.setdefault(id(p), len(places))
        groups = [
            {**{k: v for k, v in g.items() if k != "params"}, "params": [places[id(p)] for p in g["params"]]}
            for g in self.param_groups
        ]
        state = {places[id(k)] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}
        saved = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            given = hook(self, saved)
            saved = saved if given is None else given
        return saved

    @staticmethod
    def _process_value_according_to_param_policy(param, value, param_id, param_groups, key=None):
        """A tensor of a saved state in the dtype of its parameter; counts of steps keep theirs."""
        if key == "step":
            return value
        return value.to(dtype=param.dtype, device=param.device) if param.is_floating_point() else value.to(param.device)

    def load_state_dict(self, state_dict):
        """Takes over what ``state_dict`` gave.

        ValueError: other numbers of groups or of parameters in them.
        """
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            given = hook(self, state_dict)
            state_dict = state_dict if given is None else given
        groups, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError(
                f"loaded state dict has a different number of parameter groups: {len(saved)}, the optimizer has {len(groups)}"
            )
        for i, (group, other) in enumerate(zip(groups, saved)):
            have, want = len(other["params"]), len(group["params"])
            if have != want:
                raise ValueError(
                    f"loaded state dict contains a parameter group that doesn't match the size of optimizer's group: "
                    f"group {i} has {have} parameters there and {want} here"
                )
        places = (i for g in saved for i in g["params"])
        parameters = dict(zip(places, (p for g in groups for p in g["params"])))

        def fitted(place, param, value, key=None):
            if isinstance(value, Tensor):
                return self._process_value_according_to_param_policy(param, value, place, saved, key)
            if isinstance(value, dict):
                return {k: fitted(place, param, v, k) for k, v in value.items()}
            if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
                return type(value)(fitted(place, param, v) for v in value)
            return value

        state = defaultdict(dict)
        for place, value in state_dict["state"].items():
            param = parameters.get(place)
            if param is None:
                state[place] = value
            else:
                state[param] = fitted(place, param, value)
        for group, other in zip(groups, saved):
            other["params"] = group["params"]
            if "param_names" in group and "param_names" not in other:
                other["param_names"] = group["param_names"]
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

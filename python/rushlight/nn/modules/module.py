"""``Module``: parameters, buffers and other modules under names, and a forward that uses them."""

import functools
from collections import OrderedDict

from ..._C import Tensor
from ..parameter import Buffer, Parameter
from . import _calling, _state
from ._calling import (  # noqa: F401
    _global_backward_hooks,
    _global_backward_pre_hooks,
    _global_buffer_registration_hooks,
    _global_forward_hooks,
    _global_forward_hooks_always_called,
    _global_forward_pre_hooks,
    _global_module_registration_hooks,
    _global_parameter_registration_hooks,
    _has_any_global_hook,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from ._state import _EXTRA_STATE_KEY_SUFFIX, _IncompatibleKeys  # noqa: F401

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]


def _addindent(s_, numSpaces):
    """All lines but the first moved to the right."""
    return ("\n" + " " * numSpaces).join(s_.split("\n"))


def _forward_unimplemented(self, *input):
    """What the module computes; each class says its own."""
    raise NotImplementedError(f"{type(self).__name__}: has no forward method")


#: The dicts of hooks a module has, all empty at first.
_HOOKS = """_backward_pre_hooks _backward_hooks _forward_hooks _forward_hooks_with_kwargs _forward_hooks_always_called
    _forward_pre_hooks _forward_pre_hooks_with_kwargs _state_dict_hooks _state_dict_pre_hooks _load_state_dict_pre_hooks
    _load_state_dict_post_hooks""".split()


class Module:
    """What all layers, losses and models derive from.

    A tensor of class ``Parameter`` that is set as an attribute becomes a parameter, a module becomes a child;
    other tensors are buffers when ``register_buffer`` makes them so. Calling a module runs ``forward`` and its hooks.
    """

    dump_patches = False
    #: Changes when a class keeps its state in another way than before.
    _version = 1
    training = True
    #: Whether ``Module.__init__`` passes its arguments on to the next class.
    call_super_init = False
    _compiled_call_impl = None

    def __init__(self, *args, **kwargs):
        if self.call_super_init is False and (args or kwargs):
            what = repr(next(iter(kwargs))) if kwargs else f"{len(args)} arguments"
            raise TypeError(f"{type(self).__name__}: Module.__init__ takes no arguments, got {what}")
        names = self.__dict__
        names["training"] = True
        names["_parameters"] = {}
        names["_buffers"] = {}
        names["_non_persistent_buffers_set"] = set()
        for hooks in _HOOKS:
            names[hooks] = OrderedDict()
        names["_is_full_backward_hook"] = None
        names["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    forward = _forward_unimplemented

    # --- Calling ---

    def __call__(self, *args, **kwargs):
        if (
            self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks
            or _global_forward_hooks or _global_forward_pre_hooks or _global_backward_hooks or _global_backward_pre_hooks
        ):  # fmt: skip
            return _calling.call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    _wrapped_call_impl = _call_impl = __call__

    def _slow_forward(self, *input, **kwargs):
        return self.forward(*input, **kwargs)

    def compile(self, *args, **kwargs):
        """Nothing to do: there is no compiler, and the module runs as it is."""

    def apply(self, fn):
        """Calls ``fn`` with every module inside, the innermost first, then with this one. Gives the module."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    # --- What it has ---

    def _room(self, kind, name, value, wanted):
        """Checks that `name` may be registered."""
        if "_" + kind + "s" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__}: cannot hold a {kind} before Module.__init__ has run; call super().__init__()")
        if not isinstance(name, str):
            raise TypeError(f"register_{kind}: a name is a str, not {type(name).__name__}")
        if "." in name:
            raise KeyError(f"register_{kind}: a name cannot contain '.', got {name!r}")
        if name == "":
            raise KeyError(f"register_{kind}: a name cannot be empty")
        if hasattr(self, name) and name not in self.__dict__["_" + kind + "s"]:
            raise KeyError(f"register_{kind}: there is an attribute {name!r} already")
        if value is not None and not isinstance(value, wanted):
            raise TypeError(f"register_{kind}: {name!r} must be a {wanted.__name__} or None, not {type(value).__name__}")

    def register_parameter(self, name, param):
        """Adds a parameter, or None to keep its place."""
        self._room("parameter", name, param, Parameter)
        if param is not None and not param.is_leaf:
            raise ValueError(
                f"register_parameter: {name!r} was computed from other tensors; a parameter is a leaf. "
                "Compute such a value in forward() instead"
            )
        for hook in _global_parameter_registration_hooks.values():
            answer = hook(self, name, param)
            param = param if answer is None else answer
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Adds a tensor that is no parameter but moves, and is saved if ``persistent``, with the module."""
        self._room("buffer", name, tensor, Tensor)
        for hook in _global_buffer_registration_hooks.values():
            answer = hook(self, name, tensor)
            tensor = tensor if answer is None else answer
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name, module):
        """Adds a child, or None to keep its place."""
        self._room("module", name, module, Module)
        for hook in _global_module_registration_hooks.values():
            answer = hook(self, name, module)
            module = module if answer is None else answer
        self._modules[name] = module

    def register_module(self, name, module):
        """As ``add_module``."""
        self.add_module(name, module)

    def __getattr__(self, name):
        names = self.__dict__
        for kind in ("_parameters", "_buffers", "_modules"):
            held = names.get(kind)
            if held is not None and name in held:
                return held[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def __setattr__(self, name, value):
        names = self.__dict__
        parameters, modules, buffers = names.get("_parameters"), names.get("_modules"), names.get("_buffers")
        tensor = isinstance(value, Tensor)
        if tensor and isinstance(value, Parameter):
            self._forget(name, ("_buffers", "_modules"))
            self.register_parameter(name, value)
        elif parameters is not None and name in parameters:
            if value is not None:
                raise TypeError(f"{name!r} is a parameter; it can become another Parameter or None, not {type(value).__name__}")
            self.register_parameter(name, None)
        elif isinstance(value, Module):
            if modules is None:
                raise AttributeError(f"{type(self).__name__}: cannot hold a module before Module.__init__ has run; call super().__init__()")
            self._forget(name, ("_parameters", "_buffers"))
            for hook in _global_module_registration_hooks.values():
                answer = hook(self, name, value)
                value = value if answer is None else answer
            modules[name] = value
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(f"{name!r} is a module; it can become another Module or None, not {type(value).__name__}")
            modules[name] = None
        elif tensor and isinstance(value, Buffer) or buffers is not None and name in buffers:
            if value is not None and not tensor:
                raise TypeError(f"{name!r} is a buffer; it can become another Tensor or None, not {type(value).__name__}")
            if tensor and isinstance(value, Buffer) and not (buffers is not None and name in buffers):
                self._forget(name, ("_parameters", "_modules"))
                self.register_buffer(name, value, getattr(value, "persistent", True))
            else:
                for hook in _global_buffer_registration_hooks.values():
                    answer = hook(self, name, value)
                    value = value if answer is None else answer
                buffers[name] = value
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name, kinds):
        """Another thing of this name gives way."""
        self.__dict__.pop(name, None)
        for kind in kinds:
            self.__dict__.get(kind, {}).pop(name, None)
        self.__dict__.get("_non_persistent_buffers_set", set()).discard(name)

    def __delattr__(self, name):
        for kind in ("_parameters", "_buffers", "_modules"):
            held = self.__dict__.get(kind, {})
            if name in held:
                del held[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers}
        return sorted(name for name in names if not name[:1].isdigit())

    def __getstate__(self):
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        # Modules that were pickled by an earlier version lack some.
        for hooks in _HOOKS:
            self.__dict__.setdefault(hooks, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    # --- Finding things by name ---

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        """Names and members that ``get_members_fn`` lists for each module, each member once."""
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, member in get_members_fn(module):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield (f"{path}.{name}" if path else name), member

    def parameters(self, recurse=True):
        """Every parameter, once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """Names and parameters, those of children too."""
        yield from self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        """Every buffer, once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """Names and buffers, those of children too."""
        yield from self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def children(self):
        """The modules right below, each once."""
        for _, module in self.named_children():
            yield module

    def named_children(self):
        """Names and modules right below, each module once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate=True):
        """This module and all below, each once."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """Paths and modules: this one (of path ``prefix``) and all below."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def get_submodule(self, target):
        """The module at the path ``target``; the empty one is this. AttributeError: there is none."""
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"get_submodule: {type(module).__name__} has no attribute {name!r} (in {target!r})")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"get_submodule: {name!r} (in {target!r}) is no Module but {type(module).__name__}")
        return module

    def set_submodule(self, target, module, strict=False):
        """Puts ``module`` at a path. ``strict``: AttributeError unless there is a module there now."""
        if target == "":
            raise ValueError("set_submodule: the empty path is this module itself, which cannot be replaced")
        if not isinstance(module, Module):
            raise ValueError(f"set_submodule: takes a Module, not {type(module).__name__}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"set_submodule: {type(parent).__name__} has no attribute {name!r}")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"set_submodule: {name!r} (in {target!r}) is no Module")
        setattr(parent, name, module)

    def _get(self, target, kind, fits):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"get_{kind}: {type(module).__name__} has no attribute {name!r}")
        found = getattr(module, name)
        if not fits(module, name, found):
            raise AttributeError(f"get_{kind}: {name!r} is no {kind}")
        return found

    def get_parameter(self, target):
        """The parameter at a path. AttributeError: there is none."""
        return self._get(target, "parameter", lambda module, name, x: isinstance(x, Parameter))

    def get_buffer(self, target):
        """The buffer at a path. AttributeError: there is none."""
        return self._get(target, "buffer", lambda module, name, x: name in module._buffers)

    # --- Saving ---

    T_destination = None

    def get_extra_state(self):
        """State beside parameters and buffers, for classes that define this; anything that pickles."""
        raise RuntimeError(f"{type(self).__name__}: defines set_extra_state, so it needs get_extra_state too")

    def set_extra_state(self, state):
        """Takes back what ``get_extra_state`` gave."""
        raise RuntimeError(f"{type(self).__name__}: defines get_extra_state, so it needs set_extra_state too")

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        _state.save_to_state_dict(self, destination, prefix, keep_vars)

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """All parameters and persistent buffers by name, in an OrderedDict: they share memory with the module.

        ``keep_vars``: the parameters themselves instead of detached tensors.
        """
        return _state.state_dict(self, args, destination, prefix, keep_vars)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        _state.load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies a state's tensors into the module's, by name; gives the missing and the unexpected keys.

        ``strict``: such keys are a RuntimeError, as are other shapes in any case. ``assign``: the state's tensors
        take the place of the module's, with their dtypes and devices.
        """
        return _state.load_state_dict(self, state_dict, strict, assign)

    def register_state_dict_post_hook(self, hook):
        """Calls ``hook(module, state_dict, prefix, local_metadata)`` after ``state_dict``; it changes the state in place."""
        hook._from_public_api = True
        return _calling.add(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook):
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("_register_state_dict_hook: the hook is registered as a post hook already")
        return _calling.add(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook):
        """Calls ``hook(module, prefix, keep_vars)`` before ``state_dict``."""
        return _calling.add(self._state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return _calling.add(self._load_state_dict_pre_hooks, functools.partial(hook, self) if with_module else hook)

    def register_load_state_dict_pre_hook(self, hook):
        """Calls ``hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)`` before loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook):
        """Calls ``hook(module, incompatible_keys)`` after loading; it may change the lists of keys."""
        return _calling.add(self._load_state_dict_post_hooks, hook)

    # --- Hooks around calls ---

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Calls ``hook(module, args)`` before forward; arguments it gives take their place.

        ``with_kwargs``: the hook takes ``(module, args, kwargs)`` and gives ``(args, kwargs)`` or None.
        """
        handle = _calling.add(self._forward_pre_hooks, hook, *([self._forward_pre_hooks_with_kwargs] if with_kwargs else ()))
        if prepend:
            self._forward_pre_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Calls ``hook(module, args, output)`` after forward; an output it gives takes its place.

        ``with_kwargs``: the hook takes ``(module, args, kwargs, output)``. ``always_call``: also after an exception.
        """
        marks = [self._forward_hooks_with_kwargs] * bool(with_kwargs) + [self._forward_hooks_always_called] * bool(always_call)
        handle = _calling.add(self._forward_hooks, hook, *marks)
        if prepend:
            self._forward_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Calls ``hook(module, grad_output)`` before backward; gradients it gives take their place."""
        handle = _calling.add(self._backward_pre_hooks, hook)
        if prepend:
            self._backward_pre_hooks.move_to_end(handle.id, last=False)
        return handle

    def _backward_kind(self, full):
        if self._is_full_backward_hook is not None and self._is_full_backward_hook != full:
            raise RuntimeError(f"{type(self).__name__}: full and plain backward hooks cannot be mixed on one module")
        self._is_full_backward_hook = full

    def register_full_backward_hook(self, hook, prepend=False):
        """Calls ``hook(module, grad_input, grad_output)`` once the gradients of all inputs are known.

        Both are tuples, with None where there is no tensor; a tuple it gives replaces the gradients of the inputs.
        """
        self._backward_kind(True)
        handle = _calling.add(self._backward_hooks, hook)
        if prepend:
            self._backward_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_backward_hook(self, hook):
        """As ``register_full_backward_hook``, but the gradients are those of the last step only. Deprecated."""
        self._backward_kind(False)
        return _calling.add(self._backward_hooks, hook)

    def _get_backward_hooks(self):
        return _calling.backward_hooks(self)

    def _get_backward_pre_hooks(self):
        return [*_global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]

    def _maybe_warn_non_full_backward_hook(self, inputs, result, grad_fn):
        _calling.maybe_warn_non_full_backward_hook(self, inputs, result, grad_fn)

    # --- Moving and converting ---

    from ._moving import (  # noqa: F401
        _apply,
        to,
        cpu,
        cuda,
        _elsewhere,
        xpu,
        ipu,
        mtia,
        type,
        _floats,
        float,
        double,
        half,
        bfloat16,
        to_empty,
        share_memory,
    )

    # --- Modes and gradients ---

    def train(self, mode=True):
        """Training mode, or evaluation mode, of this module and all below."""
        if not isinstance(mode, bool):
            raise ValueError(f"train: mode must be True or False, not {mode!r}")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self):
        """Evaluation mode."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Whether parameters require a gradient from now on."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Gradients become None, or zeros in place."""
        for parameter in self.parameters():
            grad = parameter.grad
            if grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                grad.detach_() if grad.grad_fn is not None else grad.requires_grad_(False)
                grad.zero_()

    def _replicate_for_data_parallel(self):
        copy = self.__new__(type(self))
        copy.__dict__ = self.__dict__.copy()
        copy._parameters, copy._buffers, copy._modules = {}, self._buffers.copy(), self._modules.copy()
        return copy

    # --- Showing ---

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """What ``repr`` shows beside the children."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        below = [f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()]
        if len(lines) + len(below) == 0 or not below and len(lines) == 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join([*lines, *below]) + "\n)"


_IncompatibleKeys.__module__ = __name__

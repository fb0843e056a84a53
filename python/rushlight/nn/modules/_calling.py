"""How a module with hooks is called, and the hooks that all modules share."""

import warnings
from collections import OrderedDict

from ..._C import Tensor, is_grad_enabled
from ...utils.hooks import BackwardHook, RemovableHandle

_global_backward_pre_hooks = OrderedDict()
_global_backward_hooks = OrderedDict()
_global_forward_pre_hooks = OrderedDict()
_global_forward_hooks = OrderedDict()
_global_forward_hooks_always_called = OrderedDict()
_global_forward_hooks_with_kwargs = OrderedDict()
_global_buffer_registration_hooks = OrderedDict()
_global_module_registration_hooks = OrderedDict()
_global_parameter_registration_hooks = OrderedDict()

#: Whether the global backward hooks are full ones; None while there are none.
_full = {"global": None}


def _has_any_global_hook():
    return bool(
        _global_backward_pre_hooks or _global_backward_hooks or _global_forward_pre_hooks or _global_forward_hooks
        or _global_forward_hooks_always_called or _global_forward_hooks_with_kwargs
    )  # fmt: skip


def add(hooks, hook, *marks):
    """Puts a hook into a dict, and its number into each of ``marks``."""
    handle = RemovableHandle(hooks, extra_dict=list(marks))
    hooks[handle.id] = hook
    for mark in marks:
        mark[handle.id] = True
    return handle


def register_module_buffer_registration_hook(hook):
    """Calls ``hook(module, name, buffer)`` whenever a module gets a buffer; what it gives takes its place."""
    return add(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook):
    """Calls ``hook(module, name, submodule)`` whenever a module gets a module; what it gives takes its place."""
    return add(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook):
    """Calls ``hook(module, name, param)`` whenever a module gets a parameter; what it gives takes its place."""
    return add(_global_parameter_registration_hooks, hook)


def register_module_forward_pre_hook(hook):
    """Calls ``hook(module, args)`` before any module's forward; arguments it gives take their place."""
    return add(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Calls ``hook(module, args, output)`` after any module's forward; an output it gives takes its place.

    ``with_kwargs``: the hook takes ``(module, args, kwargs, output)``. ``always_call``: also after an exception.
    """
    marks = [_global_forward_hooks_with_kwargs] * bool(with_kwargs) + [_global_forward_hooks_always_called] * bool(always_call)
    return add(_global_forward_hooks, hook, *marks)


def _global_kind(full):
    if _global_backward_hooks and _full["global"] is not None and _full["global"] != full:
        raise RuntimeError("module backward hooks: full and plain ones cannot be mixed; remove the others first")
    _full["global"] = full


def register_module_backward_hook(hook):
    """As ``register_module_full_backward_hook``, but the gradients are those of the last step only. Deprecated."""
    _global_kind(False)
    return add(_global_backward_hooks, hook)


def register_module_full_backward_pre_hook(hook):
    """Calls ``hook(module, grad_output)`` before any module's backward; gradients it gives take their place."""
    return add(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook):
    """Calls ``hook(module, grad_input, grad_output)`` after any module's backward."""
    _global_kind(True)
    return add(_global_backward_hooks, hook)


def backward_hooks(module):
    """The hooks that apply to a module: full ones, then plain ones."""
    full, plain = [], []
    for hooks, is_full in ((_global_backward_hooks, _full["global"]), (module._backward_hooks, module._is_full_backward_hook)):
        (full if is_full is True else plain).extend(hooks.values())
    return full, plain


def first_tensor(result):
    """A tensor among results, where plain backward hooks hang."""
    while not isinstance(result, Tensor):
        if isinstance(result, dict):
            result = next((v for v in result.values() if isinstance(v, Tensor)), None)
        elif isinstance(result, (tuple, list)) and result:
            result = result[0]
        else:
            return None
        if result is None:
            return None
    return result


def maybe_warn_non_full_backward_hook(module, inputs, result, grad_fn):
    """Plain backward hooks see one step of the graph; says so where a module has more."""
    results = (result,) if isinstance(result, Tensor) else result
    inputs = (inputs,) if isinstance(inputs, Tensor) else inputs
    simple = lambda xs: isinstance(xs, tuple) and all(isinstance(x, Tensor) for x in xs)  # noqa: E731
    if not (simple(results) and simple(inputs)):
        why = "there are arguments or results that are no tensors"
    elif len({t.grad_fn for t in results}) > 1:
        why = "the results come from several steps"
    else:
        wanted = {t.grad_fn for t in inputs if t.grad_fn is not None}
        reached = {step for step, _ in grad_fn.next_functions}
        if wanted <= reached:
            return
        why = "forward takes several steps"
    warnings.warn(
        f"register_backward_hook: {why}, so the hook does not see the gradients of all inputs; "
        "use register_full_backward_hook",
        FutureWarning,
        stacklevel=2,
    )


def _before(module, args, kwargs):
    marked = module._forward_pre_hooks_with_kwargs
    for number, hook in (*_global_forward_pre_hooks.items(), *module._forward_pre_hooks.items()):
        if number in marked:
            answer = hook(module, args, kwargs)
            if answer is None:
                continue
            if not (isinstance(answer, tuple) and len(answer) == 2):
                raise RuntimeError(f"forward pre-hook: with_kwargs it gives None or (args, kwargs), not {answer!r}")
            args, kwargs = answer
        else:
            answer = hook(module, args)
            if answer is not None:
                args = answer if isinstance(answer, tuple) else (answer,)
    return args, kwargs


def _after(module, args, kwargs, result, called):
    for number, hook in (*_global_forward_hooks.items(), *module._forward_hooks.items()):
        if number in module._forward_hooks_always_called or number in _global_forward_hooks_always_called:
            called.add(number)
        if number in module._forward_hooks_with_kwargs or number in _global_forward_hooks_with_kwargs:
            answer = hook(module, args, kwargs, result)
        else:
            answer = hook(module, args, result)
        if answer is not None:
            result = answer
    return result


def _after_error(module, args, kwargs, called):
    """The hooks that are always called and were not yet; their own errors are told as warnings."""
    for hooks, always, named in (
        (_global_forward_hooks, _global_forward_hooks_always_called, _global_forward_hooks_with_kwargs),
        (module._forward_hooks, module._forward_hooks_always_called, module._forward_hooks_with_kwargs),
    ):
        for number, hook in list(hooks.items()):
            if number not in always or number in called:
                continue
            try:
                hook(module, args, kwargs, None) if number in named else hook(module, args, None)
            except Exception as error:
                warnings.warn(f"forward hook with always_call raised an error, which is dropped for the first one: {error}", stacklevel=2)


def call_with_hooks(module, args, kwargs):
    """``module.forward`` with every hook that is there around it."""
    called = set()
    try:
        args, kwargs = _before(module, args, kwargs)
        full, plain = backward_hooks(module)
        before = [*_global_backward_pre_hooks.values(), *module._backward_pre_hooks.values()]
        gate = BackwardHook(module, full, before) if full or before else None
        if gate is not None:
            args = gate.setup_input_hook(args)
        result = module.forward(*args, **kwargs)
        result = _after(module, args, kwargs, result, called)
        if gate is not None:
            if not isinstance(result, (Tensor, tuple)):
                warnings.warn("full backward hooks: the result is neither a tensor nor a tuple of them, so no hook is called", stacklevel=3)
            result = gate.setup_output_hook(result)
        if plain and is_grad_enabled():
            seen = first_tensor(result)
            step = None if seen is None else seen.grad_fn
            if step is not None:
                for hook in plain:
                    step.register_hook(lambda gi, go, hook=hook: hook(module, gi, go))
                maybe_warn_non_full_backward_hook(module, args, result, step)
        return result
    except Exception:
        _after_error(module, args, kwargs, called)
        raise

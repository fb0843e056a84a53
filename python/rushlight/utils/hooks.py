"""Handles of hooks, and the hooks that surround a module's backward."""

import weakref
from collections import OrderedDict

from .. import _C
from .._C import Tensor

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


class _AnyHandle(type):
    """The handles that tensors give are handles too."""

    def __instancecheck__(cls, x):
        return type.__instancecheck__(cls, x) or isinstance(x, _C.RemovableHandle)


class RemovableHandle(metaclass=_AnyHandle):
    """Takes a hook out of its dict by ``remove()``, or at the end of a ``with`` block.

    ``extra_dict``: one more dict, or several, that may have an entry of the same number.
    """

    next_id = 0

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        extra = [] if extra_dict is None else extra_dict if isinstance(extra_dict, list) else [extra_dict]
        self.extra_dict_ref = tuple(weakref.ref(d) for d in extra)

    def remove(self):
        """Removes the hook; nothing happens the second time."""
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self):
        return (self.hooks_dict_ref(), self.id, tuple(reference() for reference in self.extra_dict_ref))

    def __setstate__(self, state):
        hooks, self.id, extra = state
        # A dict that nobody else has is kept by nobody: the handle of a copy alone removes nothing.
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks is None else hooks)
        self.extra_dict_ref = tuple(weakref.ref(OrderedDict() if d is None else d) for d in extra)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


def unserializable_hook(f):
    """Marks a hook that pickle should warn of."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor):
    """Warns of hooks of a tensor that pickle would lose: those here are kept beside it, so never."""


def _gate(name):
    """A step of the graph that passes tensors on, for hooks to hang on."""
    from ..autograd import Function

    def forward(ctx, *tensors):
        ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
        return tuple(t.view_as(t) for t in tensors)

    def backward(ctx, *grads):
        return grads

    body = {"forward": staticmethod(forward), "backward": staticmethod(backward), "__doc__": "Passes tensors on."}
    return type(name, (Function,), body)


_GATES = []


class BackwardHook:
    """Calls the backward hooks of one call of a module, with the gradients of all its inputs and outputs.

    ``user_hooks(module, grad_inputs, grad_outputs)`` may give other gradients of the inputs,
    ``user_pre_hooks(module, grad_outputs)`` of the outputs. What is no tensor has None for a gradient.
    """

    def __init__(self, module, user_hooks, user_pre_hooks):
        self.module, self.user_hooks, self.user_pre_hooks = module, user_hooks, user_pre_hooks
        self.grad_outputs = None
        self.places_in = self.places_out = None
        self.count_in = self.count_out = -1

    def _through_gate(self, install, args):
        places = [k for k, x in enumerate(args) if isinstance(x, Tensor)]
        tensors = [args[k] for k in places]
        if not (_C.is_grad_enabled() and any(t.requires_grad for t in tensors)):
            return args, None
        if not _GATES:
            _GATES.append(_gate("BackwardHookFunction"))
        passed = _GATES[0].apply(*tensors)
        nodes = [t.grad_fn for t in passed if t.grad_fn is not None]
        install(nodes[0])
        args = list(args)
        for k, t in zip(places, passed):
            args[k] = t
        return tuple(args), places

    @staticmethod
    def _spread(places, grads, count):
        full = [None] * count
        for k, g in zip(places, grads):
            full[k] = g
        return tuple(full)

    @staticmethod
    def _replaced(given, count, what):
        """A hook's answer as a tuple of the right length."""
        given = given if isinstance(given, tuple) else (given,)
        if len(given) != count:
            raise RuntimeError(f"backward hook: gives {len(given)} gradients of {what}, of which there are {count}")
        return given

    def setup_input_hook(self, args):
        """The arguments as the module shall see them; their gradients come to the hooks."""

        def hook(grads, _):
            if self.grad_outputs is None:
                # Backward went through the inputs only, by way of another module.
                return None
            full = self._spread(self.places_in, grads, self.count_in)
            changed = False
            for user in self.user_hooks:
                answer = user(self.module, full, self.grad_outputs)
                if answer is not None:
                    full, changed = self._replaced(answer, self.count_in, "the inputs"), True
            self.grad_outputs = None
            return tuple(full[k] for k in self.places_in) if changed else None

        args, self.places_in = self._through_gate(lambda node: node.register_hook(hook), args)
        self.count_in = len(args)
        return args

    def setup_output_hook(self, args):
        """The results as the caller shall see them."""

        def hook(grads):
            full = self._spread(self.places_out, grads, self.count_out)
            for user in self.user_pre_hooks:
                answer = user(self.module, full)
                if answer is not None:
                    full = self._replaced(answer, self.count_out, "the outputs")
            self.grad_outputs = full
            if self.places_in is None:
                # No input has a gradient, so this is the end.
                nothing = (None,) * max(self.count_in, 0)
                for user in self.user_hooks:
                    answer = user(self.module, nothing, full)
                    if answer is not None and any(g is not None for g in self._replaced(answer, len(nothing), "the inputs")):
                        raise RuntimeError("backward hook: no input of the module requires grad, so none can be replaced")
                self.grad_outputs = None
            return tuple(full[k] for k in self.places_out)

        single = not isinstance(args, tuple)
        args, self.places_out = self._through_gate(lambda node: node.register_prehook(hook), (args,) if single else args)
        self.count_out = len(args)
        return args[0] if single else args

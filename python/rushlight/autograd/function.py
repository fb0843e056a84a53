"""Functions of one's own: a forward and a backward."""

import functools

from .. import _C


class FunctionCtx(_C._Context):
    """What a forward leaves for its backward; attributes may be set freely."""

    _to_save = _dirty = _still = ()
    _gaps = ()
    _materialize = True
    needs_input_grad = ()

    def save_for_backward(self, *tensors):
        """Keeps tensors (or None) for ``saved_tensors``; in-place changes to them are noticed there."""
        self._to_save = tensors
        self._gaps = tuple(t is None for t in tensors)

    def save_for_forward(self, *tensors):
        """Accepted; forward mode is not part of rushlight."""

    def mark_dirty(self, *args):
        """Says that these inputs were changed in place; they must be returned."""
        self._dirty = args

    def mark_non_differentiable(self, *args):
        """Says that no gradient flows through these results."""
        self._still = args

    def set_materialize_grads(self, value):
        """Whether backward gets zeros (the default) or None for results without a gradient."""
        self._materialize = bool(value)

    @property
    def saved_tensors(self):
        """What was saved. RuntimeError: changed in place since, or freed by an earlier backward."""
        saved = iter(self._saved())
        return tuple(None if gap else next(saved, None) for gap in self._gaps)

    def _forget(self):
        """The graph has taken over what was marked."""
        for name in ("_to_save", "_dirty", "_still"):
            self.__dict__.pop(name, None)

    def name(self):
        return self._function.__name__ + "Backward"

    @property
    def next_functions(self):
        node = self._node()
        return () if node is None else node.next_functions

    @property
    def metadata(self):
        return self._node().metadata

    def register_hook(self, hook):
        return self._node().register_hook(hook)

    def register_prehook(self, hook):
        return self._node().register_prehook(hook)

    def _forward(self, *args):
        function = self._function
        if function.setup_context is Function.setup_context:
            return function.forward(self, *args)
        result = function.forward(*args)
        function.setup_context(self, args, result)
        return result

    def _backward(self, *grads):
        function = self._function
        if function.vjp is not Function.vjp:
            if function.backward is not Function.backward:
                raise RuntimeError(f"{function.__name__}: defines both backward and vjp; one of them is enough")
            return function.vjp(self, *grads)
        return function.backward(self, *grads)


class _Refusal:
    """Stands where torch once took instances."""

    def __call__(self, *args, **kwargs):
        raise RuntimeError(f"{type(self).__name__}: an instance cannot be called; call {type(self).__name__}.apply(...)")


class Function(_Refusal):
    """A differentiable op of one's own: define static ``forward`` and ``backward``, call ``apply``.

    ``forward(ctx, *args)`` computes without recording; or ``forward(*args)`` together with
    ``setup_context(ctx, inputs, output)``. ``backward(ctx, *grads)`` gives one gradient, or None, for
    each argument of forward.
    """

    def __init__(self, *args, **kwargs):
        import warnings

        warnings.warn(f"{type(self).__name__} should not be instantiated; call its apply(...)", DeprecationWarning, stacklevel=2)

    @staticmethod
    def forward(*args, **kwargs):
        """Computes the results."""
        raise NotImplementedError("Function: define a static forward")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Keeps what backward needs, where forward takes no ctx."""
        raise NotImplementedError("Function: define setup_context, or let forward take ctx")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """The gradients of the arguments."""
        raise NotImplementedError("Function: define a static backward (or vjp) to differentiate through this function")

    @staticmethod
    def vjp(ctx, *grad_outputs):
        """Another name of ``backward``."""
        raise NotImplementedError("Function: define backward or vjp")

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """Forward mode is not part of rushlight."""
        raise NotImplementedError("Function: forward mode is not supported")

    @classmethod
    def apply(cls, *args, **kwargs):
        """Calls forward and records the call."""
        if kwargs:
            args = _positional(cls, args, kwargs)
        if not isinstance(_static(cls, "forward"), (staticmethod, classmethod)):
            raise RuntimeError(f"{cls.__name__}: forward must be a static method (put @staticmethod above it)")
        context = FunctionCtx()
        context._function = cls
        return _C._apply(cls.__name__ + "Backward", context, args)


def _positional(cls, args, kwargs):
    """Arguments given by name, at their places in forward's signature."""
    import inspect

    names = list(inspect.signature(cls.forward).parameters)
    names = names[0 if cls.setup_context is not Function.setup_context else 1 :]
    args, left = list(args), dict(kwargs)
    for name in names[len(args) :]:
        if not left:
            break
        if name not in left:
            raise TypeError(f"{cls.__name__}: forward needs its argument {name} where later ones are given")
        args.append(left.pop(name))
    if left:
        raise TypeError(f"{cls.__name__}: forward has no argument {next(iter(left))} that is not given already")
    return tuple(args)


def _static(cls, name):
    for c in cls.__mro__:
        if name in c.__dict__:
            return c.__dict__[name]


class InplaceFunction(Function):
    """As ``Function``; torch's name for functions with an ``inplace`` argument."""


class _Once(Function):
    """Passes gradients on; refuses to be differentiated."""

    @staticmethod
    def forward(ctx, count, *tensors):
        results = tuple(None if t is None else t.detach() for t in tensors[:count])
        return results

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError("once_differentiable: this backward was marked as not differentiable; it cannot be differentiated a second time")


def once_differentiable(function):
    """For ``backward``: it runs without recording, and differentiating its result is a RuntimeError."""

    @functools.wraps(function)
    def run(ctx, *args):
        recording = _C.is_grad_enabled()
        before = _C._set_modes(False, _C.is_inference_mode_enabled())
        try:
            given = function(ctx, *args)
        finally:
            _C._set_modes(*before)
        inputs = [a for a in args if isinstance(a, _C.Tensor) and a.requires_grad]
        if not recording or not inputs:
            return given
        single = not isinstance(given, tuple)
        parts = (given,) if single else given
        marked = _Once.apply(len(parts), *parts, *inputs)
        return marked[0] if single else marked

    return run

"""Whether ops are recorded: context managers that are decorators too."""

import functools

from .. import _C

_GENERATOR = 0x20  # the flag of a generator function's code


class _Mode:
    """Holds a mode for a ``with`` block, or for the calls of a function, class or generator it decorates."""

    def __enter__(self):
        # One object may be entered again before it is left.
        self.__dict__.setdefault("_before", []).append(_C._set_modes(*self._wanted()))
        return self

    def __exit__(self, *exc):
        _C._set_modes(*self._before.pop())

    def __call__(self, function):
        if isinstance(function, type):
            function.__init__ = self(function.__init__)
            return function
        code = getattr(function, "__code__", None)
        if code is not None and code.co_flags & _GENERATOR:
            return self._generator(function)

        @functools.wraps(function)
        def run(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)

        return run

    def clone(self):
        """Another object of the same mode."""
        return type(self)()

    def _generator(self, function):
        """The mode holds while the generator runs, not while its caller does."""

        @functools.wraps(function)
        def run(*args, **kwargs):
            with self.clone():
                generator = function(*args, **kwargs)
            resume, sent = generator.send, None
            while True:
                try:
                    with self.clone():
                        value = resume(sent)
                except StopIteration as end:
                    return end.value
                try:
                    resume, sent = generator.send, (yield value)
                except GeneratorExit:
                    with self.clone():
                        generator.close()
                    raise
                except BaseException as error:
                    resume, sent = generator.throw, error

        return run


class _Plain(_Mode):
    """A mode without arguments: ``@no_grad`` works as ``@no_grad()`` does."""

    def __new__(cls, function=None):
        self = super().__new__(cls)
        return self if function is None else self(function)


class no_grad(_Plain):
    """Ops are not recorded."""

    def _wanted(self):
        return False, _C.is_inference_mode_enabled()


class enable_grad(_Plain):
    """Ops are recorded, also inside ``no_grad``."""

    def _wanted(self):
        return True, _C.is_inference_mode_enabled()


class set_grad_enabled(_Mode):
    """Recording is on or off: at once when called as a function, else until the end of the block."""

    def __init__(self, mode):
        self.mode = bool(mode)
        self._before = [_C._set_modes(self.mode, _C.is_inference_mode_enabled())]

    def __enter__(self):
        # The mode holds since the object was made; what was before then is put back.
        if not self._before:
            self._before.append(_C._set_modes(self.mode, _C.is_inference_mode_enabled()))
        return self

    def __call__(self, function):
        _C._set_modes(*self._before.pop())  # a decorator changes nothing by itself
        return super().__call__(function)

    def clone(self):
        return enable_grad() if self.mode else no_grad()

    def __repr__(self):
        return f"set_grad_enabled(mode={self.mode})"


class inference_mode(_Mode):
    """Nothing is recorded, and tensors made here never can be."""

    def __new__(cls, mode=True):
        self = super().__new__(cls)
        return self if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode=True):
        self.mode = mode

    def _wanted(self):
        return not self.mode, self.mode

    def clone(self):
        return type(self)(self.mode)

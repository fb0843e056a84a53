"""Whether ops are recorded: context managers that are decorators too."""

import functools
import inspect

from .. import _C


class _Mode:
    """Enters a mode for a ``with`` block, or for the calls of a function it decorates."""

    def __enter__(self):
        _C._push_mode(self._kind)
        return self

    def __exit__(self, *exc):
        _C._pop_mode()

    def __call__(self, function):
        if inspect.isclass(function):
            function.__init__ = self(function.__init__)
            return function
        if inspect.isgeneratorfunction(function):
            return self._generator(function)

        @functools.wraps(function)
        def run(*args, **kwargs):
            with self._again():
                return function(*args, **kwargs)

        return run

    def _again(self):
        return self

    def _generator(self, function):
        """The mode holds while the generator runs, not while its caller does."""

        @functools.wraps(function)
        def run(*args, **kwargs):
            generator = function(*args, **kwargs)
            try:
                with self._again():
                    value = next(generator)
                while True:
                    try:
                        sent = yield value
                    except GeneratorExit:
                        with self._again():
                            generator.close()
                        raise
                    except BaseException as error:
                        with self._again():
                            value = generator.throw(error)
                    else:
                        with self._again():
                            value = generator.send(sent)
            except StopIteration as end:
                return end.value

        return run


class _Plain(_Mode):
    """A mode without arguments: ``@no_grad`` works as ``@no_grad()`` does."""

    def __new__(cls, function=None):
        self = super().__new__(cls)
        return self if function is None else self(function)


class no_grad(_Plain):
    """Ops are not recorded."""

    _kind = 0


class enable_grad(_Plain):
    """Ops are recorded, also inside ``no_grad``."""

    _kind = 1


class set_grad_enabled(_Mode):
    """Recording is on or off: at once as a function, until the end of a ``with`` block."""

    def __init__(self, mode):
        self._kind = int(bool(mode))
        self._before = _C.is_grad_enabled()
        _C._set_grad_enabled(bool(mode))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        _C._set_grad_enabled(self._before)

    def __call__(self, function):
        _C._set_grad_enabled(self._before)
        return super().__call__(function)

    def _again(self):
        return enable_grad() if self._kind else no_grad()


class inference_mode(_Mode):
    """Nothing is recorded, and tensors made here never can be."""

    def __new__(cls, mode=True):
        self = super().__new__(cls)
        if callable(mode):
            self._kind = 2
            return self(mode)
        return self

    def __init__(self, mode=True):
        self._kind = 2 if mode else 3

"""``rushlight.pointwise``: a formula over single numbers as one op over tensors."""

from . import _C


class Pointwise:
    """A formula, traced once for each number of arguments; call it on tensors and numbers.

    Operands broadcast and promote as those of any op; first and second gradients are derived.
    """

    def __init__(self, function):
        import functools

        if not callable(function):
            raise TypeError(f"pointwise: takes a function, not {type(function).__name__}")
        functools.update_wrapper(self, function)
        self._function, self._formulas = function, {}
        arguments = _arguments(function)
        if arguments:
            self._formula(arguments)  # so that a formula that cannot be traced fails here

    def _formula(self, arguments):
        known = self._formulas.get(arguments)
        if known is None:
            known = self._formulas[arguments] = _C._trace(self._function, arguments)
        return known

    def __call__(self, *args):
        for a in args:
            if isinstance(a, _C.Scalar):
                return self._function(*args)  # part of another formula
        return self._formula(len(args))(*args)

    def __repr__(self):
        return f"<pointwise {getattr(self, '__name__', 'formula')}>"

    def listing(self):
        """The steps of what was traced, for each number of arguments."""
        return "\n".join(f"{n} arguments:\n{formula!r}" for n, formula in self._formulas.items())


def _arguments(function):
    """How many arguments a call must have, if that is one number."""
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind in (p.VAR_POSITIONAL, p.KEYWORD_ONLY) for p in parameters):
        return None
    return sum(p.default is p.empty and p.kind != p.VAR_KEYWORD for p in parameters)


def pointwise(function):
    """Turns ``function``, a formula over single numbers, into an op over tensors: one pass over memory.

    It is called once with symbolic numbers, which have operators, comparisons, the methods of tensors
    that work number by number, and rushlight's functions of that kind; ``where`` chooses. TypeError for
    what needs a value while tracing: ``if``, ``float()``, indexing. May be used as a decorator.

        f = rushlight.pointwise(lambda x, y: (x * y).tanh() + y)
    """
    return Pointwise(function)

"""``Parameter``: a tensor that a module learns; ``Buffer``: one that it only keeps."""

from .._C import Tensor


def _make(cls, data, requires_grad):
    if data is None:
        from .._C import _functions

        data = _functions["empty"](0)
    if not isinstance(data, Tensor):
        raise TypeError(f"{cls.__name__}: data must be a Tensor, not {type(data).__name__}")
    made = Tensor.__new__(cls, data)
    if requires_grad:
        made.requires_grad_()
    return made


def _rebuild(cls, data, requires_grad, state):
    made = _make(cls, data, requires_grad)
    made.__dict__.update(state)
    return made


class Parameter(Tensor):
    """A tensor over the memory of ``data`` that requires a gradient and that modules list."""

    def __new__(cls, data=None, requires_grad=True):
        return _make(cls, data, requires_grad)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = _rebuild(type(self), self.data.clone(), self.requires_grad, self.__dict__)
        return memo[id(self)]

    def __repr__(self):
        return "Parameter containing:\n" + Tensor.__repr__(self)

    def __reduce_ex__(self, protocol):
        return _rebuild, (type(self), self.data, self.requires_grad, dict(self.__dict__))


class Buffer(Tensor):
    """A tensor over the memory of ``data`` that modules keep and save."""

    def __new__(cls, data=None, *, persistent=True):
        made = _make(cls, data, False)
        made.persistent = persistent
        return made

    __reduce_ex__ = Parameter.__reduce_ex__


def is_lazy(param):
    """Whether a parameter's shape is not known yet: none is of that kind."""
    return False




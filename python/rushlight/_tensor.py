"""Methods of Tensor that are easier to say in Python."""

from . import _C
from ._C import Tensor


def method(function):
    """Makes a function a method of Tensor."""
    setattr(Tensor, function.__name__, function)
    return function


@method
def __iter__(self):
    if self.ndim == 0:
        raise TypeError("iter: a 0-d tensor has no elements to walk over")
    return iter(self.unbind(0))


def _reshaping(name, view):
    def change(self, *args):
        self._become(view(self, *args), name)
        return self

    change.__name__ = name
    change.__doc__ = f"As `{name[:-1]}`, but this tensor itself changes; no data moves."
    method(change)


for _name in ("t", "transpose", "swapaxes", "swapdims", "squeeze", "unsqueeze", "as_strided"):
    _reshaping(_name + "_", getattr(Tensor, _name))


@method
def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Accumulates the gradients of this tensor into the leaves it was computed from."""
    from .autograd import backward as run

    run((self,), None if gradient is None else (gradient,), retain_graph, create_graph, inputs=inputs)


@method
def __reduce_ex__(self, protocol):
    from ._utils import reduce

    return reduce(self, protocol)


@method
def __deepcopy__(self, memo):
    from ._utils import deepcopy

    return deepcopy(self, memo)


@method
def __setstate__(self, state):
    from ._utils import set_state

    set_state(self, state)


# Names of division from before Python 3, which torch still has.
Tensor.__div__, Tensor.__rdiv__, Tensor.__idiv__ = Tensor.__truediv__, Tensor.__rtruediv__, Tensor.__itruediv__
Tensor.is_cpu = property(lambda self: self.device.type == "cpu")
_ = _C

"""``Parameter``: a tensor that a module learns; ``Buffer``: one that it only keeps; both without a shape as yet."""

from .._C import Tensor, _functions


__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


def _checked(name, data):
    if data is None:
        return _functions["empty"](0)
    if not isinstance(data, Tensor):
        raise TypeError(f"{name}: data must be a Tensor, not {type(data).__name__}")
    return data


class _ParameterMeta(type(Tensor)):
    """A tensor of another class that was made a parameter counts as one."""

    def __instancecheck__(cls, x):
        return type.__instancecheck__(cls, x) or cls is Parameter and isinstance(x, Tensor) and getattr(x, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor over the memory of ``data`` that requires a gradient and that modules list."""

    def __new__(cls, data=None, requires_grad=True):
        data = _checked("Parameter", data)
        if type(data) is Tensor or isinstance(data, (Parameter, UninitializedTensorMixin)):
            made = Tensor.__new__(cls, data)
            return made.requires_grad_() if requires_grad else made
        made = data.detach().requires_grad_(requires_grad)
        made._is_param = True
        return made

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
            memo[id(self)].__dict__.update(self.__dict__)
        return memo[id(self)]

    def __repr__(self):
        return "Parameter containing:\n" + Tensor.__repr__(self)

    def __reduce_ex__(self, protocol):
        from collections import OrderedDict

        from .. import _utils

        parts = (self.data, self.requires_grad, OrderedDict())
        state = _utils._state(self)
        if state:
            return _utils._rebuild_parameter_with_state, (*parts, state)
        return _utils._rebuild_parameter, parts


class UninitializedTensorMixin:
    """What parameters and buffers without a shape have in common: they only wait for ``materialize``."""

    _ALLOWED = frozenset(
        """__class__ __dict__ __deepcopy__ __reduce_ex__ __repr__ __hash__ __setstate__ __init_subclass__ materialize
        cls_to_become _ALLOWED shape data requires_grad requires_grad_ grad grad_fn is_leaf device dtype layout
        is_cuda is_cpu is_meta is_sparse is_floating_point is_complex to cpu cuda half float double bfloat16 int
        long short byte char bool type share_memory_ is_shared detach persistent _is_buffer _is_param _version
        copy_ is_inference is_quantized is_mkldnn retains_grad names ndim""".split()
    )

    def __getattribute__(self, name):
        if name in UninitializedTensorMixin._ALLOWED or name.startswith("__") or name not in Tensor.__dict__:
            return super().__getattribute__(name)
        raise ValueError(
            f"{name}: the parameter has no shape yet; run a forward pass of its module first, which initialises it"
        )

    def materialize(self, shape, device=None, dtype=None):
        """Makes this a parameter (or buffer) of this shape, with any values; gradients and hooks stay."""
        device = self.data.device if device is None else device
        dtype = self.data.dtype if dtype is None else dtype
        self.data = _functions["empty"](shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError("shape: the parameter has no shape yet; run a forward pass of its module first")

    def share_memory_(self):
        raise RuntimeError("share_memory_: the parameter has no memory yet; run a forward pass of its module first")

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad, self.device, self.dtype)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape the first forward pass decides. It has a dtype and a device, and no elements."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        made = Tensor.__new__(cls, _functions["empty"](0, device=device, dtype=dtype))
        return made.requires_grad_() if requires_grad else made


class _BufferMeta(type(Tensor)):
    """Whatever tensor ``Buffer`` marked counts as one."""

    def __instancecheck__(cls, x):
        return type.__instancecheck__(cls, x) or cls is Buffer and isinstance(x, Tensor) and getattr(x, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor over the memory of ``data`` that modules keep, and save if ``persistent``."""

    def __new__(cls, data=None, *, persistent=True):
        data = _checked("Buffer", data)
        made = data.detach().requires_grad_(data.requires_grad)
        made.persistent, made._is_buffer = persistent, True
        return made


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape the first forward pass decides."""

    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        made = Tensor.__new__(cls, _functions["empty"](0, device=device, dtype=dtype))
        made.persistent, made._is_buffer = persistent, True
        return made.requires_grad_() if requires_grad else made


def is_lazy(param):
    """Whether a parameter or buffer has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)



"""Parameters that are computed from others: ``module.weight`` is ``f(original)`` whenever it is read."""

import contextlib
import copy
from collections.abc import Sequence

from ..._C import Tensor
from ...autograd import no_grad
from ..modules.container import ModuleDict, ModuleList
from ..parameter import Parameter

__all__ = """cached ParametrizationList register_parametrization is_parametrized remove_parametrizations
    type_before_parametrizations transfer_parametrizations_and_params""".split()

_cache_enabled = 0
_cache = {}


@contextlib.contextmanager
def cached():
    """Inside the block, each parametrised tensor is computed once."""
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


def _register_parameter_or_buffer(module, name, X):
    if isinstance(X, Parameter):
        module.register_parameter(name, X)
    else:
        module.register_buffer(name, X)


def _maybe_set(dest, src):
    """Lets a tensor have another's memory; the object stays."""
    if dest is not src:
        dest.data = src.detach()


def _same(what, have, want, hint=""):
    """ValueError unless two tensors agree in dtype and shape."""
    if not isinstance(have, Tensor):
        raise ValueError(f"parametrize: {what} must be a tensor, not {type(have).__name__}")
    if have.dtype != want.dtype:
        raise ValueError(f"parametrize: {what} holds {have.dtype}, the original {want.dtype}{hint}")
    if have.shape != want.shape:
        raise ValueError(f"parametrize: {what} has shape {list(have.shape)}, the original {list(want.shape)}{hint}")


class ParametrizationList(ModuleList):
    """The modules that one tensor goes through, and what it is computed from: ``original``, or ``original0`` and so on.

    Values that are set go back through their ``right_inverse``. ``unsafe``: dtypes and shapes may change on the way.
    """

    def __init__(self, modules, original, unsafe=False):
        modules = list(modules)
        if not modules:
            raise ValueError("ParametrizationList: needs at least one module")
        super().__init__(modules)
        self.unsafe = unsafe
        with no_grad():
            new = self._back(original)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(f"ParametrizationList: right_inverse must give a tensor or several, not {type(new).__name__}")
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if original.dtype != new.dtype:
                raise ValueError(f"parametrize: right_inverse gives {new.dtype} for {original.dtype}; dtypes must agree")
            with no_grad():
                _maybe_set(original, new)
            _register_parameter_or_buffer(self, "original", original)
        else:
            for k, each in enumerate(new):
                if not isinstance(each, Tensor):
                    raise ValueError(f"ParametrizationList: right_inverse gives {type(each).__name__} at {k}; tensors are needed")
                if isinstance(original, Parameter):
                    each = Parameter(each, original.requires_grad)
                each.requires_grad_(original.requires_grad)
                _register_parameter_or_buffer(self, f"original{k}", each)
        if not unsafe:
            _same("the parametrised tensor", self(), original, "; pass unsafe=True if that is meant")

    def _back(self, value):
        """A value through every right inverse, the last module's first."""
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                try:
                    value = module.right_inverse(value)
                except NotImplementedError:
                    pass
        return value

    def right_inverse(self, value):
        """Sets what the tensor is computed from, so that it becomes ``value``."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrize: {type(module).__name__} has no right_inverse, so no value can be set")
                value = module.right_inverse(value)
            if self.is_tensor:
                _same("right_inverse's result", value, self.original)
                _maybe_set(self.original, value)
                return
            if not isinstance(value, Sequence) or len(value) != self.ntensors:
                raise ValueError(f"parametrize: right_inverse must give {self.ntensors} tensors")
            for k, each in enumerate(value):
                have = getattr(self, f"original{k}")
                _same(f"right_inverse's result {k}", each, have)
                _maybe_set(have, each)

    def forward(self):
        if self.is_tensor:
            x = self[0](self.original)
        else:
            x = self[0](*(getattr(self, f"original{k}") for k in range(self.ntensors)))
        for k in range(1, len(self)):
            x = self[k](x)
        return x


def _inject_new_class(module):
    """Gives one module a class of its own, where properties can stand."""
    base = type(module)

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        twin = self.__new__(self.__class__)
        memo[id(self)] = twin
        twin.__dict__ = copy.deepcopy(self.__dict__, memo)
        # The twin's class must be its own too: properties are added to it and removed from it.
        own = {k: v for k, v in type(self).__dict__.items() if k not in ("__dict__", "__weakref__")}
        twin.__class__ = type(type(self).__name__, (base,), own)
        return twin

    def __getstate__(self):
        raise RuntimeError("parametrize: modules with parametrised tensors cannot be pickled; save their state_dict")

    body = {"__getstate__": __getstate__, "__module__": base.__module__}
    if not hasattr(base, "__deepcopy__"):
        body["__deepcopy__"] = __deepcopy__
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), body)


def _inject_property(module, tensor_name):
    """Makes reading and setting a tensor go through its parametrisation."""

    def read(self):
        if not _cache_enabled:
            return self.parametrizations[tensor_name]()
        key = (id(self), tensor_name)
        if key not in _cache:
            _cache[key] = self.parametrizations[tensor_name]()
        return _cache[key]

    def write(self, value):
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(type(module), tensor_name, property(read, write))


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """From now on ``module.tensor_name`` is ``parametrization(original)``; several apply one after another. Gives the module.

    ValueError: there is no such parameter or buffer, or dtype or shape change and ``unsafe`` is False.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        held = module.parametrizations[tensor_name]
        if not unsafe:
            before = getattr(module, tensor_name)
            after = parametrization(before)
            _same("the parametrised tensor", after, before, "; pass unsafe=True if that is meant")
            if hasattr(parametrization, "right_inverse"):
                with contextlib.suppress(NotImplementedError):
                    _same("right_inverse's result", parametrization.right_inverse(after), before, "; pass unsafe=True if that is meant")
        held.append(parametrization)
        held.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        held = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = held
    else:
        raise ValueError(f"register_parametrization: {type(module).__name__} has no parameter or buffer {tensor_name!r}")
    return module


def is_parametrized(module, tensor_name=None):
    """Whether a module has a parametrised tensor, or this one."""
    held = getattr(module, "parametrizations", None)
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Makes a tensor a plain one again: of its present value, or of the original one. Gives the module.

    ValueError: it is not parametrised; or the original is several tensors and ``leave_parametrized`` is False.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"remove_parametrizations: {type(module).__name__} has no parametrised tensor {tensor_name!r}")
    held = module.parametrizations[tensor_name]
    if held.is_tensor:
        original = held.original
        if leave_parametrized:
            with no_grad():
                now = getattr(module, tensor_name)
                _maybe_set(original, now)
    else:
        if not leave_parametrized:
            raise ValueError("remove_parametrizations: there is no single original; pass leave_parametrized=True")
        now = getattr(module, tensor_name)
        original = Parameter(now.detach()) if now.requires_grad else now
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register_parameter_or_buffer(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module):
    """A module's class without the one that parametrising put in front."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Registers one module's parametrisations, with their originals, on another. Gives the other."""
    if not is_parametrized(from_module):
        return to_module
    if not isinstance(from_module.parametrizations, ModuleDict):
        raise AssertionError("transfer_parametrizations_and_params: parametrizations must be a ModuleDict")
    for name in from_module.parametrizations if tensor_name is None else [tensor_name]:
        held = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        for parametrization in held:
            register_parametrization(to_module, name, parametrization)
        new = to_module.parametrizations[name]
        if hasattr(held, "original"):
            new.original = held.original
        else:
            for k in range(held.ntensors):
                setattr(new, f"original{k}", getattr(held, f"original{k}"))
    return to_module

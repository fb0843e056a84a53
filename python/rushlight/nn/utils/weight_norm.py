"""A weight as its length times its direction (Salimans and Kingma 2016), by a hook. ``parametrizations`` has it without one."""

import warnings

from ..parameter import Parameter, UninitializedParameter

__all__ = ["WeightNorm", "weight_norm", "remove_weight_norm"]


def length_except(v, dim):
    """The norms over all dimensions but ``dim``, which all stay; -1: one norm over all."""
    if dim == -1:
        return v.norm()
    others = [k for k in range(v.ndim) if k != dim]
    return v.norm(2, others, keepdim=True) if others else v.abs()


def normalised(v, g, dim):
    """``g * v / |v|``."""
    return v * (g / length_except(v, dim))


class WeightNorm:
    """The hook: before each call, the weight from ``name_g`` and ``name_v``."""

    def __init__(self, name, dim):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module):
        """The weight now."""
        return normalised(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    @staticmethod
    def apply(module, name, dim):
        """Replaces a parameter by its length and its direction; gives the hook."""
        if any(isinstance(hook, WeightNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"weight_norm: {name!r} has one already")
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        if isinstance(weight, UninitializedParameter):
            raise ValueError("weight_norm: the parameter has no shape yet; run a forward pass of the module first")
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(length_except(weight, hook.dim).data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module):
        """Makes the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module, name="weight", dim=0):
    """Replaces the parameter ``name`` by ``name_g``, one length for each place of ``dim``, and ``name_v``. Gives the module."""
    warnings.warn("weight_norm: use parametrizations.weight_norm", FutureWarning, stacklevel=2)
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module, name="weight"):
    """Undoes ``weight_norm``. ValueError: there is none."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"remove_weight_norm: there is none of {name!r} in {module}")

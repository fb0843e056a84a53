"""Modules whose parameters take their shape from the first input."""

import itertools
import warnings

from ..parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """For classes whose ``initialize_parameters(*args, **kwargs)`` can say the shapes once there is an input.

    The first call gives the parameters their shapes and turns the module into ``cls_to_become``.
    """

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)
        warnings.warn(f"{type(self).__name__}: lazy modules are young; what they do may change", stacklevel=2)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        # A parameter without a shape cannot be detached, and is saved as it is.
        for name, parameter in self._parameters.items():
            if parameter is not None:
                destination[prefix + name] = parameter if is_lazy(parameter) or keep_vars else parameter.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if is_lazy(buffer) or keep_vars else buffer.detach()

    def _lazy_load_hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        """Gives shapes to what is loaded with one."""
        for name, have in itertools.chain(self._parameters.items(), self._buffers.items()):
            key = prefix + name
            if key in state_dict and have is not None and is_lazy(have):
                given = state_dict[key]
                if not is_lazy(given):
                    from ...autograd import no_grad

                    with no_grad():
                        have.materialize(given.shape)

    def initialize_parameters(self, *args, **kwargs):
        """Gives every parameter its shape, from the arguments of the first call."""
        raise NotImplementedError(f"{type(self).__name__}: has no initialize_parameters")

    def has_uninitialized_params(self):
        """Whether a parameter or buffer has no shape yet."""
        return any(is_lazy(t) for t in itertools.chain(self._parameters.values(), self._buffers.values()))

    def _infer_parameters(self, module, args, kwargs=None):
        """The hook of the first call."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"{type(self).__name__}: initialize_parameters left parameters without a shape")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self):
        raise RuntimeError(f"{type(self).__name__}: has parameters without a shape; run a forward pass first")

"""A weight over its largest singular value (Miyato et al. 2018), by a hook. ``parametrizations`` has it without one."""

from ... import _C
from ...autograd import no_grad
from .. import functional as F
from ..parameter import Parameter, UninitializedParameter

__all__ = "SpectralNorm SpectralNormLoadStateDictPreHook SpectralNormStateDictHook spectral_norm remove_spectral_norm".split()


class SpectralNorm:
    """The hook: before each call, the weight from ``name_orig`` and two vectors that follow it by power iteration."""

    _version = 1

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError(f"spectral_norm: n_power_iterations must be positive, got {n_power_iterations}")
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def reshape_weight_to_matrix(self, weight):
        """Dimension ``dim`` by all others."""
        return weight.movedim(self.dim, 0).flatten(1) if weight.ndim > 1 else weight.reshape(-1, 1)

    def compute_weight(self, module, do_power_iteration):
        """The weight now; ``do_power_iteration``: the two vectors first go on, in place."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(matrix.mv(v), dim=0, eps=self.eps))
                # Backward needs them as they are now, also after the next call.
                u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def remove(self, module):
        """Makes the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for part in ("_u", "_v", "_orig"):
            delattr(module, self.name + part)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def _solve_v_and_rescale(self, weight_mat, u, target_sigma):
        """The right vector that gives this singular value with ``u``."""
        v = _C._functions["linalg_multi_dot"]([weight_mat.t().mm(weight_mat).pinverse(), weight_mat.t(), u.unsqueeze(1)]).squeeze(1)
        return v.mul_(target_sigma / u.dot(weight_mat.mv(v)))

    @staticmethod
    def apply(module, name, n_power_iterations, dim, eps):
        """Replaces a parameter; gives the hook."""
        if any(isinstance(hook, SpectralNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"spectral_norm: {name!r} has one already")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"spectral_norm: {name!r} is None")
        if isinstance(weight, UninitializedParameter):
            raise ValueError("spectral_norm: the parameter has no shape yet; run a forward pass of the module first")
        with no_grad():
            matrix = hook.reshape_weight_to_matrix(weight)
            u = F.normalize(weight.new_empty(matrix.shape[0]).normal_(0, 1), dim=0, eps=eps)
            v = F.normalize(weight.new_empty(matrix.shape[1]).normal_(0, 1), dim=0, eps=eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        # A plain attribute, for those who look before the first call.
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook


class SpectralNormLoadStateDictPreHook:
    """Finds ``name_v`` for states from before it was saved."""

    def __init__(self, fn):
        self.fn = fn

    def __call__(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        fn, key = self.fn, prefix + self.fn.name
        version = local_metadata.get("spectral_norm", {}).get(fn.name + ".version")
        if version is not None and version >= 1:
            return
        if all(key + part in state_dict for part in ("_orig", "_u", "_v")) and key not in state_dict:
            return
        complete = True
        for part in ("_orig", "", "_u"):
            if key + part not in state_dict:
                complete = False
                if strict:
                    missing_keys.append(key + part)
        if not complete:
            return
        with no_grad():
            original, weight, u = state_dict[key + "_orig"], state_dict.pop(key), state_dict[key + "_u"]
            sigma = (original / weight).mean()
            state_dict[key + "_v"] = fn._solve_v_and_rescale(fn.reshape_weight_to_matrix(original), u, sigma)


class SpectralNormStateDictHook:
    """Notes the version in a state's metadata."""

    def __init__(self, fn):
        self.fn = fn

    def __call__(self, module, state_dict, prefix, local_metadata):
        noted = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in noted:
            raise RuntimeError(f"spectral_norm: the metadata have {key!r} already")
        noted[key] = self.fn._version


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divides the parameter ``name`` by its largest singular value, as a matrix of ``dim`` by the rest. Gives the module.

    ``dim``: 1 for transposed convolutions, else 0, unless given.
    """
    if dim is None:
        from .. import modules

        transposed = (modules.ConvTranspose1d, modules.ConvTranspose2d, modules.ConvTranspose3d)
        dim = 1 if isinstance(module, transposed) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module, name="weight"):
    """Undoes ``spectral_norm``. ValueError: there is none."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            break
    else:
        raise ValueError(f"remove_spectral_norm: there is none of {name!r} in {module}")
    for hooks, kind in (
        (module._state_dict_hooks, SpectralNormStateDictHook),
        (module._load_state_dict_pre_hooks, SpectralNormLoadStateDictPreHook),
    ):
        for number, hook in list(hooks.items()):
            if isinstance(hook, kind) and hook.fn.name == name:
                del hooks[number]
    return module

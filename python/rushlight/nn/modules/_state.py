"""``state_dict`` and ``load_state_dict``: what a module keeps, by name."""

from collections import OrderedDict, namedtuple

from ..._C import Tensor
from ...autograd import no_grad
from ..parameter import Parameter, is_lazy

#: The key of what ``get_extra_state`` gives.
_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """Keys that a module has and a state does not, and the other way round."""

    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


def _extra(module, name):
    """The module's own method, if it has one."""
    from .module import Module

    return getattr(module, name) if getattr(type(module), name, None) is not getattr(Module, name) else None


def save_to_state_dict(module, destination, prefix, keep_vars):
    """Puts this module's own parameters, buffers and extra state into ``destination``."""
    kept = lambda t: t if keep_vars else t.detach()  # noqa: E731
    for name, parameter in module._parameters.items():
        if parameter is not None:
            destination[prefix + name] = kept(parameter)
    for name, buffer in module._buffers.items():
        if buffer is not None and name not in module._non_persistent_buffers_set:
            destination[prefix + name] = kept(buffer)
    get = _extra(module, "get_extra_state")
    if get is not None:
        destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = get()


def state_dict(module, args, destination, prefix, keep_vars):
    """All of a module's and its children's state, in an OrderedDict with versions in ``_metadata``."""
    if args:
        # As it was called before the arguments had to be named.
        destination = args[0] if destination is None else destination
        prefix = args[1] if len(args) > 1 and prefix == "" else prefix
        keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    local = {"version": module._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = local
    for hook in module._state_dict_pre_hooks.values():
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in module._state_dict_hooks.values():
        answer = hook(module, destination, prefix, local)
        if not getattr(hook, "_from_public_api", False):
            destination = destination if answer is None else answer
        elif answer is not None:
            raise RuntimeError("state_dict post hook: must return None and change the state in place")
    return destination


def _load_one(module, name, have, given, key, assign, errors):
    """Writes ``given`` over the parameter or buffer ``have``."""
    if not isinstance(given, Tensor):
        errors.append(f'"{key}" holds no tensor but {type(given).__name__}')
        return
    lazy = is_lazy(have)
    # 0-d tensors were saved as one element once.
    if not lazy and have.ndim == 0 and tuple(given.shape) == (1,):
        given = given[0]
    if not lazy and given.shape != have.shape:
        errors.append(
            f'size mismatch for "{key}": the state has shape {list(given.shape)}, the module {list(have.shape)}'
        )
        return
    if lazy and not is_lazy(given) and not assign:
        with no_grad():
            have.materialize(given.shape)
    if have.is_meta and not given.is_meta and not assign:
        import warnings

        warnings.warn(f'load_state_dict: "{key}" is on the meta device, where nothing can be written; use assign=True', stacklevel=4)
    try:
        with no_grad():
            if not assign:
                have.copy_(given)
                return
            if isinstance(have, Parameter):
                if not isinstance(given, Parameter):
                    given = Parameter(given, requires_grad=have.requires_grad)
                else:
                    given.requires_grad_(have.requires_grad)
            setattr(module, name, given)
    except Exception as error:
        errors.append(f'"{key}" of shape {list(have.shape)} could not be written from shape {list(given.shape)}: {error}')


def load_from_state_dict(module, state, prefix, metadata, strict, missing, unexpected, errors):
    """Loads this module's own part of ``state``; adds to the three lists what does not fit."""
    for hook in module._load_state_dict_pre_hooks.values():
        hook(state, prefix, metadata, strict, missing, unexpected, errors)
    buffers = {k: v for k, v in module._buffers.items() if k not in module._non_persistent_buffers_set}
    own = {k: v for k, v in (*module._parameters.items(), *buffers.items()) if v is not None}
    assign = metadata.get("assign_to_params_buffers", False)
    for name, have in own.items():
        key = prefix + name
        if key in state:
            _load_one(module, name, have, state[key], key, assign, errors)
        elif strict:
            missing.append(key)
    extra = prefix + _EXTRA_STATE_KEY_SUFFIX
    take = _extra(module, "set_extra_state")
    if take is not None:
        if extra in state:
            take(state[extra])
        elif strict:
            missing.append(extra)
    elif strict and extra in state:
        unexpected.append(extra)
    if not strict:
        return
    for key in state:
        if key.startswith(prefix) and key != extra:
            name, *deeper = key[len(prefix) :].split(".", 1)
            if name not in (module._modules if deeper else own):
                unexpected.append(key)


def load_state_dict(module, state, strict, assign):
    """Loads ``state`` into a module and its children."""
    if not hasattr(state, "items"):
        raise TypeError(f"load_state_dict: takes a dict of names and tensors, not {type(state).__name__}")
    missing, unexpected, errors = [], [], []
    metadata = getattr(state, "_metadata", None)
    state = OrderedDict(state)
    if metadata is not None:
        state._metadata = metadata

    def load(part, local, prefix=""):
        about = {} if metadata is None else dict(metadata.get(prefix[:-1], {}))
        if assign:
            about["assign_to_params_buffers"] = True
        part._load_from_state_dict(local, prefix, about, True, missing, unexpected, errors)
        for name, child in part._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                load(child, {k: v for k, v in local.items() if k.startswith(below)}, below)
        keys = _IncompatibleKeys(missing, unexpected)
        for hook in part._load_state_dict_post_hooks.values():
            if hook(part, keys) is not None:
                raise RuntimeError("load_state_dict post hook: must return None and change the lists of keys in place")

    load(module, state)
    if strict:
        said = lambda keys: ", ".join(f'"{k}"' for k in keys)  # noqa: E731
        if unexpected:
            errors.insert(0, f"Unexpected key(s) in state_dict: {said(unexpected)}")
        if missing:
            errors.insert(0, f"Missing key(s) in state_dict: {said(missing)}")
    if errors:
        raise RuntimeError(f"load_state_dict: {type(module).__name__} cannot take this state:\n\t" + "\n\t".join(errors))
    return _IncompatibleKeys(missing, unexpected)



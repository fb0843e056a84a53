"""Modules called with other parameters than their own."""

import contextlib
import warnings

__all__ = ["functional_call"]

def _owner(module, path):
    """The module that holds a tensor, and the dict it is in. KeyError: there is none."""
    path, _, name = path.rpartition(".")
    try:
        owner = module.get_submodule(path)
    except AttributeError:
        return None, name, None
    for kind in ("_parameters", "_buffers"):
        held = getattr(owner, kind)
        if name in held:
            return owner, name, held
    return owner, name, None


def _shared(module):
    """For each tensor of several names all of them."""
    names = {}
    for get in (module.named_parameters, module.named_buffers):
        for name, tensor in get(remove_duplicate=False):
            names.setdefault(id(tensor), []).append(name)
    return {name: group for group in names.values() if len(group) > 1 for name in group}


def _untie_named_tensors_map(module, parameters_and_buffers):
    """The tensors, where each that the module shares has one under all of its names. ValueError: they differ."""
    groups, full = _shared(module), dict(parameters_and_buffers)
    for name, tensor in parameters_and_buffers.items():
        for other in groups.get(name, ()):
            given = parameters_and_buffers.get(other, tensor)
            if given is not tensor:
                raise ValueError(f"functional_call: {name!r} and {other!r} are one tensor of the module, but two are given")
            full[other] = tensor
    return full


@contextlib.contextmanager
def _reparametrize_module(module, parameters_and_buffers, tie_weights=False, strict=False, stack_weights=False):
    """Inside the block, the module has these tensors in place of its own."""
    tensors = _untie_named_tensors_map(module, parameters_and_buffers) if tie_weights else dict(parameters_and_buffers)
    found = {path: _owner(module, path) for path in tensors}
    unexpected = [path for path, (_, _, held) in found.items() if held is None]
    if strict:
        own = {name for name, _ in module.named_parameters(remove_duplicate=False)}
        own |= {name for name, _ in module.named_buffers(remove_duplicate=False)}
        missing = sorted(own - set(tensors))
        if missing or unexpected:
            raise RuntimeError(f"functional_call: missing keys {missing}, unexpected keys {unexpected}")
    before = []
    try:
        for path, tensor in tensors.items():
            owner, name, held = found[path]
            if held is not None:
                before.append((held, name, held[name], path))
                held[name] = tensor
            elif owner is not None:
                # A plain attribute, such as the weight that a hook computes.
                before.append((owner.__dict__, name, owner.__dict__.get(name), path))
                owner.__dict__[name] = tensor
        yield
    finally:
        for held, name, tensor, path in reversed(before):
            if path in parameters_and_buffers:
                # What the module put there is the caller's result.
                parameters_and_buffers[path] = held[name]
            if tensor is None and held is not None and path in unexpected:
                held.pop(name, None)
            else:
                held[name] = tensor


def _functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """``module(*args, **kwargs)`` with these tensors in place of those of the same names; the module stays as it is.

    ``tie_weights``: a tensor that the module has under several names needs one of them. ``strict``: RuntimeError for
    missing or unexpected names.
    """
    warnings.warn("functional_call: torch.func.functional_call does the same", FutureWarning, stacklevel=2)
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)

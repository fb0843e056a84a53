"""Modules as functions of their parameters."""

from .._C import _functions


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Calls the module with these tensors in place of its own: a dict by name, or several dicts.

    ``strict``: all of its own must be given, and no others. ValueError: a name in several dicts.
    """
    from ..nn.utils import stateless

    tensors = parameter_and_buffer_dicts
    if not isinstance(tensors, dict):
        if not isinstance(tensors, (list, tuple)):
            raise ValueError(f"functional_call: expected a dict or a sequence of dicts, not {type(tensors).__name__}")
        merged = {}
        for part in tensors:
            twice = merged.keys() & part.keys()
            if twice:
                raise ValueError(f"functional_call: {sorted(twice)} appeared in multiple dictionaries; behavior of functional call is ambiguous")
            merged.update(part)
        tensors = merged
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    return stateless._functional_call(module, tensors, args, kwargs, tie_weights=tie_weights, strict=strict)


def stack_module_state(models):
    """Parameters and buffers of modules of one kind, each stacked under its name: for ``vmap`` over models."""
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or not any(m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(dicts, learned):
        made = {}
        for name in dicts[0]:
            column = [d[name] for d in dicts]
            one = _functions["stack"]([t.detach() for t in column])
            made[name] = one.requires_grad_(learned and column[0].requires_grad)
        return made

    params = stacked([dict(m.named_parameters()) for m in models], True)
    return params, stacked([dict(m.named_buffers()) for m in models], False)


def replace_all_batch_norm_modules_(root):
    """Batch norms inside ``root`` use the statistics of each batch from now on; gives ``root`` back."""
    from ..nn.modules.batchnorm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm) and module.track_running_stats:
            module.track_running_stats = False
            module.running_mean = module.running_var = module.num_batches_tracked = None
    return root


def functionalize(func, *, remove="mutations"):
    """The function itself: nothing here needs programs without writes."""
    return func

"""Gradients: ``backward``, ``grad``, modes, hooks, functions of one's own.

What is rarely needed is imported when it is first asked for.
"""

from .. import _C
from .._C import Tensor
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from .function import Function
from .anomaly_mode import detect_anomaly, set_detect_anomaly

_LATER = {
    "functional": (".functional", None),
    "graph": (".graph", None),
    "gradcheck": (".gradcheck", "gradcheck"),
    "profiler": (".profiler", None),
    "gradgradcheck": (".gradcheck", "gradgradcheck"),
    "GradcheckError": (".gradcheck", "GradcheckError"),
}

Variable = Tensor


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"rushlight.autograd has no attribute {name}")
    from importlib import import_module

    module, part = _LATER[name]
    module = import_module(module, __name__)
    value = module if part is None else getattr(module, part)
    globals()[name] = value  # also replaces a submodule of the same name
    return value


def _listed(x, what):
    if isinstance(x, Tensor):
        return [x]
    try:
        return list(x)
    except TypeError:
        raise TypeError(f"{what}: takes a tensor or several, not {type(x).__name__}") from None


def _gradients(given, outputs, op):
    if given is None:
        return [None] * len(outputs)
    given = _listed(given, op)
    for g in given:
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"{op}: a gradient must be a tensor or None, not {type(g).__name__}")
    if len(given) != len(outputs):
        raise RuntimeError(f"{op}: {len(outputs)} outputs but {len(given)} gradients; give one (or None) for each")
    return given


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Accumulates the gradients of ``tensors`` into the leaves they were computed from.

    ``grad_tensors``: a gradient for each tensor; may be left out for those of one element.
    ``inputs``: accumulate into these only. ``retain_graph``: keep what the graph saved, so that it
    can run again. ``create_graph``: record the gradients' own graph.

    RuntimeError: no graph, a graph that was freed, more than one element and no gradient,
    a gradient of another shape, or no ``inputs`` at all.
    """
    if inputs is not None:
        inputs = _listed(inputs, "backward")
        if not inputs:
            raise RuntimeError("backward: inputs is empty; leave it out to reach every leaf")
    outputs = _listed(tensors, "backward")
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError("backward: grad_variables is the old name of grad_tensors; give one of them")
        grad_tensors = grad_variables
    if create_graph:
        _warn_of_cycle()
    keep = create_graph if retain_graph is None else retain_graph
    _C._backward(outputs, _gradients(grad_tensors, outputs, "backward"), bool(keep), bool(create_graph), inputs)


def _warn_of_cycle():
    import warnings

    warnings.warn(
        "backward: with create_graph the gradients lead back to their leaves, a cycle that is never freed; "
        "use autograd.grad, or set grad to None when done",
        UserWarning,
        stacklevel=4,
    )


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None, is_grads_batched=False, materialize_grads=False):
    """The gradients of ``outputs`` with respect to ``inputs``, as a tuple; nobody's ``grad`` changes.

    ``allow_unused``: None for inputs that the outputs do not depend on, instead of a RuntimeError;
    ``materialize_grads``: zeros for them. ``is_grads_batched``: the first dimension of each gradient
    in ``grad_outputs`` counts several runs, and so does that of the results.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("grad: materialize_grads gives zeros for unused inputs, so allow_unused cannot be False")
    unused = materialize_grads if allow_unused is None else allow_unused
    outputs, inputs = _listed(outputs, "grad"), _listed(inputs, "grad")
    if not inputs:
        raise RuntimeError("grad: inputs is empty; name what the gradients are for")
    keep = bool(create_graph if retain_graph is None else retain_graph)
    seeds = _gradients(grad_outputs, outputs, "grad")

    def run(seeds, keep):
        return _C._grad(outputs, inputs, seeds, keep, bool(create_graph), bool(unused), bool(materialize_grads))

    if not is_grads_batched:
        return tuple(run(seeds, keep))
    sizes = {g.shape[0] for g in seeds if g is not None}
    if len(sizes) != 1:
        raise RuntimeError("grad: batched gradients need one first dimension that all share")
    count = sizes.pop()
    if count == 0:
        raise RuntimeError("grad: a batch of no gradients has no result")
    runs = [run([None if g is None else g[k] for g in seeds], keep or k + 1 < count) for k in range(count)]
    stack = _C._functions["stack"]
    return tuple(None if column[0] is None else stack(list(column)) for column in zip(*runs))

"""Gradients: ``backward``, ``grad``, modes, functions of one's own."""

from .. import _C
from .._C import Tensor
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled


def _listed(x):
    return [x] if isinstance(x, Tensor) else list(x)


def _gradients(given, outputs):
    if given is None:
        return [None] * len(outputs)
    return [given] if isinstance(given, Tensor) else list(given)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """Accumulates the gradients of ``tensors`` into the leaves they were computed from."""
    if inputs is not None:
        inputs = _listed(inputs)
        if not inputs:
            raise RuntimeError("backward: inputs is empty; leave it out to reach every leaf")
    outputs = _listed(tensors)
    keep = create_graph if retain_graph is None else retain_graph
    _C._backward(outputs, _gradients(grad_tensors, outputs), keep, create_graph, inputs)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=None, materialize_grads=False):
    """The gradients of ``outputs`` with respect to ``inputs``, as a tuple; nobody's ``grad`` changes."""
    outputs, inputs = _listed(outputs), _listed(inputs)
    keep = create_graph if retain_graph is None else retain_graph
    unused = materialize_grads if allow_unused is None else allow_unused
    return tuple(_C._grad(outputs, inputs, _gradients(grad_outputs, outputs), keep, create_graph, unused, materialize_grads))

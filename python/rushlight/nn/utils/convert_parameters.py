"""Parameters as one vector, and back."""

from ... import _C
from ..._C import Tensor


def _one_device(parameters, name):
    devices = {str(p.device) for p in parameters}
    if len(devices) > 1:
        raise TypeError(f"{name}: the parameters are on {' and '.join(sorted(devices))}; one device is needed")


def parameters_to_vector(parameters):
    """All elements of all parameters, one after the other; gradients flow."""
    parameters = list(parameters)
    _one_device(parameters, "parameters_to_vector")
    return _C._functions["cat"]([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Makes the parameters views of the pieces of a vector."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"vector_to_parameters: takes a Tensor, not {type(vec).__name__}")
    parameters = list(parameters)
    _one_device(parameters, "vector_to_parameters")
    at = 0
    for p in parameters:
        size = p.numel()
        p.data = vec[at : at + size].view_as(p).data
        at += size

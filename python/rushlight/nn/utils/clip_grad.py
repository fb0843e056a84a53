"""Gradients held within bounds, in place."""

import warnings

from ... import _C
from ..._C import Tensor
from ...autograd import no_grad

__all__ = ["clip_grad_norm_", "clip_grad_norm", "clip_grad_value_"]

_rows = _C._functions


def _listed(tensors):
    """A tensor or several as a list."""
    if isinstance(tensors, Tensor):
        return [tensors]
    once = iter(tensors) is tensors
    tensors = list(tensors)
    if once and not tensors:
        warnings.warn("clip_grad: the parameters are a generator that has nothing (more) to give", stacklevel=3)
    return tensors


def _grads(parameters):
    return [p.grad for p in _listed(parameters) if p.grad is not None]


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The ``norm_type``-norm of all elements of all tensors together; 0 of none.

    RuntimeError: it is nan or infinite, and ``error_if_nonfinite``. ``foreach`` changes nothing here.
    """
    tensors, norm_type = _listed(tensors), float(norm_type)
    with no_grad():
        if not tensors:
            return _C.tensor(0.0)
        norm = _rows["linalg_vector_norm"]
        device = tensors[0].device
        total = norm(_rows["stack"]([norm(t, norm_type).to(device) for t in tensors]), norm_type)
        if error_if_nonfinite and not bool(total.isfinite()):
            raise RuntimeError(f"clip_grad: the total norm of order {norm_type} is {total.item()}; pass error_if_nonfinite=False to scale all the same")
        return total


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales the gradients by ``max_norm / (total_norm + 1e-6)`` where that is below 1."""
    grads, max_norm = _grads(parameters), float(max_norm)
    if not grads:
        return
    with no_grad():
        factor = (max_norm / (total_norm + 1e-6)).clamp_(max=1.0)
        for grad in grads:
            grad.mul_(factor.to(grad.device))


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales all gradients so that their norm together is at most ``max_norm``. Gives the norm from before."""
    parameters = _listed(parameters)
    total = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The former name of ``clip_grad_norm_``."""
    warnings.warn("clip_grad_norm: use clip_grad_norm_", FutureWarning, stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Holds every element of every gradient within ``[-clip_value, clip_value]``."""
    clip_value = float(clip_value)
    with no_grad():
        for grad in _grads(parameters):
            grad.clamp_(-clip_value, clip_value)


_get_total_norm, _clip_grads_with_norm_ = get_total_norm, clip_grads_with_norm_

"""Gradients of convolutions by themselves, as functions of the other operand and the result's gradient."""

from .. import _C
from . import functional as F
from .modules.utils import _pair, _single, _triple

_rows = _C._functions


def _of(function, operands, wanted, grad_output, each, options):
    """The gradient of `function(*operands)` with respect to one operand, whose values it does not depend on."""
    from ..autograd import enable_grad, grad

    stride, padding, dilation, groups = options
    create = _C.is_grad_enabled() and any(t.requires_grad for t in (*operands, grad_output))
    with enable_grad():
        leaf = operands[wanted].detach().requires_grad_() if not operands[wanted].requires_grad else operands[wanted]
        pair = (leaf, operands[1]) if wanted == 0 else (operands[0], leaf)
        out = function(*pair, None, each(stride), each(padding), each(dilation), groups)
        return grad(out, leaf, grad_output, create_graph=create)[0]


def _input(function, input_size, weight, grad_output, each, options):
    if input_size is None:
        raise ValueError("grad: the input's size is needed, since several have a result of that shape")
    like = _rows["zeros"](tuple(input_size), dtype=grad_output.dtype, device=grad_output.device)
    return _of(function, (like, weight), 0, grad_output, each, options)


def _weight(function, input, weight_size, grad_output, each, options):
    like = _rows["zeros"](tuple(weight_size), dtype=grad_output.dtype, device=grad_output.device)
    return _of(function, (input, like), 1, grad_output, each, options)


def conv1d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of ``conv1d`` with respect to its input of shape ``input_size``."""
    return _input(F.conv1d, input_size, weight, grad_output, _single, (stride, padding, dilation, groups))


def conv1d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of ``conv1d`` with respect to its weight of shape ``weight_size``."""
    return _weight(F.conv1d, input, weight_size, grad_output, _single, (stride, padding, dilation, groups))


def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of ``conv2d`` with respect to its input of shape ``input_size``."""
    return _input(F.conv2d, input_size, weight, grad_output, _pair, (stride, padding, dilation, groups))


def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of ``conv2d`` with respect to its weight of shape ``weight_size``."""
    return _weight(F.conv2d, input, weight_size, grad_output, _pair, (stride, padding, dilation, groups))


def conv3d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of ``conv3d`` with respect to its input of shape ``input_size``."""
    return _input(F.conv3d, input_size, weight, grad_output, _triple, (stride, padding, dilation, groups))


def conv3d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of ``conv3d`` with respect to its weight of shape ``weight_size``."""
    return _weight(F.conv3d, input, weight_size, grad_output, _triple, (stride, padding, dilation, groups))

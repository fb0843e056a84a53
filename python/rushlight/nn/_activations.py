"""Activation functions."""

from .._C import _functions as _rows


def _over(input, result, inplace):
    """The result, written over the input if so wished."""
    return input.copy_(result) if inplace else result

def relu(input, inplace=False):
    """``max(input, 0)``."""
    return _rows["relu_"](input) if inplace else _rows["relu"](input)


def relu_(input):
    """As ``relu``, in place."""
    return _rows["relu_"](input)


def relu6(input, inplace=False):
    """``min(max(input, 0), 6)``."""
    return _over(input, _rows["relu6"](input), inplace)


def elu(input, alpha=1.0, inplace=False):
    """``input`` where positive, else ``alpha * (exp(input) - 1)``."""
    return (_rows["elu_"] if inplace else _rows["elu"])(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """``input`` where positive, else ``negative_slope * input``."""
    return (_rows["leaky_relu_"] if inplace else _rows["leaky_relu"])(input, negative_slope)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """``input`` held between ``min_val`` and ``max_val``."""
    return (_rows["hardtanh_"] if inplace else _rows["hardtanh"])(input, min_val, max_val)


elu_, leaky_relu_, hardtanh_ = _rows["elu_"], _rows["leaky_relu_"], _rows["hardtanh_"]


def hardsigmoid(input, inplace=False):
    """``relu6(input + 3) / 6``."""
    return _over(input, _rows["hardsigmoid"](input), inplace)


def silu(input, inplace=False):
    """``input * sigmoid(input)``."""
    return (_rows["silu_"] if inplace else _rows["silu"])(input)


def mish(input, inplace=False):
    """``input * tanh(softplus(input))``."""
    return _over(input, _rows["mish"](input), inplace)


def gelu(input, approximate="none"):
    """``input`` times the normal distribution function there; ``"tanh"`` takes the short formula for it."""
    if approximate == "none":
        return _rows["gelu"](input)
    if approximate != "tanh":
        raise RuntimeError(f"gelu: approximate must be 'none' or 'tanh', not {approximate!r}")
    return input * 0.5 * (1.0 + (0.7978845608028654 * (input + 0.044715 * input * input * input)).tanh())


def sigmoid(input):
    """``1 / (1 + exp(-input))``."""
    return _rows["sigmoid"](input)


def tanh(input):
    """The hyperbolic tangent."""
    return _rows["tanh"](input)


def _default_dim(name, ndim):
    import warnings

    warnings.warn(f"{name}: pass dim=; which one is meant without depends on the rank", stacklevel=3)
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """``exp(input)`` over its sum along ``dim``."""
    dim = _default_dim("softmax", input.ndim) if dim is None else dim
    return _rows["softmax"](input, dim, dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """The logarithm of ``softmax``, computed without forming it."""
    dim = _default_dim("log_softmax", input.ndim) if dim is None else dim
    return _rows["log_softmax"](input, dim, dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """``softmax`` of the negative."""
    return softmax(-input, dim, dtype=dtype)

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
celu_, selu_, threshold_, rrelu_ = _rows["celu_"], _rows["selu_"], _rows["threshold_"], _rows["rrelu_"]
hardshrink, softshrink, prelu = _rows["hardshrink"], _rows["softshrink"], _rows["prelu"]


def celu(input, alpha=1.0, inplace=False):
    """``max(0, input) + min(0, alpha * (exp(input / alpha) - 1))``."""
    return (celu_ if inplace else _rows["celu"])(input, alpha)


def selu(input, inplace=False):
    """``elu`` scaled so that mean 0 and variance 1 stay."""
    return (selu_ if inplace else _rows["selu"])(input)


def glu(input, dim=-1):
    """One half of ``dim`` times the sigmoid of the other."""
    return _rows["glu"](input, dim)


def hardswish(input, inplace=False):
    """``input * relu6(input + 3) / 6``."""
    return (_rows["hardswish_"] if inplace else _rows["hardswish"])(input)


def threshold(input, threshold, value, inplace=False):
    """``input`` where it is above ``threshold``, else ``value``."""
    return (threshold_ if inplace else _rows["threshold"])(input, threshold, value)


def rrelu(input, lower=1 / 8, upper=1 / 3, training=False, inplace=False):
    """``leaky_relu`` with slopes drawn from ``[lower, upper]`` while training, else of their mean."""
    return (rrelu_ if inplace else _rows["rrelu"])(input, lower, upper, training)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A random choice by ``softmax(logits)``, softened by ``tau``; ``hard`` makes it 0 and 1 on the way forward."""
    from .. import empty_like

    noise = -empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = soft.argmax(dim, keepdim=True)
    return soft.new_zeros(soft.shape).scatter_(dim, chosen, 1.0) - soft.detach() + soft


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

"""Values that parameters start from. Every function with a trailing ``_`` writes over its tensor and gives it.

Formulas: Glorot and Bengio 2010 (xavier), He et al. 2015 (kaiming), Saxe et al. 2013 (orthogonal),
Martens 2010 (sparse).
"""

import math
import warnings

from .. import _C
from ..autograd import no_grad

_rows = _C._functions

__all__ = """calculate_gain uniform_ normal_ trunc_normal_ constant_ ones_ zeros_ eye_ dirac_ xavier_uniform_ xavier_normal_
    kaiming_uniform_ kaiming_normal_ orthogonal_ sparse_ uniform normal constant eye dirac xavier_uniform xavier_normal
    kaiming_uniform kaiming_normal orthogonal sparse""".split()

_LINEAR = "linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d sigmoid".split()


def calculate_gain(nonlinearity, param=None):
    """By how much a layer's weights must be larger for the spread to survive this function.

    1 for linear layers and ``sigmoid``, 5/3 for ``tanh``, sqrt(2) for ``relu``, sqrt(2 / (1 + param**2)) for
    ``leaky_relu`` of slope ``param`` (0.01 if None), 3/4 for ``selu``.
    """
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is None:
            param = 0.01
        elif isinstance(param, bool) or not isinstance(param, (int, float)):
            raise ValueError(f"calculate_gain: the slope of leaky_relu must be a number, not {param!r}")
        return math.sqrt(2.0 / (1 + param**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"calculate_gain: there is no gain for {nonlinearity!r}")


def _no_grad_uniform_(tensor, a, b, generator=None):
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def _no_grad_normal_(tensor, mean, std, generator=None):
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _no_grad_fill_(tensor, val):
    with no_grad():
        return tensor.fill_(val)


def _no_grad_zero_(tensor):
    with no_grad():
        return tensor.zero_()


def _no_grad_trunc_normal_(tensor, mean, std, a, b, generator=None):
    """By inversion: a uniform number between the distribution's values at the bounds, through its inverse."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn("trunc_normal_: the mean is more than 2 std outside [a, b], so the numbers may be off", stacklevel=2)
    low, high = (0.5 * (1 + math.erf((bound - mean) / std / math.sqrt(2.0))) for bound in (a, b))
    with no_grad():
        tensor.uniform_(2 * low - 1, 2 * high - 1, generator=generator)
        tensor.copy_(tensor.erfinv())
        tensor.mul_(std * math.sqrt(2.0)).add_(mean)
        return tensor.clamp_(min=a, max=b)


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Uniform numbers of ``[a, b)``."""
    return _no_grad_uniform_(tensor, a, b, generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Normal numbers."""
    return _no_grad_normal_(tensor, mean, std, generator)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Normal numbers, but only those within ``[a, b]``."""
    return _no_grad_trunc_normal_(tensor, mean, std, a, b, generator=generator)


def constant_(tensor, val):
    """``val`` everywhere."""
    return _no_grad_fill_(tensor, val)


def ones_(tensor):
    """1 everywhere."""
    return _no_grad_fill_(tensor, 1.0)


def zeros_(tensor):
    """0 everywhere."""
    return _no_grad_zero_(tensor)


def eye_(tensor):
    """The identity, of a matrix of any shape. ValueError: no matrix."""
    if tensor.ndim != 2:
        raise ValueError(f"eye_: takes a matrix, not {tensor.ndim} dimensions")
    with no_grad():
        tensor.zero_()
        tensor.diagonal().fill_(1)
    return tensor


def dirac_(tensor, groups=1):
    """The weight [out, in, *kernel] of a convolution that keeps as many channels as it can, in each group."""
    if tensor.ndim not in (3, 4, 5):
        raise ValueError(f"dirac_: takes a weight of 3, 4 or 5 dimensions, not {tensor.ndim}")
    if tensor.shape[0] % groups:
        raise ValueError(f"dirac_: {groups} groups do not divide {tensor.shape[0]} channels")
    each = tensor.shape[0] // groups
    middle = tuple(n // 2 for n in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for k in range(min(each, tensor.shape[1])):
                tensor[(group * each + k, k, *middle)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor):
    """How many inputs reach an output of a weight [out, in, *kernel], and how many outputs an input."""
    if tensor.ndim < 2:
        raise ValueError(f"fan in and fan out: a weight needs at least 2 dimensions, not {tensor.ndim}")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"kaiming: mode must be 'fan_in' or 'fan_out', not {mode!r}")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform numbers up to ``gain * sqrt(6 / (fan_in + fan_out))``."""
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal numbers of deviation ``gain * sqrt(2 / (fan_in + fan_out))``."""
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return _no_grad_normal_(tensor, 0.0, std, generator)


def _kaiming_std(name, tensor, a, mode, nonlinearity):
    """The deviation; None if there is nothing to fill."""
    if 0 in tensor.shape:
        warnings.warn(f"{name}: the tensor has no elements", stacklevel=3)
        return None
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform numbers up to ``gain * sqrt(3 / fan)``; ``a`` is the slope of ``leaky_relu``."""
    std = _kaiming_std("kaiming_uniform_", tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal numbers of deviation ``gain / sqrt(fan)``; ``a`` is the slope of ``leaky_relu``."""
    std = _kaiming_std("kaiming_normal_", tensor, a, mode, nonlinearity)
    return tensor if std is None else _no_grad_normal_(tensor, 0.0, std, generator)


def orthogonal_(tensor, gain=1, generator=None):
    """A matrix with orthonormal rows or columns, times ``gain``; dimensions after the first count as one."""
    if tensor.ndim < 2:
        raise ValueError(f"orthogonal_: takes at least 2 dimensions, not {tensor.ndim}")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    with no_grad():
        flat = tensor.new_empty((rows, tensor.numel() // rows)).normal_(0, 1, generator=generator)
        wide = rows < flat.shape[1]
        q, r = _rows["linalg_qr"](flat.t() if wide else flat)
        # Signs that make the factorisation unique make the matrix uniform.
        q = q * r.diagonal().sign()
        tensor.copy_((q.t() if wide else q).reshape(tensor.shape))
        return tensor.mul_(gain)


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal numbers, and zeros in a part ``sparsity`` of each column."""
    if tensor.ndim != 2:
        raise ValueError(f"sparse_: takes a matrix, not {tensor.ndim} dimensions")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[_rows["randperm"](rows, generator=generator)[:zeros], column] = 0
    return tensor


def _make_deprecate(meth):
    def old(*args, **kwargs):
        warnings.warn(f"init.{meth.__name__[:-1]}: use init.{meth.__name__}", FutureWarning, stacklevel=2)
        return meth(*args, **kwargs)

    old.__name__ = meth.__name__[:-1]
    old.__doc__ = f"The former name of ``{meth.__name__}``."
    return old


uniform, normal, constant, eye, dirac = (_make_deprecate(f) for f in (uniform_, normal_, constant_, eye_, dirac_))
xavier_uniform, xavier_normal = _make_deprecate(xavier_uniform_), _make_deprecate(xavier_normal_)
kaiming_uniform, kaiming_normal = _make_deprecate(kaiming_uniform_), _make_deprecate(kaiming_normal_)
orthogonal, sparse = _make_deprecate(orthogonal_), _make_deprecate(sparse_)

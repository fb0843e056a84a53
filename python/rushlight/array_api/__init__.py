"""The Python array API standard, version 2025.12, over rushlight's own tensors.

``Tensor.__array_namespace__()`` returns this module. Its arrays, dtypes and devices are rushlight's,
and its functions call the same rows, so gradients flow through them; only names, defaults and a few
rules differ from the module above, which follows torch. docs/array_api.md lists where.
"""

from math import e, inf, nan, pi

from .._C import (
    bool,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from . import fft, linalg
from .creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from .data_types import astype, can_cast, finfo, iinfo, isdtype, result_type
from .elementwise import (
    abs,
    acos,
    acosh,
    add,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    ceil,
    clip,
    conj,
    copysign,
    cos,
    cosh,
    divide,
    equal,
    exp,
    expm1,
    floor,
    floor_divide,
    greater,
    greater_equal,
    hypot,
    imag,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    negative,
    nextafter,
    not_equal,
    positive,
    pow,
    real,
    reciprocal,
    remainder,
    round,
    sign,
    signbit,
    sin,
    sinh,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
    trunc,
)
from .indexing import take, take_along_axis
from .info import __array_namespace_info__
from .linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from .manipulation import (
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    concat,
    expand_dims,
    flip,
    moveaxis,
    permute_dims,
    repeat,
    reshape,
    roll,
    squeeze,
    stack,
    tile,
    unstack,
)
from .searching import argmax, argmin, count_nonzero, nonzero, searchsorted, where
from .sets import isin, unique_all, unique_counts, unique_inverse, unique_values
from .sorting import argsort, sort
from .statistics import cumulative_prod, cumulative_sum, max, mean, min, prod, std, sum, var
from .utility import all, any, diff

newaxis = None

__array_api_version__ = "2025.12"

#: The standard's names and no others: clients try a namespace for extras with NumPy's meaning.
__all__ = [
    name for name in globals()
    if name == "__array_namespace_info__" or not name.startswith("_") and name not in
    ("creation", "data_types", "elementwise", "indexing", "info", "linear_algebra", "manipulation", "searching", "sets", "sorting", "statistics", "utility")
]  # fmt: skip
__all__ += ["__array_api_version__"]


def __getattr__(name):
    if name == "__version__":
        from ..version import __version__

        return __version__
    raise AttributeError(f"rushlight.array_api has no {name!r}; it has the names of the array API standard {__array_api_version__}")


def __dir__():
    return [*__all__, "__version__", "__name__", "__doc__"]


def namespace(api_version=None):
    """What ``Tensor.__array_namespace__`` gives.

    Raises ``ValueError`` for a version of the standard that is not served.
    """
    served = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
    if api_version is not None and api_version not in served:
        raise ValueError(f"__array_namespace__: there is no version {api_version!r} here, only {', '.join(served)}")
    import sys

    return sys.modules[__name__]

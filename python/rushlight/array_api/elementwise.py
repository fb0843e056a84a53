"""Element-wise functions. They broadcast, and promote by dtype alone: a 0-d array counts like any other.

One of two operands may be a Python number, which takes the array's dtype.
"""

from .. import _functions
from .._C import Tensor
from .._C import _functions as rows
from ._arrays import INTEGERS, array, pair, row_of


def _named(f, name, doc):
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return f


def _unary(name, row=None, doc=None):
    compute = row_of(row or name)

    def function(x, /):
        return compute(array(name, x))

    return _named(function, name, doc or compute.__doc__)


def _binary(name, row=None, doc=None):
    compute = row_of(row or name)

    def function(x1, x2, /):
        return compute(*pair(name, x1, x2))

    return _named(function, name, doc or compute.__doc__)


acos = _unary("acos")
acosh = _unary("acosh")
asin = _unary("asin")
asinh = _unary("asinh")
atan = _unary("atan")
atanh = _unary("atanh")
bitwise_invert = _unary("bitwise_invert", "bitwise_not")
ceil = _unary("ceil")
cos = _unary("cos")
cosh = _unary("cosh")
exp = _unary("exp")
expm1 = _unary("expm1")
floor = _unary("floor")
isfinite = _unary("isfinite")
isinf = _unary("isinf")
isnan = _unary("isnan")
log = _unary("log")
log10 = _unary("log10")
log1p = _unary("log1p")
log2 = _unary("log2")
logical_not = _unary("logical_not")
negative = _unary("negative", "neg")
reciprocal = _unary("reciprocal")
signbit = _unary("signbit")
sin = _unary("sin")
sinh = _unary("sinh")
sqrt = _unary("sqrt")
square = _unary("square")
tan = _unary("tan")
tanh = _unary("tanh")
trunc = _unary("trunc")

add = _binary("add")
atan2 = _binary("atan2")
bitwise_and = _binary("bitwise_and")
bitwise_left_shift = _binary("bitwise_left_shift")
bitwise_or = _binary("bitwise_or")
bitwise_right_shift = _binary("bitwise_right_shift")
bitwise_xor = _binary("bitwise_xor")
copysign = _binary("copysign")
divide = _binary("divide", "div")
equal = _binary("equal", "eq")
greater = _binary("greater", "gt")
greater_equal = _binary("greater_equal", "ge")
hypot = _binary("hypot")
less = _binary("less", "lt")
less_equal = _binary("less_equal", "le")
logaddexp = _binary("logaddexp")
logical_and = _binary("logical_and")
logical_or = _binary("logical_or")
logical_xor = _binary("logical_xor")
maximum = _binary("maximum")
minimum = _binary("minimum")
multiply = _binary("multiply", "mul")
nextafter = _binary("nextafter")
not_equal = _binary("not_equal", "ne")
pow = _binary("pow")
remainder = _binary("remainder")
subtract = _binary("subtract", "sub")


def abs(x, /):
    """Absolute values; of complex numbers the real distance from zero."""
    return rows["abs"](array("abs", x))


def clip(x, /, min=None, max=None):
    """``x`` no less than ``min`` and no more than ``max``, in the dtype of ``x``; a bound is a number, an array or absent."""
    kept = array("clip", x).dtype
    if min is None and max is None:
        return x.clone()
    low, high = (_bound(x, bound) for bound in (min, max))
    return rows["clamp"](x, low, high).to(kept)


def _bound(x, bound):
    if isinstance(bound, Tensor):
        return bound.to(x.dtype)
    if isinstance(bound, float) and x.dtype in INTEGERS and bound in (float("inf"), float("-inf")):
        return None
    return bound


def conj(x, /):
    """Complex conjugates; real numbers are their own."""
    return _functions.conj(array("conj", x))


def floor_divide(x1, x2, /):
    """``x1 / x2`` rounded down. A division by or of an infinity has the infinite or signed zero quotient that ``x1 / x2`` has."""
    x1, x2 = pair("floor_divide", x1, x2)
    quotient = rows["floor_divide"](x1, x2)
    if not quotient.is_floating_point():
        return quotient
    endless = rows["isinf"](x1) | rows["isinf"](x2)
    return rows["where"](endless, rows["div"](x1, x2), quotient)


def imag(x, /):
    """Imaginary parts, a view of a complex array; zeros for a real one."""
    return x.imag if array("imag", x).is_complex() else rows["zeros_like"](x)


def positive(x, /):
    """A copy."""
    return array("positive", x).clone()


def real(x, /):
    """Real parts, a view of a complex array; a real array itself."""
    return array("real", x).real


def round(x, /):
    """The nearest whole numbers, ties to even; of complex numbers both parts."""
    if array("round", x).is_complex():
        return _functions.complex(rows["round"](x.real), rows["round"](x.imag))
    return rows["round"](x)


def sign(x, /):
    """-1, 0 or 1; NaN stays NaN; ``x / abs(x)`` of complex numbers other than 0."""
    if not array("sign", x).is_complex():
        return rows["sign"](x)
    size = rows["abs"](x)
    zero = size == 0
    return rows["where"](zero, 0, x / rows["where"](zero, 1, size))



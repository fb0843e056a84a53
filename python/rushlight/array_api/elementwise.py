"""Element-wise functions. They broadcast, and promote by dtype alone: a 0-d array counts like any other.

One of two operands may be a Python number, which takes the array's dtype.
"""

from .. import _functions
from .._C import Tensor
from .._C import _functions as rows
from ._arrays import INTEGERS, array, pair


def _named(f, name, doc):
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return f


def _unary(name, doc, row=None):
    compute = rows[row or name]

    def function(x, /):
        return compute(array(name, x))

    return _named(function, name, doc)


def _binary(name, doc, row=None):
    compute = rows[row or name]

    def function(x1, x2, /):
        return compute(*pair(name, x1, x2))

    return _named(function, name, doc)


acos = _unary("acos", "The inverse cosine, in radians.")
acosh = _unary("acosh", "The inverse hyperbolic cosine.")
asin = _unary("asin", "The inverse sine, in radians.")
asinh = _unary("asinh", "The inverse hyperbolic sine.")
atan = _unary("atan", "The inverse tangent, in radians.")
atanh = _unary("atanh", "The inverse hyperbolic tangent.")
bitwise_invert = _unary("bitwise_invert", "Every bit inverted; of bool the opposite.", "bitwise_not")
ceil = _unary("ceil", "The smallest whole number not below; integers stay.")
cos = _unary("cos", "The cosine of radians.")
cosh = _unary("cosh", "The hyperbolic cosine.")
exp = _unary("exp", "``e`` to the power ``x``.")
expm1 = _unary("expm1", "``exp(x) - 1``, exact near 0.")
floor = _unary("floor", "The largest whole number not above; integers stay.")
isfinite = _unary("isfinite", "Whether neither infinite nor NaN, in either part.")
isinf = _unary("isinf", "Whether infinite, in either part.")
isnan = _unary("isnan", "Whether NaN, in either part.")
log = _unary("log", "The natural logarithm.")
log10 = _unary("log10", "The logarithm to base 10.")
log1p = _unary("log1p", "``log(1 + x)``, exact near 0.")
log2 = _unary("log2", "The logarithm to base 2.")
logical_not = _unary("logical_not", "Whether zero (False).")
negative = _unary("negative", "``-x``; unsigned integers wrap.", "neg")
reciprocal = _unary("reciprocal", "``1 / x``.")
signbit = _unary("signbit", "Whether the sign bit is set: of -0.0 too.")
sin = _unary("sin", "The sine of radians.")
sinh = _unary("sinh", "The hyperbolic sine.")
sqrt = _unary("sqrt", "The square root.")
square = _unary("square", "``x * x``.")
tan = _unary("tan", "The tangent of radians.")
tanh = _unary("tanh", "The hyperbolic tangent.")
trunc = _unary("trunc", "The number without its fraction; integers stay.")

add = _binary("add", "``x1 + x2``.")
atan2 = _binary("atan2", "The angle, in radians, of the point with the height ``x1`` and the width ``x2``.")
bitwise_and = _binary("bitwise_and", "Bits set in both.")
bitwise_left_shift = _binary("bitwise_left_shift", "Bits of ``x1`` moved up by ``x2`` places.")
bitwise_or = _binary("bitwise_or", "Bits set in either.")
bitwise_right_shift = _binary("bitwise_right_shift", "Bits of ``x1`` moved down by ``x2`` places, the sign kept.")
bitwise_xor = _binary("bitwise_xor", "Bits set in exactly one.")
copysign = _binary("copysign", "``x1`` with the sign of ``x2``.")
divide = _binary("divide", "``x1 / x2``.", "div")
equal = _binary("equal", "Whether elements are equal.", "eq")
greater = _binary("greater", "Whether ``x1 > x2``.", "gt")
greater_equal = _binary("greater_equal", "Whether ``x1 >= x2``.", "ge")
hypot = _binary("hypot", "The length of the vector of ``x1`` and ``x2``, without overflow between.")
less = _binary("less", "Whether ``x1 < x2``.", "lt")
less_equal = _binary("less_equal", "Whether ``x1 <= x2``.", "le")
logaddexp = _binary("logaddexp", "``log(exp(x1) + exp(x2))`` without overflow between.")
logical_and = _binary("logical_and", "Whether both are true.")
logical_or = _binary("logical_or", "Whether either is true.")
logical_xor = _binary("logical_xor", "Whether exactly one is true.")
maximum = _binary("maximum", "The larger of the two; NaN wins.")
minimum = _binary("minimum", "The smaller of the two; NaN wins.")
multiply = _binary("multiply", "``x1 * x2``.", "mul")
nextafter = _binary("nextafter", "The next float after ``x1`` on the way to ``x2``.")
not_equal = _binary("not_equal", "Whether elements differ; NaN differs from itself.", "ne")
pow = _binary("pow", "``x1`` to the power ``x2``.")
remainder = _binary("remainder", "The remainder of ``x1 / x2``, with the sign of ``x2``.")
subtract = _binary("subtract", "``x1 - x2``.", "sub")


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
    return rows["sgn"](array("sign", x))



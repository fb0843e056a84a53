//! Arithmetic and comparison, element by element.

use crate::Tensor;

pointwise! { ARITHMETIC;
    /// `input + alpha * other`. Broadcasts and promotes; bool adds as "or".
    fn add / add_with, inplace add_ (input, other) [alpha = 1] Promote = |x| x[0] + x[1] * x[2], plain |x| x[0] + x[1];
    /// `input - alpha * other`.
    fn sub as sub | subtract / sub_with, inplace sub_ (input, other) [alpha = 1] Promote except bool any_bool = |x| x[0] - x[1] * x[2], plain |x| x[0] - x[1];
    /// `input * other`. Bool multiplies as "and".
    fn mul as mul | multiply, inplace mul_ (input, other) Promote = |x| x[0] * x[1];
    /// `input / other`; integers give the default float, x/0 gives inf or nan.
    fn div as div | divide | true_divide, inplace div_ (input, other) Float = |x| x[0] / x[1];
    /// `floor(input / other)`; integers stay integers and refuse a zero divisor.
    fn floor_divide, inplace floor_divide_ (input, other) Promote except bool complex zero_divisor = |x| x[0].floor_divide(x[1]);
    /// The remainder with the divisor's sign, as Python's `%`.
    fn remainder, inplace remainder_ (input, other) Promote except bool complex zero_divisor = |x| x[0].remainder(x[1]);
    /// The remainder with the dividend's sign, as C's `fmod`.
    fn fmod, inplace fmod_ (input, other) Promote except bool complex zero_divisor = |x| x[0].fmod(x[1]);
    /// `input` to the power `exponent`. An integer to a negative integer power is refused.
    fn pow, inplace pow_ (input, exponent) Promote except negative_exponent = |x| x[0].pow(x[1]);
    /// `-input`.
    fn neg as neg | negative, inplace neg_ (input) Promote except bool = |x| -x[0];
    /// Whether elements are equal.
    fn eq (input, other) Compare = |x| x[0].eq(x[1]);
    /// Whether elements differ; NaN differs from itself.
    fn ne as ne | not_equal (input, other) Compare = |x| x[0].ne(x[1]);
    /// Whether `input < other`.
    fn lt as lt | less (input, other) Compare except complex = |x| x[0].lt(x[1]);
    /// Whether `input <= other`.
    fn le as le | less_equal (input, other) Compare except complex = |x| x[0].le(x[1]);
    /// Whether `input > other`.
    fn gt as gt | greater (input, other) Compare except complex = |x| x[0].gt(x[1]);
    /// Whether `input >= other`.
    fn ge as ge | greater_equal (input, other) Compare except complex = |x| x[0].ge(x[1]);
}

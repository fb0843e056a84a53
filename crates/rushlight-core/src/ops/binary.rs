//! Extrema, logic, bits and choice, element by element.

use crate::Tensor;

pointwise! { BINARY;
    /// The larger of both; NaN if either is. Ties share the gradient.
    fn maximum as maximum | max (input, other) Promote except number order = |x| x[0].maximum(x[1]);
    /// The smaller of both; NaN if either is. Ties share the gradient.
    fn minimum as minimum | min (input, other) Promote except number order = |x| x[0].minimum(x[1]);
    /// The larger of both; a NaN counts as missing.
    fn fmax (input, other) Promote except number order = |x| x[0].isnan().select(x[1], x[1].isnan().select(x[0], x[0].maximum(x[1])));
    /// The smaller of both; a NaN counts as missing.
    fn fmin (input, other) Promote except number order = |x| x[0].isnan().select(x[1], x[1].isnan().select(x[0], x[0].minimum(x[1])));
    /// The angle of the point (other, input), in radians.
    fn atan2 as atan2 | arctan2, inplace atan2_ (input, other) Float except number complex = |x| x[0].atan2(x[1]);
    /// `sqrt(input^2 + other^2)`.
    fn hypot, inplace hypot_ (input, other) Promote except number bool int complex = |x| {
        // Scaled by the larger one, so that no square overflows.
        let (a, b) = (x[0].abs(), x[1].abs());
        let (low, high) = (a.minimum(b), a.maximum(b));
        let part = low / high;
        let long = high * (part * part + 1.0).sqrt();
        // Beside 0 there is nothing to scale; beside infinity nothing else counts, NaN neither.
        (a.isinf() | b.isinf()).select(f64::INFINITY, high.eq(0.0).select(high, long))
    }, grad |x, y, g| vec![y.eq(0.0).select(0.0, g * x[0] / y), y.eq(0.0).select(0.0, g * x[1] / y)];
    /// `|input|` with the sign of `other`.
    fn copysign, inplace copysign_ (input, other) Float except complex = |x| x[0].copysign(x[1]);
    /// Whether both are true (not zero).
    fn logical_and (input, other) Truth except number = |x| x[0].logical_and(x[1]);
    /// Whether either is true (not zero).
    fn logical_or (input, other) Truth except number = |x| x[0].logical_or(x[1]);
    /// Whether exactly one is true (not zero).
    fn logical_xor (input, other) Truth except number = |x| x[0].logical_xor(x[1]);
    /// `input` where the condition is true, else `other` (torch: `where`).
    fn where_cond as where (condition, input, other) Promote = |x| x[0].select(x[1], x[2]);
    /// `start + weight * (end - start)`.
    fn lerp, inplace lerp_ (input, end, weight) Promote except bool int = |x| x[0] + x[2] * (x[1] - x[0]);
    /// `input + value * tensor1 * tensor2`.
    fn addcmul, inplace addcmul_ (input, tensor1, tensor2; value = 1) Promote = |x| x[0] + x[3] * (x[1] * x[2]);
    /// `input + value * tensor1 / tensor2`.
    fn addcdiv, inplace addcdiv_ (input, tensor1, tensor2; value = 1) Promote except bool int = |x| x[0] + x[3] * (x[1] / x[2]);
}

//! Accuracy in units of the last place, and special values, with and without fused multiply-add.

use super::{double, single, wide};
use crate::isa::{Fused, Isa, Plain};

/// Numbers whose exponents and signs are spread over the whole type, with its special values.
fn sweep() -> Vec<f32> {
    let mut xs = vec![0.0, -0.0, 1.0, -1.0, 0.5, 2.0, f32::MIN_POSITIVE, 1e-45, -1e-45, f32::MAX, f32::MIN];
    xs.extend([
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        88.722_83,
        88.73,
        -87.3,
        -103.9,
        -104.1,
        9.0,
        20.0,
    ]);
    let mut state = 12345u32;
    for i in 0..200_000u32 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Every bit pattern is likely in a quarter of them; the others lie where functions bend.
        let u = state as f32 / u32::MAX as f32;
        xs.push(match i % 4 {
            0 => f32::from_bits(state),
            1 => u * 2.0 - 1.0,
            2 => u * 200.0 - 100.0,
            _ => (u - 0.5) * 12.0,
        });
    }
    xs
}

fn ulps32(got: f32, want: f64) -> f64 {
    if want.is_nan() || got.is_nan() {
        return if want.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let near = want as f32;
    if near.is_infinite() || got.is_infinite() {
        // Rounding may carry just over the largest finite number.
        let close =
            got == near || (got.abs() == f32::MAX && near.is_infinite() && want.abs() < 3.402_824_2e38);
        return if close { 0.0 } else { f64::INFINITY };
    }
    let unit = (f32::from_bits(near.abs().max(f32::MIN_POSITIVE).to_bits() + 1)
        - near.abs().max(f32::MIN_POSITIVE)) as f64;
    (f64::from(got) - want).abs() / unit
}

fn ulps64(got: f64, want: f64) -> f64 {
    if want.is_nan() || got.is_nan() {
        return if want.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if want.is_infinite() || got.is_infinite() {
        return if got == want { 0.0 } else { f64::INFINITY };
    }
    let floor = want.abs().max(f64::MIN_POSITIVE);
    (got - want).abs() / (f64::from_bits(floor.to_bits() + 1) - floor)
}

/// Holds the worst error over `xs` that fit against a limit, in units of the last place; zeros keep
/// their signs.
fn check<T: Copy + Into<f64>>(
    (name, limit): (&str, f64),
    xs: Vec<T>,
    got: impl Fn(T) -> T,
    want: impl Fn(f64) -> f64,
    ulps: impl Fn(T, f64) -> f64,
) {
    let (mut worst, mut at) = (0.0, 0.0);
    for x in xs {
        let (y, wide) = (got(x), x.into());
        let w = want(wide);
        let e = ulps(y, w);
        let y = y.into();
        assert!(e.is_finite(), "{name}({wide:e}) gave {y:e}, not {w:e}");
        if w == 0.0 && wide == 0.0 {
            assert_eq!(y.is_sign_negative(), w.is_sign_negative(), "{name}({wide}) has the wrong sign");
        }
        if e > worst {
            (worst, at) = (e, wide);
        }
    }
    assert!(worst <= limit, "{name} is {worst} units off at {at:e}; the limit is {limit}");
}

fn check32(
    name: &str,
    limit: f64,
    got: impl Fn(f32) -> f32,
    want: impl Fn(f64) -> f64,
    fits: impl Fn(f32) -> bool,
) {
    let xs = sweep().into_iter().filter(|x| fits(*x)).collect();
    check((name, limit), xs, got, want, ulps32);
}

fn check64(
    name: &str,
    limit: f64,
    got: impl Fn(f64) -> f64,
    want: impl Fn(f64) -> f64,
    fits: impl Fn(f64) -> bool,
) {
    let mut xs: Vec<f64> = sweep().into_iter().map(f64::from).collect();
    xs.extend(sweep().windows(2).map(|w| f64::from(w[0]) * (1.0 + 1e-9 * f64::from(w[1]).clamp(-1.0, 1.0))));
    xs.extend([f64::MIN_POSITIVE, 5e-324, -5e-324, f64::MAX]);
    xs.extend([709.78, 709.79, 710.5, -744.4, -745.0, -746.0, -708.0]);
    xs.retain(|x| fits(*x));
    check((name, limit), xs, got, want, ulps64);
}

fn any<T>(_: T) -> bool {
    true
}
fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}

/// libm's is wrong below -1.
fn f64_acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

fn singles<I: Isa>() {
    check32("exp", 1.2, single::exp::<I>, f64::exp, any);
    check32("expm1", 2.0, single::expm1::<I>, f64::exp_m1, any);
    check32("sigmoid", 2.5, single::sigmoid::<I>, sigmoid, any);
    check32("tanh", 2.5, single::tanh::<I>, f64::tanh, any);
    check32("log", 1.5, single::log::<I>, f64::ln, any);
    check32("erf", 1.5, single::erf::<I>, libm::erf, any);
}

fn wides<I: Isa>() {
    let trig = |x: f32| x.abs() <= wide::TRIG_LIMIT || !x.is_finite();
    check32("log1p", 0.51, wide::log1p::<I>, f64::ln_1p, any);
    check32("log2", 0.51, wide::log2::<I>, f64::log2, any);
    check32("log10", 0.51, wide::log10::<I>, f64::log10, any);
    check32("exp2", 0.51, wide::exp2::<I>, f64::exp2, any);
    check32("sinh", 0.51, wide::sinh::<I>, f64::sinh, any);
    check32("cosh", 0.51, wide::cosh::<I>, f64::cosh, any);
    check32("asinh", 0.51, wide::asinh::<I>, libm::asinh, any);
    check32("acosh", 0.51, wide::acosh::<I>, f64_acosh, any);
    check32("atanh", 0.51, wide::atanh::<I>, libm::atanh, any);
    check32("sin", 0.51, wide::sin::<I>, f64::sin, trig);
    check32("cos", 0.51, wide::cos::<I>, f64::cos, trig);
    check32("tan", 0.51, wide::tan::<I>, f64::tan, trig);
    check32("asin", 0.51, wide::asin::<I>, f64::asin, any);
    check32("acos", 0.51, wide::acos::<I>, f64::acos, any);
    check32("atan", 0.51, wide::atan::<I>, f64::atan, any);
    check32("erfc", 0.6, wide::erfc::<I>, libm::erfc, any);
}

fn doubles<I: Isa>() {
    let trig = |x: f64| x.abs() <= double::TRIG_LIMIT || !x.is_finite();
    check64("exp", 1.5, double::exp::<I>, f64::exp, any);
    check64("expm1", 2.0, double::expm1::<I>, f64::exp_m1, any);
    check64("sigmoid", 3.0, double::sigmoid::<I>, sigmoid, any);
    check64("tanh", 3.0, double::tanh::<I>, f64::tanh, any);
    check64("log", 1.5, double::log::<I>, f64::ln, any);
    check64("sin", 1.5, double::sin::<I>, f64::sin, trig);
    check64("cos", 1.5, double::cos::<I>, f64::cos, trig);
}

#[test]
fn f32_functions_are_accurate() {
    singles::<Plain>();
    singles::<Fused>();
}
#[test]
fn f32_functions_through_f64_are_accurate() {
    wides::<Plain>();
    wides::<Fused>();
}
#[test]
fn f64_functions_are_accurate() {
    doubles::<Plain>();
    doubles::<Fused>();
}

#[test]
fn powers_and_angles_match_the_platform() {
    let xs = sweep();
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        -2.0,
        3.0,
        -3.0,
        0.5,
        -0.5,
        1e30,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    let mut pairs: Vec<(f32, f32)> = xs.windows(2).map(|w| (w[0], w[1])).collect();
    pairs.extend(special.iter().flat_map(|a| special.iter().map(|b| (*a, *b))));
    pairs.extend(xs.iter().flat_map(|x| [(*x, 2.0), (*x, 3.0), (*x, -1.0), (*x, 0.5)]));
    for (a, b) in pairs {
        for (name, got, want) in [
            ("pow", wide::pow::<Fused>(a, b), f64::from(a).powf(b.into())),
            ("pow", wide::pow::<Plain>(a, b), f64::from(a).powf(b.into())),
            ("atan2", wide::atan2::<Fused>(a, b), f64::from(a).atan2(b.into())),
        ] {
            let e = ulps32(got, want);
            assert!(e <= 0.52, "{name}({a:e}, {b:e}) gave {got:e}, not {want:e}");
            let zero = want == 0.0 && got == 0.0;
            assert!(
                !zero || got.is_sign_negative() == want.is_sign_negative(),
                "{name}({a:e}, {b:e}) gave {got:e}"
            );
        }
    }
}

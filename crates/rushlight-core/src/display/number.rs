//! One number as text, in the style that all numbers of its tensor share.

use super::PrintOptions;
use crate::{Category, Number};

/// How floats are written.
#[derive(Clone, Copy)]
enum Notation {
    /// `3.`
    Whole,
    /// `3.1416`
    Fixed,
    /// `3.1416e+00`
    Scientific,
}

/// How the floats of a tensor, or one part of its complex numbers, are written.
struct Style {
    notation: Notation,
    precision: usize,
    /// The longest finite number other than 0 decides; others may be longer.
    width: usize,
}

impl Style {
    fn choose(values: impl Iterator<Item = f64>, options: &PrintOptions) -> Style {
        let numbers: Vec<f64> = values.filter(|x| x.is_finite() && *x != 0.0).collect();
        let (mut low, mut high, mut whole) = (f64::INFINITY, 0f64, true);
        for x in numbers.iter().map(|x| x.abs()) {
            (low, high, whole) = (low.min(x), high.max(x), whole && x.fract() == 0.0);
        }
        let spread = !numbers.is_empty() && (high / low > 1000.0 || high > 1e8 || low < 1e-4);
        let notation = match (numbers.is_empty(), options.scientific.unwrap_or(spread), whole) {
            (false, true, _) => Notation::Scientific,
            (false, false, false) => Notation::Fixed,
            _ => Notation::Whole,
        };
        let mut style = Style { notation, precision: options.precision, width: 1 };
        style.width = numbers.iter().map(|x| style.write(*x).len()).max().unwrap_or(1);
        style
    }

    fn write(&self, x: f64) -> String {
        if x.is_nan() {
            return "nan".into();
        }
        if x.is_infinite() {
            return if x > 0.0 { "inf".into() } else { "-inf".into() };
        }
        let digits = self.precision;
        match self.notation {
            Notation::Whole => format!("{x:.0}."),
            Notation::Fixed => format!("{x:.digits$}"),
            Notation::Scientific => {
                // Exponents have a sign and at least two digits.
                let text = format!("{x:.digits$e}");
                let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
                let (sign, places) = match exponent.strip_prefix('-') {
                    Some(rest) => ('-', rest),
                    None => ('+', exponent),
                };
                format!("{digits}e{sign}{places:0>2}")
            }
        }
    }

    fn padded(&self, x: f64) -> String {
        format!("{:>1$}", self.write(x), self.width)
    }
}

/// Writes the elements of one tensor.
pub(super) struct Writer {
    real: Style,
    imaginary: Style,
    category: Category,
    /// Characters of an element, as lines are filled.
    pub width: usize,
}

impl Writer {
    pub fn new(category: Category, shown: &[Number], options: &PrintOptions) -> Writer {
        let real = Style::choose(shown.iter().map(|n| n.to_complex().re), options);
        let imaginary = Style::choose(shown.iter().map(|n| n.to_complex().im), options);
        let mut writer = Writer { real, imaginary, category, width: 0 };
        writer.width = match category {
            Category::Float => writer.real.width,
            // The sign belongs to the width of the imaginary part; `j` follows.
            Category::Complex => writer.real.width + writer.imaginary.width + 1,
            Category::Bool | Category::Int => {
                shown.iter().map(|n| writer.integer(*n).len()).max().unwrap_or(1)
            }
        };
        writer
    }

    fn integer(&self, n: Number) -> String {
        match (self.category, n) {
            (Category::Bool, n) => if n.to_bool() { "True" } else { "False" }.into(),
            (_, Number::UInt(u)) => u.to_string(),
            (_, n) => n.to_i64().to_string(),
        }
    }

    /// An element, padded to the width.
    pub fn element(&self, n: Number) -> String {
        match self.category {
            Category::Float => self.real.padded(n.to_f64()),
            Category::Complex => {
                let z = n.to_complex();
                // Only the real part is padded, so that the sign stands right behind it.
                let imaginary = self.imaginary.write(z.im);
                let sign = if imaginary.starts_with('-') { "" } else { "+" };
                format!("{}{sign}{imaginary}j", self.real.padded(z.re))
            }
            Category::Bool | Category::Int => format!("{:>1$}", self.integer(n), self.width),
        }
    }
}

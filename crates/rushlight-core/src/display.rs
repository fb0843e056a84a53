//! Printing, as torch prints: four digits, summarised past a thousand elements, lines of eighty.

use crate::{Category, DType, Device, Number, Result, Tensor};
use std::fmt;

/// Digits after the point.
const PRECISION: usize = 4;
/// Elements from which only the edges are shown.
const THRESHOLD: usize = 1000;
/// Elements shown at each edge of a summarised dimension.
const EDGE: usize = 3;
/// Characters of a line.
const WIDTH: usize = 80;

/// How the numbers of one tensor are written.
#[derive(Clone, Copy)]
enum Style {
    /// Whole floats: `3.`
    Whole,
    /// `3.1416`
    Fixed,
    /// `3.1416e+00`
    Scientific,
}

impl Style {
    /// By the finite numbers that are not 0.
    fn choose(numbers: &[f64]) -> Style {
        let (mut low, mut high, mut whole) = (f64::INFINITY, 0f64, true);
        for x in numbers.iter().map(|x| x.abs()) {
            (low, high, whole) = (low.min(x), high.max(x), whole && x.fract() == 0.0);
        }
        let wide = !numbers.is_empty() && (high / low > 1000.0 || high > 1e8);
        match (whole, wide || (!whole && low < 1e-4)) {
            (_, true) => Style::Scientific,
            (true, false) => Style::Whole,
            (false, false) => Style::Fixed,
        }
    }

    fn write(self, x: f64) -> String {
        if x.is_nan() {
            return "nan".into();
        }
        if x.is_infinite() {
            return if x > 0.0 { "inf".into() } else { "-inf".into() };
        }
        match self {
            Style::Whole => format!("{x:.0}."),
            Style::Fixed => format!("{x:.PRECISION$}"),
            Style::Scientific => {
                // Exponents have a sign and at least two digits.
                let text = format!("{x:.PRECISION$e}");
                let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
                let (sign, places) = match exponent.strip_prefix('-') {
                    Some(rest) => ('-', rest),
                    None => ('+', exponent),
                };
                format!("{digits}e{sign}{places:0>2}")
            }
        }
    }
}

/// Writes elements of one width.
struct Writer {
    real: Style,
    imaginary: Style,
    width: usize,
    kind: Category,
}

impl Writer {
    fn new(dtype: DType, shown: &[Number]) -> Writer {
        let finite = |part: fn(&Number) -> f64| -> Vec<f64> {
            shown.iter().map(part).filter(|x| x.is_finite() && *x != 0.0).collect()
        };
        let (re, im) = (finite(|n| n.to_f64()), finite(|n| n.to_complex().im));
        let mut writer = Writer {
            real: Style::choose(&re),
            imaginary: Style::choose(&im),
            width: 0,
            kind: dtype.category(),
        };
        let counted = |n: &&Number| {
            !matches!(writer.kind, Category::Float) || { n.to_f64().is_finite() && n.to_f64() != 0.0 }
        };
        writer.width = shown.iter().filter(counted).map(|n| writer.plain(*n).len()).max().unwrap_or(1);
        writer
    }

    fn plain(&self, n: Number) -> String {
        match (self.kind, n) {
            (Category::Bool, n) => if n.to_bool() { "True" } else { "False" }.into(),
            (_, Number::Int(i)) => i.to_string(),
            (_, Number::UInt(u)) => u.to_string(),
            (_, Number::Complex(re, im)) => {
                let sign = if im.is_sign_negative() { "" } else { "+" };
                format!("{}{sign}{}j", self.real.write(re), self.imaginary.write(im))
            }
            (_, n) => self.real.write(n.to_f64()),
        }
    }

    fn padded(&self, n: Number) -> String {
        format!("{:>1$}", self.plain(n), self.width)
    }
}

/// The places along a dimension that are shown; `None` stands for the dots.
fn shown(n: usize, summarise: bool) -> Vec<Option<usize>> {
    if summarise && n > 2 * EDGE {
        (0..EDGE).map(Some).chain([None]).chain((n - EDGE..n).map(Some)).collect()
    } else {
        (0..n).map(Some).collect()
    }
}

fn collect(t: &Tensor, summarise: bool, into: &mut Vec<Number>) -> Result<()> {
    if t.dim() == 0 {
        into.push(t.item()?);
        return Ok(());
    }
    for i in shown(t.shape()[0], summarise).into_iter().flatten() {
        collect(&t.select(0, i as i64)?, summarise, into)?;
    }
    Ok(())
}

fn write(t: &Tensor, indent: usize, summarise: bool, w: &Writer) -> Result<String> {
    if t.dim() == 0 {
        return Ok(w.plain(t.item()?));
    }
    let places = shown(t.shape()[0], summarise);
    if t.dim() == 1 {
        let mut cells = Vec::with_capacity(places.len());
        for p in places {
            cells.push(match p {
                Some(i) => w.padded(t.select(0, i as i64)?.item()?),
                None => " ...".into(),
            });
        }
        let per_line = (WIDTH.saturating_sub(indent) / (w.width + 2)).max(1);
        let lines: Vec<String> = cells.chunks(per_line).map(|c| c.join(", ")).collect();
        return Ok(format!("[{}]", lines.join(&format!(",\n{}", " ".repeat(indent + 1)))));
    }
    let mut parts = Vec::with_capacity(places.len());
    for p in places {
        parts.push(match p {
            Some(i) => write(&t.select(0, i as i64)?, indent + 1, summarise, w)?,
            None => "...".into(),
        });
    }
    let gap = format!(",{}{}", "\n".repeat(t.dim() - 1), " ".repeat(indent + 1));
    Ok(format!("[{}]", parts.join(&gap)))
}

/// `add` is shown as `AddBackward0`, as torch names its nodes.
pub(crate) fn node_name(op: &str) -> String {
    let mut camel = String::new();
    for word in op.split('_') {
        // By characters: users name functions in any alphabet.
        let mut letters = word.chars();
        camel.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        camel.push_str(letters.as_str());
    }
    format!("{camel}Backward0")
}

fn suffixes(t: &Tensor) -> Vec<String> {
    let mut all = Vec::new();
    if t.device() != Device::CPU {
        all.push(format!("device='{}'", t.device()));
    }
    let size: Vec<String> = t.shape().iter().map(ToString::to_string).collect();
    if (t.numel() == 0 && t.dim() != 1) || t.device() == Device::META {
        all.push(format!("size=({}{})", size.join(", "), if size.len() == 1 { "," } else { "" }));
    }
    let default = crate::default_dtype();
    let usual = [default, DType::I64, DType::Bool, default.complex()].contains(&t.dtype());
    if !usual || (t.numel() == 0 && t.dtype() != default) {
        all.push(format!("dtype={}", t.dtype()));
    }
    match t.grad_fn() {
        Ok(Some(edge)) => all.push(format!("grad_fn=<{}>", edge.node.title())),
        Ok(None) if t.requires_grad() => all.push("requires_grad=True".into()),
        _ => {}
    }
    all
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PREFIX: &str = "tensor(";
        let body = || -> Result<String> {
            if self.device() == Device::META {
                return Ok("...".into());
            }
            let t = self.detach()?.to_device(Device::CPU)?;
            if t.numel() == 0 {
                return Ok("[]".into());
            }
            let summarise = t.numel() > THRESHOLD;
            let mut numbers = Vec::new();
            collect(&t, summarise, &mut numbers)?;
            write(&t, PREFIX.len(), summarise, &Writer::new(t.dtype(), &numbers))
        };
        // An error here would make `format!` panic; say in its place why there are no numbers.
        let mut text = format!("{PREFIX}{}", body().unwrap_or_else(|e| format!("<{e}>")));
        let mut line = text.len() - text.rfind('\n').map_or(0, |at| at + 1);
        for s in suffixes(self) {
            if line + s.len() + 2 > WIDTH {
                text.push_str(&format!(",\n{}{s}", " ".repeat(PREFIX.len())));
                line = PREFIX.len() + s.len();
            } else {
                text.push_str(&format!(", {s}"));
                line += s.len() + 2;
            }
        }
        write!(f, "{text})")
    }
}

impl fmt::Debug for Tensor {
    /// Metadata only: what a failed assertion or a log wants to know.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Tensor({} {:?} strides {:?} offset {} on {})",
            self.dtype(),
            self.shape(),
            self.strides(),
            self.storage_offset(),
            self.device()
        )
    }
}

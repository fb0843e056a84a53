//! Printing, as torch prints.
//!
//! The elements that are shown are collected first, as they decide together how each is written.

mod number;
mod options;

pub use options::PrintOptions;

use crate::{DType, Device, Number, Result, Tensor};
use number::Writer;
use std::fmt;

/// The places along a dimension that are shown; `None` stands for the dots.
fn shown(n: usize, summarise: bool, edge: usize) -> Vec<Option<usize>> {
    match summarise && n > edge.saturating_mul(2) {
        true => (0..edge).map(Some).chain([None]).chain((n - edge..n).map(Some)).collect(),
        false => (0..n).map(Some).collect(),
    }
}

/// The elements that are shown, in order.
fn collect(t: &Tensor, summarise: bool, edge: usize, into: &mut Vec<Number>) -> Result<()> {
    let places = match t.shape() {
        [n, ..] if summarise => shown(*n, true, edge),
        _ => {
            into.extend(t.to_numbers()?);
            return Ok(());
        }
    };
    for i in places.into_iter().flatten() {
        collect(&t.select(0, i as i64)?, summarise, edge, into)?;
    }
    Ok(())
}

/// Lays out elements: brackets, lines, dots.
struct Page<'a> {
    options: &'a PrintOptions,
    summarise: bool,
    writer: Writer,
    elements: std::vec::IntoIter<Number>,
}

impl Page<'_> {
    fn next(&mut self) -> String {
        self.elements.next().map_or_else(String::new, |n| self.writer.element(n))
    }

    fn write(&mut self, shape: &[usize], indent: usize) -> String {
        let Some((n, inner)) = shape.split_first() else { return self.next() };
        let places = shown(*n, self.summarise, self.options.edge_items);
        if !inner.is_empty() {
            let parts: Vec<String> =
                places.iter().map(|p| p.map_or("...".into(), |_| self.write(inner, indent + 1))).collect();
            let gap = format!(",{}{}", "\n".repeat(inner.len()), " ".repeat(indent + 1));
            return format!("[{}]", parts.join(&gap));
        }
        // Dots in a line of elements stand apart from them, unless they are alone.
        let dots = if places.len() == 1 { "..." } else { " ..." };
        let cells: Vec<String> = places.iter().map(|p| p.map_or(dots.into(), |_| self.next())).collect();
        let per_line = (self.options.line_width.saturating_sub(indent) / (self.writer.width + 2)).max(1);
        let lines: Vec<String> = cells.chunks(per_line).map(|c| c.join(", ")).collect();
        format!("[{}]", lines.join(&format!(",\n{}", " ".repeat(indent + 1))))
    }
}

fn body(t: &Tensor, options: &PrintOptions) -> Result<String> {
    if t.device() == Device::META {
        return Ok("...".into());
    }
    let t = t.detach()?.to_device(Device::CPU)?;
    if t.numel() == 0 {
        return Ok("[]".into());
    }
    let summarise = t.numel() > options.threshold;
    let mut numbers = Vec::new();
    collect(&t, summarise, options.edge_items, &mut numbers)?;
    let writer = Writer::new(t.dtype().category(), &numbers, options);
    let mut page = Page { options, summarise, writer, elements: numbers.into_iter() };
    Ok(page.write(t.shape(), options.prefix.len()))
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

fn suffixes(t: &Tensor, options: &PrintOptions) -> Vec<String> {
    let mut all = Vec::new();
    let meta = t.device() == Device::META;
    if t.device() != Device::CPU {
        all.push(format!("device='{}'", t.device()));
    }
    let nothing = t.numel() > 0 && options.edge_items == 0;
    if (t.numel() == 0 && t.dim() != 1) || meta || nothing {
        let size: Vec<String> = t.shape().iter().map(ToString::to_string).collect();
        all.push(format!("size=({}{})", size.join(", "), if size.len() == 1 { "," } else { "" }));
    }
    let default = crate::default_dtype();
    // Elements that are shown tell these apart.
    let telling = [default, DType::I64, DType::Bool, default.complex()].contains(&t.dtype());
    if !telling || ((t.numel() == 0 || meta) && t.dtype() != default) {
        all.push(format!("dtype={}{}", options.dtype_prefix, t.dtype()));
    }
    match t.grad_fn() {
        Ok(Some(edge)) => all.push(format!("grad_fn=<{}>", edge.node.title())),
        Ok(None) if t.requires_grad() => all.push("requires_grad=True".into()),
        _ => {}
    }
    all
}

impl Tensor {
    /// The tensor as text: its elements, and what they do not tell.
    pub fn to_text(&self, options: &PrintOptions) -> String {
        // An error here would make `format!` panic; say in its place why there are no numbers.
        let body = body(self, options).unwrap_or_else(|e| format!("<{e}>"));
        let mut text = format!("{}{body}", options.prefix);
        // Two more, for the comma and space in front of the first suffix.
        let mut line = text.len() - text.rfind('\n').map_or(0, |at| at + 1) + 2;
        for s in suffixes(self, options) {
            if line + s.len() + 2 > options.line_width {
                text.push_str(&format!(",\n{}{s}", " ".repeat(options.prefix.len())));
                line = options.prefix.len() + s.len();
            } else {
                text.push_str(&format!(", {s}"));
                line += s.len() + 2;
            }
        }
        text + ")"
    }
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(&PrintOptions::default()))
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

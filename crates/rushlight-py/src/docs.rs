//! Signatures and documentation of the table's functions, as Python shows them.

use crate::call::Entry;
use rushlight::op::{OpDef, Param};

/// `(input: Tensor, dim: int | None = None, *, dtype: dtype | None = None)`.
pub fn signature(def: &OpDef) -> String {
    let typed = |p: &Param| {
        let default = p.default.map(|(text, _)| format!(" = {}", python_default(text))).unwrap_or_default();
        format!("{}: {}{default}", p.name, p.ty.name())
    };
    format!("({})", listed(def, typed).join(", "))
}

/// The parameters as `show` writes them, with a star before those that are given by name only.
fn listed(def: &OpDef, show: impl Fn(&Param) -> String) -> Vec<String> {
    let mut parts: Vec<String> = def.params.iter().map(show).collect();
    if let Some(first) = def.params.iter().position(|p| p.keyword_only) {
        parts.insert(first, "*".into());
    }
    parts
}

/// A default of a row as Python writes it.
pub fn python_default(rust: &str) -> String {
    match rust.trim() {
        "true" => "True".into(),
        "false" => "False".into(),
        "()" | "Dims::All" => "None".into(),
        other => other.replace("f64::INFINITY", "inf"),
    }
}

/// The doc text of a name: its forms, then what each row says. Rust examples stay in the Rust docs.
pub fn method_doc(entry: &Entry) -> String {
    let mut text = String::new();
    if let [form] = entry.forms.as_slice() {
        // CPython reads the signature off a first line of this form.
        let names: Vec<String> = text_signature(form.def);
        text.push_str(&format!("{}({})\n--\n\n", entry.name, names.join(", ")));
    }
    for form in &entry.forms {
        text.push_str(&format!("{}{}\n\n", entry.name, signature(form.def)));
        text.push_str(&prose(form.def.doc));
        if form.inplace {
            text.push_str("\nWrites over `input` and gives it back.\n");
        }
        text.push('\n');
    }
    text.replace('\0', "")
}

fn text_signature(def: &OpDef) -> Vec<String> {
    listed(def, |p| {
        let default = p.default.map(|(text, _)| python_default(text)).filter(|d| {
            d.parse::<f64>().is_ok() || d == "None" || d == "True" || d == "False" || d.starts_with('"')
        });
        match (default, p.default.is_some()) {
            (Some(d), _) => format!("{}={d}", p.name),
            (None, true) => format!("{}=None", p.name),
            (None, false) => p.name.to_string(),
        }
    })
}

fn prose(doc: &str) -> String {
    let mut lines = Vec::new();
    let mut code = false;
    for line in doc.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        } else if !code {
            lines.push(line.strip_prefix(' ').unwrap_or(line));
        }
    }
    lines.join("\n").trim().to_string() + "\n"
}

//! How tensors are shown, and in which words.

/// What decides how a tensor is shown; the default is torch's.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintOptions {
    /// Digits after the point.
    pub precision: usize,
    /// Elements beyond which only the edges are shown.
    pub threshold: usize,
    /// Elements shown at each edge of a summarised dimension.
    pub edge_items: usize,
    /// Characters of a line.
    pub line_width: usize,
    /// Scientific notation: always, never, or where it is shorter to read.
    pub scientific: Option<bool>,
    /// What stands before the elements, and moves all lines to the right.
    pub prefix: String,
    /// What stands before a dtype's name.
    pub dtype_prefix: &'static str,
}

impl PrintOptions {
    /// Four digits, summarised beyond a thousand elements, lines of eighty.
    pub const fn new() -> PrintOptions {
        PrintOptions {
            precision: 4,
            threshold: 1000,
            edge_items: 3,
            line_width: 80,
            scientific: None,
            prefix: String::new(),
            dtype_prefix: "",
        }
    }
}

impl Default for PrintOptions {
    fn default() -> PrintOptions {
        PrintOptions { prefix: "tensor(".into(), ..PrintOptions::new() }
    }
}

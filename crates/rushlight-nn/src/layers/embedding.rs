//! Rows of a table by number.

use crate::init::normal;
use crate::{Module, Visitor};
use rushlight_core::{Result, Tensor, no_grad};

/// Rows of `weight` picked by whole numbers of any shape: [*] to [*, width].
pub struct Embedding {
    /// [rows, width].
    pub weight: Tensor,
    /// A row that is zeros at first and gets no gradient.
    pub padding_idx: Option<usize>,
}

impl Embedding {
    /// Normally distributed rows.
    ///
    /// # Errors
    /// `Index` when the padding row does not exist; `Runtime` for impossible sizes.
    pub fn new(rows: usize, width: usize, padding_idx: Option<usize>) -> Result<Embedding> {
        let weight = normal([rows, width], 1.0)?;
        if let Some(row) = padding_idx {
            no_grad(|| weight.select(0, row as i64)?.zero_())?;
        }
        Ok(Embedding { weight, padding_idx })
    }
}

impl Module for Embedding {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        Tensor::embedding(input, &self.weight, self.padding_idx.map(|p| p as i64))
    }
    fn visit(&self, v: &mut dyn Visitor) {
        v.parameter("weight", &self.weight);
    }
}

//! Modules in a row, and functions as modules.

use crate::{Module, Visitor};
use rushlight_core::{Result, Tensor};

/// Modules that run one after the other; their names are their numbers unless given.
#[derive(Default)]
pub struct Sequential(Vec<(String, Box<dyn Module>)>);

impl Sequential {
    /// None yet: it gives its input back.
    pub fn new() -> Sequential {
        Sequential::default()
    }
    /// With one more module at the end.
    #[must_use]
    pub fn push(self, module: impl Module + 'static) -> Sequential {
        let name = self.0.len().to_string();
        self.named(name, module)
    }
    /// With one more module at the end, called `name`.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>, module: impl Module + 'static) -> Sequential {
        self.0.push((name.into(), Box::new(module)));
        self
    }
    /// How many modules.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Module for Sequential {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.0.iter().try_fold(input.clone(), |x, (_, module)| module.forward(&x))
    }
    fn visit(&self, v: &mut dyn Visitor) {
        for (name, module) in &self.0 {
            v.module(name, module.as_ref());
        }
    }
}

/// A function without parameters as a module: `Lambda(|x: &Tensor| x.relu())`.
pub struct Lambda<F>(pub F);

impl<F: Fn(&Tensor) -> Result<Tensor> + Send + Sync> Module for Lambda<F> {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        (self.0)(input)
    }
}

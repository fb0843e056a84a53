//! What a module is, and the walk from which everything else about it follows.

use rushlight_core::{Result, Tensor};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A part of a network: a function of one tensor, with parameters.
///
/// ```
/// # use rushlight_cpu as _;
/// use rushlight_core::{Result, Tensor};
/// use rushlight_nn::{Linear, Module, Visitor};
///
/// /// `input + inner(input)`.
/// struct Residual { inner: Linear, scale: Tensor }
///
/// impl Module for Residual {
///     fn forward(&self, x: &Tensor) -> Result<Tensor> {
///         x.add(&self.inner.forward(x)?.mul(&self.scale)?)
///     }
///     fn visit(&self, v: &mut dyn Visitor) {
///         v.module("inner", &self.inner);
///         v.parameter("scale", &self.scale);
///     }
/// }
/// let net = Residual { inner: Linear::new(3, 3)?, scale: Tensor::ones([1])?.requires_grad_(true)? };
/// let names: Vec<String> = net.named_parameters().into_iter().map(|(name, _)| name).collect();
/// assert_eq!(names, ["inner.weight", "inner.bias", "scale"]);
/// # Ok::<(), rushlight_core::Error>(())
/// ```
pub trait Module: Send + Sync {
    /// The result for one input; modules say which shapes they take.
    ///
    /// # Errors
    /// Those of the ops inside.
    fn forward(&self, input: &Tensor) -> Result<Tensor>;

    /// Shows what this module is made of, in an order that does not change. Nothing by default.
    fn visit(&self, visitor: &mut dyn Visitor) {
        let _ = visitor;
    }

    /// All parameters with their dotted names; one that several modules share is listed once.
    fn named_parameters(&self) -> Vec<(String, Tensor)> {
        let mut walk = Walk::default();
        self.visit(&mut walk);
        walk.parameters
    }

    /// All parameters, to hand to an optimiser.
    fn parameters(&self) -> Vec<Tensor> {
        self.named_parameters().into_iter().map(|(_, t)| t).collect()
    }

    /// All buffers (state that is saved and not trained) with their dotted names.
    fn named_buffers(&self) -> Vec<(String, Tensor)> {
        let mut walk = Walk::default();
        self.visit(&mut walk);
        walk.buffers
    }

    /// Parameters and buffers with their dotted names, to save; they share the module's memory.
    ///
    /// # Errors
    /// None today.
    fn state_dict(&self) -> Result<Vec<(String, Tensor)>> {
        crate::state::state_dict(self)
    }

    /// Copies tensors into the parameters and buffers of the same names.
    ///
    /// ```
    /// # use rushlight_cpu as _;
    /// use rushlight_nn::{Linear, Module};
    /// let (a, b) = (Linear::new(2, 1)?, Linear::new(2, 1)?);
    /// b.load_state_dict(&a.state_dict()?)?;
    /// assert_eq!(a.weight.to_vec::<f32>()?, b.weight.to_vec::<f32>()?);
    /// # Ok::<(), rushlight_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Runtime`, before anything is written, naming the tensors that are missing, that the module
    /// does not have, or whose shapes differ.
    fn load_state_dict(&self, state: &[(String, Tensor)]) -> Result<()> {
        crate::state::load_state_dict(self, state)
    }

    /// Switches all modules inside to training, or to evaluation.
    fn train(&self, on: bool) {
        self.visit(&mut Switch(on));
    }

    /// Switches to evaluation: dropout passes all, batch norm uses its running statistics.
    fn eval(&self) {
        self.train(false);
    }
}

/// Is shown the parts of a module; see [`Module::visit`].
pub trait Visitor {
    /// A tensor that is trained.
    fn parameter(&mut self, name: &str, tensor: &Tensor) {
        let _ = (name, tensor);
    }
    /// A tensor that is saved and not trained.
    fn buffer(&mut self, name: &str, tensor: &Tensor) {
        let _ = (name, tensor);
    }
    /// A module inside. Visitors that give names add `name` to their path here.
    fn module(&mut self, name: &str, module: &dyn Module);
    /// Whether the module is training.
    fn mode(&mut self, mode: &Mode) {
        let _ = mode;
    }
}

/// Whether a module is training (at first) or evaluating. Belongs to modules that differ in the two.
#[derive(Debug)]
pub struct Mode(AtomicBool);

impl Default for Mode {
    fn default() -> Mode {
        Mode(AtomicBool::new(true))
    }
}

impl Mode {
    /// Whether it is training.
    pub fn training(&self) -> bool {
        self.0.load(Relaxed)
    }
    /// Switches.
    pub fn set(&self, training: bool) {
        self.0.store(training, Relaxed);
    }
}

/// Collects tensors under dotted names.
#[derive(Default)]
struct Walk {
    path: Vec<String>,
    parameters: Vec<(String, Tensor)>,
    buffers: Vec<(String, Tensor)>,
}

impl Walk {
    fn name(&self, last: &str) -> String {
        self.path.iter().map(String::as_str).chain([last]).collect::<Vec<_>>().join(".")
    }
}

impl Visitor for Walk {
    fn parameter(&mut self, name: &str, tensor: &Tensor) {
        let name = self.name(name);
        if self.parameters.iter().all(|(_, t)| !t.is(tensor)) {
            self.parameters.push((name, tensor.clone()));
        }
    }
    fn buffer(&mut self, name: &str, tensor: &Tensor) {
        let name = self.name(name);
        self.buffers.push((name, tensor.clone()));
    }
    fn module(&mut self, name: &str, module: &dyn Module) {
        self.path.push(name.to_string());
        module.visit(self);
        self.path.pop();
    }
}

struct Switch(bool);

impl Visitor for Switch {
    fn module(&mut self, _: &str, module: &dyn Module) {
        module.visit(self);
    }
    fn mode(&mut self, mode: &Mode) {
        mode.set(self.0);
    }
}

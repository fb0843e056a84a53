//! Runs backward: counts how many gradients each node waits for, then visits nodes latest first.
//!
//! - here: what callers use (`backward`, `grad`);
//! - `plan`: which nodes a run meets, and how many gradients each waits for;
//! - `run`: the loop over ready nodes;
//! - `deliver`: gradients to hooks and leaves.

mod deliver;
mod plan;
mod run;

pub use run::current_run;
pub(crate) use run::run_node;

use super::meta::gradient_edge;
use super::node::Edge;
use crate::{Number, Result, Tensor, bail, ensure};
use deliver::accumulate_into;
use plan::Capture;
use run::run;

/// Options of a backward run.
#[derive(Clone, Copy, Debug, Default)]
pub struct BackwardOptions {
    /// Keep what the graph saved, so that backward can run again.
    pub retain_graph: bool,
    /// Record the gradients' own graph, for gradients of gradients. Retains the graph.
    pub create_graph: bool,
}

/// What backward starts from: the edges of the outputs and their gradients.
fn seeds(op: &'static str, outputs: &[&Tensor], grads: &[Option<Tensor>]) -> Result<Vec<(Edge, Tensor)>> {
    ensure!(
        grads.is_empty() || grads.len() == outputs.len(),
        Runtime,
        op,
        "{} outputs but {} gradients; give one (or none) for each",
        outputs.len(),
        grads.len()
    );
    let mut seeds = Vec::with_capacity(outputs.len());
    for (k, t) in outputs.iter().enumerate() {
        let Some(edge) = gradient_edge(t)? else {
            bail!(
                Runtime,
                op,
                "output {k} does not require grad and has no graph; set requires_grad_(true) on what it is computed from"
            )
        };
        let seed = match grads.get(k).cloned().flatten() {
            Some(g) => {
                ensure!(
                    g.shape() == t.shape(),
                    Runtime,
                    op,
                    "the gradient has shape {:?}, the output {:?}; they must be equal",
                    g.shape(),
                    t.shape()
                );
                if g.dtype() == t.dtype() { g } else { g.to_dtype(t.dtype())? }
            }
            None => {
                ensure!(
                    t.numel() == 1 && t.dtype().is_float(),
                    Runtime,
                    op,
                    "only a real output of one element has an implied gradient; this one has shape {:?} and dtype {}. Reduce it (sum, mean) or give its gradient",
                    t.shape(),
                    t.dtype()
                );
                Tensor::full_as(t, Number::Float(1.0))?
            }
        };
        seeds.push((edge, seed));
    }
    Ok(seeds)
}

impl Tensor {
    /// Accumulates the gradients of this one-element tensor into the leaves it was computed from.
    ///
    /// # Errors
    /// `Runtime` when it has several elements, no graph, or the graph was freed by an earlier run.
    pub fn backward(&self) -> Result<()> {
        self.backward_with(None, BackwardOptions::default())
    }

    /// As [`Tensor::backward`], with this tensor's own gradient and options.
    ///
    /// # Errors
    /// As [`Tensor::backward`]; `Runtime` too when the gradient's shape is another.
    pub fn backward_with(&self, gradient: Option<&Tensor>, options: BackwardOptions) -> Result<()> {
        backward(&[self], &[gradient.cloned()], options)
    }

    /// A tensor like `t`, full of one number; outside any graph.
    pub(crate) fn full_as(t: &Tensor, value: Number) -> Result<Tensor> {
        let out = Tensor::alloc(t.like_layout()?, t.dtype(), t.device())?;
        crate::exec::fill(&out, value)?;
        Ok(out)
    }
}

/// Accumulates the gradients of several outputs into the leaves they were computed from.
///
/// # Errors
/// As [`Tensor::backward`].
pub fn backward(outputs: &[&Tensor], gradients: &[Option<Tensor>], options: BackwardOptions) -> Result<()> {
    let seeds = seeds("backward", outputs, gradients)?;
    super::mode::backward_mode(options.create_graph, || run(seeds, None, true, options))
}

/// As [`backward`], but only `inputs` accumulate.
///
/// # Errors
/// As [`grad`].
pub fn backward_into(
    outputs: &[&Tensor],
    inputs: &[&Tensor],
    gradients: &[Option<Tensor>],
    options: BackwardOptions,
) -> Result<()> {
    let wanted = GradOptions {
        retain_graph: options.retain_graph,
        create_graph: options.create_graph,
        allow_unused: true,
        materialize_grads: false,
    };
    let grads = grad(outputs, inputs, gradients, wanted)?;
    for (input, g) in inputs.iter().zip(grads) {
        if let Some(g) = g {
            accumulate_into(input, g, options.create_graph)?;
        }
    }
    Ok(())
}

/// The gradients of `outputs` with respect to `inputs`, without touching anybody's `grad`.
///
/// ```
/// use rushlight::{Tensor, grad};
/// let x = Tensor::from_vec(vec![3f64], [1])?.requires_grad_(true)?;
/// let y = x.pow(3)?;
/// let dy = &grad::grad(&[&y], &[&x], &[], grad::GradOptions { create_graph: true, ..Default::default() })?[0];
/// let dy = dy.as_ref().unwrap();
/// let ddy = &grad::grad(&[dy], &[&x], &[], Default::default())?[0];
/// assert_eq!((dy.item()?.to_f64(), ddy.as_ref().unwrap().item()?.to_f64()), (27.0, 18.0));
/// # Ok::<(), rushlight::Error>(())
/// ```
///
/// # Errors
/// As [`backward`]; `Runtime` too for an input that does not require grad, or that the outputs do
/// not depend on unless `allow_unused` is set.
pub fn grad(
    outputs: &[&Tensor],
    inputs: &[&Tensor],
    gradients: &[Option<Tensor>],
    options: GradOptions,
) -> Result<Vec<Option<Tensor>>> {
    let seeds = seeds("grad", outputs, gradients)?;
    let mut captures = Vec::with_capacity(inputs.len());
    for (k, t) in inputs.iter().enumerate() {
        let Some(edge) = gradient_edge(t)? else {
            bail!(
                Runtime,
                "grad",
                "input {k} does not require grad; set requires_grad_(true) on it before computing"
            )
        };
        captures.push(Capture { edge, grad: None });
    }
    let run_options =
        BackwardOptions { retain_graph: options.retain_graph, create_graph: options.create_graph };
    super::mode::backward_mode(options.create_graph, || run(seeds, Some(&mut captures), false, run_options))?;
    let mut grads = Vec::with_capacity(inputs.len());
    for (k, c) in captures.into_iter().enumerate() {
        let g = match c.grad {
            None if options.materialize_grads => Some(c.edge.node.outs[c.edge.output].zeros()?),
            None => {
                ensure!(
                    options.allow_unused,
                    Runtime,
                    "grad",
                    "the outputs do not depend on input {k}; set allow_unused to get None, or materialize_grads to get zeros"
                );
                None
            }
            some => some,
        };
        grads.push(g);
    }
    Ok(grads)
}

/// Options of [`grad`].
#[derive(Clone, Copy, Debug, Default)]
pub struct GradOptions {
    /// Keep what the graph saved.
    pub retain_graph: bool,
    /// Record the gradients' own graph.
    pub create_graph: bool,
    /// Give `None` for inputs that the outputs do not depend on, instead of an error.
    pub allow_unused: bool,
    /// Give zeros for them.
    pub materialize_grads: bool,
}

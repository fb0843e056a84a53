//! Ops that users write: a forward and a backward of their own.

use super::hooks::Kept;
use super::meta::{Origin, gradient_edge};
use super::node::{Backward, Body, Edge, Node, OutInfo};
use super::saved::Saved;
use super::{Grads, rebase};
use crate::trace::SiteGuard;
use crate::{Result, Tensor, ensure};
use smallvec::SmallVec;
use std::sync::Arc;

/// A differentiable op of the user's own.
///
/// ```
/// use rushlight::{Result, Tensor};
/// use rushlight::grad::{Context, Function, apply};
///
/// /// Multiplies by 2 and passes gradients on doubled.
/// struct Double;
/// impl Function for Double {
///     fn forward(&self, _: &mut Context, x: &[Tensor]) -> Result<Vec<Tensor>> {
///         Ok(vec![x[0].mul(2.0)?])
///     }
///     fn backward(&self, _: &Context, g: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
///         Ok(vec![g[0].as_ref().map(|g| g.mul(2.0)).transpose()?])
///     }
/// }
/// let x = Tensor::from_vec(vec![1f32, 2.0], [2])?.requires_grad_(true)?;
/// apply(Double, &[&x])?[0].sum((), false)?.backward()?;
/// assert_eq!(x.grad().unwrap().to_vec::<f32>()?, [2.0, 2.0]);
/// # Ok::<(), rushlight::Error>(())
/// ```
pub trait Function: Send + Sync + 'static {
    /// Name shown in graphs and errors.
    fn name(&self) -> &'static str {
        "Function"
    }
    /// Computes the results; runs without recording.
    ///
    /// # Errors
    /// Whatever it likes; passed on unchanged.
    fn forward(&self, cx: &mut Context, inputs: &[Tensor]) -> Result<Vec<Tensor>>;
    /// Gradients of the inputs, one each (`None`: no gradient), from those of the results.
    ///
    /// # Errors
    /// Whatever it likes; passed on unchanged.
    fn backward(&self, cx: &Context, grads: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>>;
}

/// What a forward leaves for its backward.
#[derive(Default)]
pub struct Context {
    to_save: Vec<Tensor>,
    dirty: Vec<Tensor>,
    non_differentiable: Vec<Tensor>,
    needs: Vec<bool>,
    unpacked: Vec<Tensor>,
    /// Results without a gradient are handed on as `None`, not as zeros.
    sparse: bool,
}

impl Context {
    /// Keeps tensors for backward; they are checked for in-place changes when read again.
    pub fn save_for_backward(&mut self, tensors: &[&Tensor]) {
        self.to_save = tensors.iter().map(|t| (*t).clone()).collect();
    }
    /// The tensors kept, in backward.
    pub fn saved_tensors(&self) -> &[Tensor] {
        &self.unpacked
    }
    /// Says that an input was changed in place; it must be among the results.
    pub fn mark_dirty(&mut self, tensor: &Tensor) {
        self.dirty.push(tensor.clone());
    }
    /// Says that no gradient flows through a result.
    pub fn mark_non_differentiable(&mut self, tensor: &Tensor) {
        self.non_differentiable.push(tensor.clone());
    }
    /// Whether the gradient of each input is wanted.
    pub fn needs_input_grad(&self) -> &[bool] {
        &self.needs
    }
    /// Whether backward is handed zeros for results that got no gradient (it is, unless changed).
    pub fn set_materialize_grads(&mut self, on: bool) {
        self.sparse = !on;
    }
}

/// The backward half of a user's function, for bindings that run the forward half themselves.
pub trait Custom: Send + Sync + 'static {
    /// As [`Function::backward`].
    ///
    /// # Errors
    /// Whatever it likes; passed on unchanged.
    fn backward(&self, cx: &Context, grads: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>>;
    /// What the binding's collector must see, if anything.
    fn kept(&self) -> Option<&Kept> {
        None
    }
    /// Whether it fetches what was saved itself, by [`Node::saved_tensors`], only if it needs it.
    fn fetches_saved(&self) -> bool {
        false
    }
}

struct Whole<F>(F);

impl<F: Function> Custom for Whole<F> {
    fn backward(&self, cx: &Context, grads: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        self.0.backward(cx, grads)
    }
}

struct FunctionBackward {
    function: Box<dyn Custom>,
    saved: Vec<Saved>,
    needs: Vec<bool>,
    sparse: bool,
}

impl Backward for FunctionBackward {
    fn backward(&self, node: &Arc<Node>, grads: &[Option<Tensor>]) -> Result<Grads> {
        let saved: &[Saved] = if self.function.fetches_saved() { &[] } else { &self.saved };
        let unpacked: Result<Vec<Tensor>> = saved.iter().map(|s| s.unpack(node)).collect();
        let cx = Context { unpacked: unpacked?, needs: self.needs.clone(), ..Context::default() };
        // torch hands zeros for results that got no gradient.
        let filled: Result<Vec<Option<Tensor>>> = grads
            .iter()
            .zip(&node.outs)
            .map(|(g, o)| match g {
                Some(g) => Ok(Some(g.clone())),
                None if self.sparse => Ok(None),
                None => o.zeros().map(Some),
            })
            .collect();
        let result = self.function.backward(&cx, &filled?)?;
        ensure!(
            result.len() == self.needs.len(),
            Runtime,
            node.name,
            "its backward gave {} gradients for {} inputs; give None where there is none",
            result.len(),
            self.needs.len()
        );
        Ok(result.into_iter().zip(&self.needs).map(|(g, n)| g.filter(|_| *n)).collect())
    }
    fn take_saved(&mut self) -> Vec<Saved> {
        std::mem::take(&mut self.saved)
    }
    fn keeps_anything(&self) -> bool {
        !self.saved.is_empty()
    }
    fn saved(&self) -> &[Saved] {
        &self.saved
    }
    fn kept(&self) -> Option<&Kept> {
        self.function.kept()
    }
}

/// A call of a user's function between its start and the record of it.
pub struct Call {
    name: &'static str,
    recording: bool,
    edges: SmallVec<[Option<Edge>; 2]>,
    inputs: Vec<Tensor>,
}

impl Call {
    /// Looks at the inputs, before forward runs.
    ///
    /// # Errors
    /// `Runtime` for a view whose base was changed in a way that left it without a history.
    pub fn start(name: &'static str, inputs: &[&Tensor]) -> Result<Call> {
        let recording = super::mode::recording() && inputs.iter().any(|t| t.requires_grad());
        let mut edges: SmallVec<[Option<Edge>; 2]> = SmallVec::new();
        for t in inputs {
            edges.push(if recording { gradient_edge(t)? } else { None });
        }
        Ok(Call { name, recording, edges, inputs: inputs.iter().map(|t| (*t).clone()).collect() })
    }

    /// What forward gets to leave its marks in.
    pub fn context(&self) -> Context {
        Context { needs: self.edges.iter().map(Option::is_some).collect(), ..Context::default() }
    }

    /// Records what forward gave; the node is none where nothing is recorded.
    ///
    /// # Errors
    /// `Runtime` for marks that forward cannot have meant: a leaf that requires grad marked dirty,
    /// or an input marked dirty that is no result.
    #[track_caller]
    pub fn finish(
        self,
        function: Box<dyn Custom>,
        cx: Context,
        mut outs: Vec<Tensor>,
    ) -> Result<(Vec<Tensor>, Option<Arc<Node>>)> {
        let Call { name, recording, edges, inputs } = self;
        for d in &cx.dirty {
            super::check_inplace(name, d)?;
            d.bump_version();
            ensure!(
                outs.iter().any(|o| o.is(d)),
                Runtime,
                name,
                "an input marked dirty must be among the results, or its gradient is lost"
            );
            ensure!(
                !recording
                    || d.base().is_none()
                    || (outs.len() == 1 && inputs.first().is_some_and(|i| i.is(d))),
                Runtime,
                name,
                "a view can be changed in place only as the first input and the only result; change a clone() instead"
            );
            if let (true, Some(view)) = (recording, d.0.view()) {
                super::view::check_view_inplace(name, d, view, true)?;
            }
        }
        let is_dirty = |t: &Tensor| cx.dirty.iter().any(|d| d.is(t));
        for o in &mut outs {
            let given = inputs.iter().any(|i| i.is(o));
            if !is_dirty(o) && (given || (recording && o.base().is_some())) {
                *o = super::view::attach(o, o.layout().clone(), o.dtype(), Origin::Custom);
            }
        }
        if !recording {
            return Ok((outs, None));
        }
        let saved: Result<Vec<Saved>> = cx
            .to_save
            .iter()
            .map(|t| match outs.iter().position(|o| o.is(t)) {
                Some(k) => Saved::output(t, k),
                None => Saved::input(name, t),
            })
            .collect();
        let body = FunctionBackward { function, saved: saved?, needs: cx.needs, sparse: cx.sparse };
        let node = Node::new(name, edges, outs.iter().map(OutInfo::of).collect(), Body::Op(Arc::new(body)));
        for (k, o) in outs.iter().enumerate() {
            let still = cx.non_differentiable.iter().any(|n| n.is(o));
            if still || !o.dtype().is_differentiable() {
                continue;
            }
            if cx.dirty.iter().any(|d| d.is(o)) && k == 0 {
                rebase(o, node.clone())?;
            } else {
                let version = o.version();
                let mut state = o.state();
                state.grad_fn = Some(Edge { node: node.clone(), output: k });
                state.made_at = version;
            }
        }
        Ok((outs, Some(node)))
    }
}

/// Calls a user's function and records it.
///
/// # Errors
/// The function's own; `Runtime` when a leaf that requires grad was marked dirty.
#[track_caller]
pub fn apply<F: Function>(function: F, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
    let name = function.name();
    let _site = SiteGuard::enter(name);
    let call = Call::start(name, inputs)?;
    let mut cx = call.context();
    let outs = super::no_grad(|| function.forward(&mut cx, &call.inputs))?;
    let (outs, _) = call.finish(Box::new(Whole(function)), cx, outs)?;
    Ok(outs)
}

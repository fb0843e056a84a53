//! Views in the graph: their history, and what an in-place write to one means for its base.

use super::Grads;
use super::meta::{Origin, ViewOf, gradient_edge};
use super::node::{Backward, Body, Edge, Node, OutInfo};
use super::saved::Saved;
use crate::layout::Layout;
use crate::op::{Args, OpDef, Run, Value, ViewRule};
use crate::trace::SiteGuard;
use crate::{DType, Result, Tensor, bail, ensure};
use smallvec::{SmallVec, smallvec};
use std::sync::{Arc, PoisonError};

/// A view made by a row of the table, recorded when its source is part of a graph. `rest` are the
/// arguments after the source.
#[track_caller]
pub(crate) fn make_view(
    def: &'static OpDef,
    source: &Tensor,
    layout: Layout,
    rest: &[Value],
) -> Result<Tensor> {
    let view = attach(source, layout, source.dtype(), Origin::Plain);
    if source.requires_grad() && super::mode::recording() {
        record_view(def, source, &view, rest)?;
    }
    Ok(view)
}

#[track_caller]
fn record_view(def: &'static OpDef, source: &Tensor, view: &Tensor, rest: &[Value]) -> Result<()> {
    let _site = SiteGuard::enter(def.name);
    let Some(edge) = gradient_edge(source)? else { return Ok(()) };
    super::record::refuse_integers(def.name, [source])?;
    match (&def.grad, &def.run) {
        (None, Run::View(rule)) => {
            let body = RuleBackward { rule: *rule, rest: rest.into(), source: OutInfo::of(source) };
            set_history(view, def.name, smallvec![Some(edge)], Arc::new(body));
            Ok(())
        }
        (None, _) => bail!(Runtime, def.name, "its row has no backward"),
        (Some(formula), _) => {
            let mut args: Args = smallvec![Value::Tensor(source.clone())];
            args.extend(rest.iter().cloned());
            super::record_op(def, formula, args, std::slice::from_ref(view))
        }
    }
}

/// A view of `source`'s root, without history yet.
pub(crate) fn attach(source: &Tensor, layout: Layout, dtype: DType, origin: Origin) -> Tensor {
    let (base, inherited) = match source.0.view() {
        Some(v) => (v.base.clone(), Some(v.origin)),
        None => (source.clone(), None),
    };
    let origin = match inherited {
        _ if matches!(origin, Origin::Recast(_)) => origin,
        // A view of one of several views is as fragile as that one.
        Some(o @ (Origin::Several(_) | Origin::Custom | Origin::NoGrad | Origin::Recast(_))) => o,
        _ if !super::is_grad_enabled() => Origin::NoGrad,
        _ => origin,
    };
    let tracked = base.meta().is_some();
    let view = Tensor::viewing(ViewOf { base, origin }, layout, dtype);
    if tracked {
        view.state().made_at = view.version();
    }
    view
}

/// A view about to be written takes its history from its base, whose cells it is; the view that it
/// was made from need not reach them (`as_strided`).
pub(crate) fn reread_from_base(t: &Tensor) {
    if t.0.view().is_some() && t.meta().is_some() {
        t.state().made_at = u64::MAX;
    }
}

/// Several views of one tensor at once (`split`, `unbind`): none of them may be written in place in a graph.
pub(crate) fn attach_several(op: &'static str, source: &Tensor, layouts: Vec<Layout>) -> Vec<Tensor> {
    layouts.into_iter().map(|l| attach(source, l, source.dtype(), Origin::Several(op))).collect()
}

/// A view given by strides over the storage; its backward adds into the cells it reads. Elements of
/// `source` that share a cell share its gradient.
///
/// # Errors
/// As [`Tensor::grad_fn`].
pub(crate) fn strided_view(op: &'static str, source: &Tensor, layout: Layout) -> Result<Tensor> {
    let view = attach(source, layout, source.dtype(), Origin::Plain);
    if super::mode::recording() && source.requires_grad() {
        let Some(edge) = gradient_edge(source)? else { return Ok(view) };
        super::record::refuse_integers(op, [source])?;
        let (from, cells) = relative(source.layout(), view.layout())?;
        let body = StridedBackward { source: from, view: cells, what: Move::Gather };
        set_history(&view, op, smallvec![Some(edge)], Arc::new(body));
    }
    Ok(view)
}

fn set_history(t: &Tensor, name: &'static str, edges: SmallVec<[Option<Edge>; 2]>, body: Arc<dyn Backward>) {
    let node = Node::new(name, edges, smallvec![OutInfo::of(t)], Body::Op(body));
    let version = t.version();
    let mut state = t.state();
    state.grad_fn = Some(Edge { node, output: 0 });
    state.made_at = version;
}

/// The general backward of a view: zeros of the source's shape, the gradient added where the view lies.
struct RuleBackward {
    rule: ViewRule,
    rest: Args,
    source: OutInfo,
}

impl Backward for RuleBackward {
    fn backward(&self, _: &Arc<Node>, grads: &[Option<Tensor>]) -> Result<Grads> {
        let Some(g) = &grads[0] else { return Ok(smallvec![None]) };
        let source = Layout::contiguous(self.source.shape.clone())?;
        let view = (self.rule)(&source, &self.rest)?;
        Ok(smallvec![Some(strided_scatter(g, &source, &view)?)])
    }
    fn take_saved(&mut self) -> Vec<Saved> {
        Vec::new()
    }
    fn keeps_anything(&self) -> bool {
        false
    }
}

/// What is done between a tensor of `source`'s geometry and the cells of a view of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Move {
    /// Reads the cells.
    Gather,
    /// Zeros, with the argument added into the cells.
    Scatter,
    /// The argument with the cells set to zero.
    Clear,
}

/// A dense tensor of `source`'s geometry that is 0 but for `g` added into the cells of `view`.
pub(crate) fn strided_scatter(g: &Tensor, source: &Layout, view: &Layout) -> Result<Tensor> {
    strided(Move::Scatter, g, source, view)
}

/// The three moves are linear, and each other's backward; so double backward comes free.
fn strided(what: Move, x: &Tensor, source: &Layout, view: &Layout) -> Result<Tensor> {
    let out = super::below(|| {
        let x = x.detach()?;
        let elements = source.storage_elements().max(view.storage_elements());
        let flat = Tensor::alloc(Layout::contiguous(&[elements][..])?, x.dtype(), x.device())?;
        let storage = flat.storage();
        let whole = Tensor::assemble(storage.clone(), source.clone(), x.dtype(), None, None);
        let cells = Tensor::assemble(storage.clone(), view.clone(), x.dtype(), None, None);
        match what {
            Move::Scatter => {
                crate::exec::fill(&flat, crate::Number::Int(0))?;
                add_strided(&flat, view, &x)?;
                if shares_cells(source) {
                    share(&flat, source)?;
                }
                Ok(whole)
            }
            Move::Clear => {
                write_strided(&flat, source, &x)?;
                crate::exec::fill(&cells, crate::Number::Int(0))?;
                Ok(whole)
            }
            Move::Gather => {
                write_strided(&flat, source, &x)?;
                let out = Tensor::alloc(Layout::contiguous(view.shape())?, x.dtype(), x.device())?;
                crate::exec::copy(&out, &cells)?;
                Ok::<_, crate::Error>(out)
            }
        }
    })?;
    if super::mode::recording() && x.requires_grad() {
        let name = if what == Move::Gather { "as_strided" } else { "as_strided_scatter" };
        let body = StridedBackward { source: source.clone(), view: view.clone(), what };
        set_history(&out, name, smallvec![gradient_edge(x)?], Arc::new(body));
    }
    Ok(out)
}

struct StridedBackward {
    source: Layout,
    view: Layout,
    what: Move,
}

impl Backward for StridedBackward {
    fn backward(&self, _: &Arc<Node>, grads: &[Option<Tensor>]) -> Result<Grads> {
        let Some(g) = &grads[0] else { return Ok(smallvec![None]) };
        let reverse = match self.what {
            Move::Gather => Move::Scatter,
            Move::Scatter => Move::Gather,
            Move::Clear => Move::Clear,
        };
        Ok(smallvec![Some(strided(reverse, g, &self.source, &self.view)?)])
    }
    fn take_saved(&mut self) -> Vec<Saved> {
        Vec::new()
    }
    fn keeps_anything(&self) -> bool {
        false
    }
}

fn shares_cells(layout: &Layout) -> bool {
    layout.has_internal_overlap_exact() != Some(false)
}

/// `flat[view] = x`; a cell that several elements share gets their mean.
fn write_strided(flat: &Tensor, view: &Layout, x: &Tensor) -> Result<()> {
    if shares_cells(view) {
        crate::exec::fill(flat, crate::Number::Int(0))?;
        add_strided(flat, view, x)?;
        return share(flat, view);
    }
    let cells = Tensor::assemble(flat.storage().clone(), view.clone(), flat.dtype(), None, None);
    crate::exec::copy(&cells, x)
}

/// Divides each cell by the number of elements of `view` that are there.
fn share(flat: &Tensor, view: &Layout) -> Result<()> {
    let counts = Tensor::full_as(flat, crate::Number::Int(0))?;
    let one = Tensor::scalar_of(crate::Number::Int(1), flat.dtype(), flat.device())?;
    add_strided(&counts, view, &one.expand(view.shape())?)?;
    flat.div_(&counts.clamp_min(1)?).map(drop)
}

/// `flat[view] += g`, also where the view meets a cell several times: dimensions are walked one
/// step at a time until what is left meets each cell once.
fn add_strided(flat: &Tensor, view: &Layout, g: &Tensor) -> Result<()> {
    if view.numel() == 0 {
        return Ok(());
    }
    let rank = view.rank();
    let expanded = (0..rank).find(|d| view.strides()[*d] == 0 && view.shape()[*d] > 1);
    if let Some(d) = expanded {
        let once = view.narrow(d as isize, 0, 1)?;
        return add_strided(flat, &once, &g.sum(d as i64, true)?);
    }
    if view.is_dense() || view.has_internal_overlap_exact() == Some(false) {
        let cells = Tensor::assemble(flat.storage().clone(), view.clone(), flat.dtype(), None, None);
        let sum = cells.add(g)?;
        return crate::exec::copy(&cells, &sum);
    }
    // Walk the shortest dimension longer than one.
    let d = (0..rank).filter(|d| view.shape()[*d] > 1).min_by_key(|d| view.shape()[*d]).unwrap_or(0);
    for i in 0..view.shape()[d] {
        let g = Tensor::assemble(
            g.storage().clone(),
            g.layout().select(d as isize, i as isize)?,
            g.dtype(),
            None,
            None,
        );
        add_strided(flat, &view.select(d as isize, i as isize)?, &g)?;
    }
    Ok(())
}

/// The history of a view now: made anew from its base's when the base was written to since.
pub(crate) fn current_edge(t: &Tensor, view: &ViewOf) -> Result<Option<Edge>> {
    let now = t.version();
    let (edge, made_at) = match t.meta() {
        Some(_) => {
            let s = t.state();
            (s.grad_fn.clone(), s.made_at)
        }
        None => (None, now),
    };
    let base_edge = match view.base.meta() {
        Some(_) => view.base.state().grad_fn.clone(),
        None => None,
    };
    if matches!(view.origin, Origin::NoGrad | Origin::Recast(_)) && edge.is_none() {
        return Ok(None);
    }
    // A base that joined a graph after the view was made gives the view a history too.
    let stale = made_at != now || (edge.is_none() && t.meta().is_none() && base_edge.is_some());
    let tracked = base_edge.is_some() || edge.is_some();
    if let (Origin::Several(op), true, true) = (view.origin, stale, tracked) {
        bail!(
            Runtime,
            op,
            "this is one of several views of a tensor that was changed in place since; make the views anew, or use narrow"
        )
    }
    // A leaf has no history, but an end that gradients reach.
    let base_edge = match base_edge {
        _ if !stale => None,
        None if edge.is_some() => gradient_edge(&view.base)?,
        known => known,
    };
    let Some(base_edge) = base_edge else { return Ok(edge) };
    if let Origin::Recast(op) = view.origin {
        bail!(
            Runtime,
            op,
            "this view reads a tensor as another dtype, and the tensor was changed in place since; make the view anew"
        )
    }
    let base = &view.base;
    let (source, cells) = relative(base.layout(), t.layout())?;
    let body = StridedBackward { source, view: cells, what: Move::Gather };
    let node = Node::new(
        "as_strided",
        smallvec![Some(base_edge)],
        smallvec![OutInfo::of(t)],
        Body::Op(Arc::new(body)),
    );
    let mut state = t.state();
    state.grad_fn = Some(Edge { node: node.clone(), output: 0 });
    state.made_at = now;
    Ok(Some(Edge { node, output: 0 }))
}

/// Both layouts as if their common storage began at the base's first element.
fn relative(base: &Layout, view: &Layout) -> Result<(Layout, Layout)> {
    let start = base.offset().min(view.offset());
    Ok((base.clone().with_offset(base.offset() - start)?, view.clone().with_offset(view.offset() - start)?))
}

/// Refuses an in-place write to a view that autograd could not follow.
pub(crate) fn check_view_inplace(
    op: &'static str,
    t: &Tensor,
    view: &ViewOf,
    brings_grad: bool,
) -> Result<()> {
    if !(brings_grad || t.requires_grad()) {
        return Ok(());
    }
    match view.origin {
        Origin::Plain => {}
        Origin::Several(maker) => bail!(
            Runtime,
            op,
            "the tensor is one of several views made by {maker}, which autograd cannot follow in place; use narrow or a clone()"
        ),
        Origin::NoGrad => bail!(
            Runtime,
            op,
            "the tensor is a view made inside no_grad but is changed outside; make the view where it is changed, or detach() it"
        ),
        Origin::Custom => bail!(
            Runtime,
            op,
            "the tensor is a view given back by a custom function; change a clone() instead"
        ),
        Origin::Recast(maker) => bail!(
            Runtime,
            op,
            "the tensor is a view made by {maker} of a tensor of another dtype, which autograd cannot follow in place; change a clone() instead"
        ),
    }
    let leaf = view.base.meta().is_some() && view.base.requires_grad() && view.base.grad_fn()?.is_none();
    ensure!(
        !leaf,
        Runtime,
        op,
        "the tensor is a view of a leaf that requires grad; change it inside no_grad, or change a clone()"
    );
    Ok(())
}

/// Gives `t`, just written in place by `node`, its new history; a view's base gets it too.
pub(crate) fn rebase(t: &Tensor, node: Arc<Node>) -> Result<()> {
    match t.0.view() {
        None => {
            let version = t.version();
            let mut state = t.state();
            state.made_at = version;
            let old = state.grad_fn.replace(Edge { node, output: 0 });
            drop(state);
            retain_anew(t, old)?;
        }
        Some(view) => {
            let base = &view.base;
            let (source, cells) = relative(base.layout(), t.layout())?;
            let mut edges: SmallVec<[Option<Edge>; 2]> = smallvec![gradient_edge(base)?];
            edges.extend(node.edges.iter().skip(1).cloned());
            let body = CopySlices { source, cells, inner: node };
            let made = Node::new("CopySlices", edges, smallvec![OutInfo::of(base)], Body::Op(Arc::new(body)));
            let old = base.state().grad_fn.replace(Edge { node: made, output: 0 });
            retain_anew(base, old)?;
            let mut state = t.state();
            state.made_at = u64::MAX; // always stale: read anew from the base
            let old = state.grad_fn.clone();
            drop(state);
            retain_anew(t, old)?;
        }
    }
    Ok(())
}

/// After `retain_grad` the gradient of the tensor's present values is kept, not of those before a write.
fn retain_anew(t: &Tensor, old: Option<Edge>) -> Result<()> {
    if !t.state().retains_grad {
        return Ok(());
    }
    if let Some(old) = old {
        let mut list = old.node.watchers().retained.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|(_, kept)| !std::ptr::eq(kept.as_ptr(), Arc::as_ptr(&t.0)));
    }
    t.state().retains_grad = false;
    t.retain_grad()
}

/// Backward of a base one of whose views was written: the written cells go through the writing
/// op's own backward, the others pass.
struct CopySlices {
    source: Layout,
    cells: Layout,
    inner: Arc<Node>,
}

impl Backward for CopySlices {
    fn backward(&self, _: &Arc<Node>, grads: &[Option<Tensor>]) -> Result<Grads> {
        let Some(g) = &grads[0] else { return Ok(smallvec![None; self.inner.edges.len().max(1)]) };
        // Whose gradient a cell has that was written several times is not defined.
        ensure!(
            !shares_cells(&self.cells),
            Runtime,
            self.inner.name,
            "a view whose elements share memory (shape {:?}, strides {:?}) was written in place; clone() it first",
            self.cells.shape(),
            self.cells.strides()
        );
        let slice = strided(Move::Gather, g, &self.source, &self.cells)?;
        let mut inner = super::engine::run_node(&self.inner, &[Some(slice)])?;
        let passed = inner.first_mut().and_then(Option::take);
        let mut outside = strided(Move::Clear, g, &self.source, &self.cells)?;
        if let Some(p) = passed {
            outside = outside.add(&strided_scatter(&p, &self.source, &self.cells)?)?;
        }
        let mut all: Grads = smallvec![Some(outside)];
        all.extend(inner.into_iter().skip(1));
        Ok(all)
    }
    fn take_saved(&mut self) -> Vec<Saved> {
        Vec::new()
    }
}

//! Formulas that overwrite their inputs: what optimisers are made of.

use super::promote::{compute_type, result_type};
use super::value::OperandRef;
use crate::layout::{Overlap, pair_overlap};
use crate::program::{Program, Scalar, Sort, Src, trace};
use crate::trace::SiteGuard;
use crate::{DType, Number, Result, Tensor, ensure, exec, grad};
use smallvec::SmallVec;
use std::borrow::Cow;

/// A formula over `N` tensors and `P` numbers whose `M` results overwrite the first `M` tensors, all
/// in one pass over memory.
///
/// ```
/// use rushlight::{Tensor, op::Update};
/// // A step of gradient descent with momentum.
/// let step = Update::new(|[p, velocity, g], [rate, keep]| {
///     let v = velocity * keep + g;
///     [p - v * rate, v]
/// })?;
/// let p = Tensor::from_vec(vec![1f64, 2.0], [2])?;
/// let (velocity, g) = (Tensor::zeros_like(&p)?, Tensor::ones_like(&p)?);
/// step.apply([&p, &velocity, &g], [0.5, 0.9])?;
/// assert_eq!(p.to_vec::<f64>()?, [0.5, 1.5]);
/// # Ok::<(), rushlight::Error>(())
/// ```
pub struct Update<const N: usize, const P: usize> {
    program: Program,
    targets: usize,
}

impl<const N: usize, const P: usize> Update<N, P> {
    /// Traces the closure once.
    ///
    /// # Errors
    /// `Value` when it returns scalars of another formula, more results than inputs, an input in
    /// another's place, or is too long for one program.
    pub fn new<const M: usize>(f: impl FnOnce([Scalar; N], [Scalar; P]) -> [Scalar; M]) -> Result<Self> {
        let op = "update";
        ensure!(M >= 1 && M <= N, Value, op, "{M} results cannot overwrite {N} tensors");
        let program = trace(&[Sort::Num; N], P, |x| {
            let (ins, params) = (std::array::from_fn(|i| x[i]), std::array::from_fn(|i| x[N + i]));
            f(ins, params).to_vec()
        })?;
        // Results are stored one after the other: an input given on as it is could be new by then.
        let moved =
            program.outputs().iter().enumerate().any(
                |(k, (src, _))| matches!(src, Src::Input(i) if usize::from(*i) < M && usize::from(*i) != k),
            );
        ensure!(!moved, Value, op, "a result is another target unchanged; compute it, or copy before");
        Ok(Update { program, targets: M })
    }

    /// Runs it on tensors that broadcast to the first; not recorded for autograd.
    ///
    /// # Errors
    /// `Runtime` when a target requires grad outside `no_grad`, targets differ in shape or share
    /// memory, or devices differ; `NotImplemented` when the tensors promote to no float.
    #[track_caller]
    pub fn apply(&self, tensors: [&Tensor; N], params: [f64; P]) -> Result<()> {
        let op = "update";
        let _site = SiteGuard::enter(op);
        let targets = &tensors[..self.targets];
        let common = self.check(op, &tensors)?;
        let params: SmallVec<[Number; 8]> = params.iter().map(|p| Number::Float(*p)).collect();
        exec::map(op, &self.program, &params, compute_type(common), targets, &tensors)?;
        targets.iter().for_each(|t| {
            t.bump_version();
        });
        Ok(())
    }

    /// Everything that [`apply`](Self::apply) would refuse, for those who must know before they write
    /// anything; the dtype computed in.
    ///
    /// # Errors
    /// As `apply`.
    pub fn check(&self, op: &'static str, tensors: &[&Tensor]) -> Result<DType> {
        exec::common_device(op, tensors.iter().copied())?;
        let targets = &tensors[..self.targets];
        for (k, t) in targets.iter().enumerate() {
            grad::check_inplace(op, t)?;
            ensure!(
                t.shape() == targets[0].shape(),
                Runtime,
                op,
                "the overwritten tensors have shapes {:?} and {:?}; they must be equal",
                targets[0].shape(),
                t.shape()
            );
            for input in tensors {
                let kept = matches!(exec::apart(op, t, input)?, Cow::Borrowed(_));
                ensure!(kept, Runtime, op, "an input shares some cells with a tensor that is overwritten");
            }
            let shared = targets[..k].iter().any(|o| {
                o.shares_storage(t)
                    && pair_overlap(o.layout(), o.element_size(), t.layout(), t.element_size()) != Overlap::No
            });
            ensure!(!shared, Runtime, op, "two of the overwritten tensors share memory");
        }
        if let Some(target) = targets.first() {
            tensors.iter().try_for_each(|t| t.layout().broadcast_to(target.shape()).map(drop))?;
        }
        let operands: SmallVec<[OperandRef<'_>; 6]> = tensors.iter().map(|t| OperandRef::Tensor(t)).collect();
        let common = result_type(&operands).map_err(|e| e.in_op(op))?;
        ensure!(common.is_float(), NotImplemented, op, "computes in floats, not in {common}");
        targets.iter().try_for_each(|t| super::check_castable(op, common, t.dtype()))?;
        Ok(common)
    }
}

//! Pointwise ops: one row is a formula and a dtype rule; everything else is shared here.

use super::promote::{
    Refuse, Rule, check_accepts, check_castable, compared_type, compute_type, fit_number, result_type,
};
use super::usual::Usual;
use super::value::OperandRef;
use crate::exec;
use crate::grad;
use crate::layout::{Layout, broadcast_shapes, elementwise_strides};
use crate::mem::Place;
use crate::program::{GradRule, Program, Scalar, Sort, trace_bound};
use crate::trace::SiteGuard;
use crate::{DType, Number, Result, Tensor, ensure};
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

type Build = fn(&[Scalar]) -> Vec<Scalar>;

/// The body of a pointwise row.
pub struct PointRow {
    /// Name of the op.
    pub name: &'static str,
    /// Names of its operands; one called `condition` holds truth values.
    pub operands: &'static [&'static str],
    make_defaults: fn() -> Vec<Number>,
    defaults: OnceLock<Vec<Number>>,
    /// How the result's dtype follows from the operands.
    pub rule: Rule,
    /// What it does not take.
    pub refuses: &'static [Refuse],
    build: Build,
    /// The formula for default parameters, when it is simpler.
    plain: Option<Build>,
    grad: Option<GradRule>,
    /// By which operands are plain numbers; the upper half for `plain`.
    programs: [OnceLock<Arc<Program>>; 16],
}

/// A call that is ready to run.
pub(crate) struct Prepared<'a> {
    pub program: &'static Arc<Program>,
    pub tensors: SmallVec<[&'a Tensor; 3]>,
    pub params: SmallVec<[Number; 4]>,
    /// The dtype to compute in.
    pub common: DType,
    /// The dtype of the result.
    pub result: DType,
}

impl PointRow {
    #[allow(clippy::too_many_arguments, missing_docs)]
    pub const fn new(
        name: &'static str,
        operands: &'static [&'static str],
        defaults: fn() -> Vec<Number>,
        rule: Rule,
        refuses: &'static [Refuse],
        build: Build,
        plain: Option<Build>,
        grad: Option<GradRule>,
    ) -> PointRow {
        PointRow {
            name,
            operands,
            make_defaults: defaults,
            defaults: OnceLock::new(),
            rule,
            refuses,
            build,
            plain,
            grad,
            programs: [const { OnceLock::new() }; 16],
        }
    }

    /// The values its parameters have unless given.
    pub fn defaults(&self) -> &[Number] {
        self.defaults.get_or_init(self.make_defaults)
    }

    /// The sorts of the operands.
    pub fn sorts(&self) -> Vec<Sort> {
        self.operands.iter().map(|n| if *n == "condition" { Sort::Truth } else { Sort::Num }).collect()
    }

    /// The row's program when the operands in `bound` are plain numbers.
    ///
    /// # Errors
    /// Only for a formula that cannot compile; a test builds every row.
    pub fn program(&'static self, bound: usize, plain: bool) -> Result<&'static Arc<Program>> {
        let slot = &self.programs[bound & 7 | usize::from(plain) << 3];
        if let Some(p) = slot.get() {
            return Ok(p);
        }
        let build = if plain { self.plain.unwrap_or(self.build) } else { self.build };
        let mut program = trace_bound(&self.sorts(), self.defaults().len(), bound as u64, build)?;
        if let Some(rule) = self.grad {
            program = program.with_grad(rule);
        }
        Ok(slot.get_or_init(|| Arc::new(program)))
    }

    /// The row's formula, for a longer one that calls it: operands first, then parameters.
    pub fn on_scalars(&self, args: &[Scalar]) -> Option<Scalar> {
        (self.build)(args).first().copied()
    }

    /// Whether the simpler formula does for these parameters.
    #[inline]
    pub(super) fn is_plain_call(&self, params: &[Number]) -> bool {
        self.plain.is_some() && (params.is_empty() || params == self.defaults())
    }

    /// Whether no operand of this dtype has to be looked at before it is computed with.
    #[inline]
    pub(super) fn takes_any_values(&self, dtype: DType) -> bool {
        let looks = |r: &Refuse| matches!(r, Refuse::zero_divisor | Refuse::negative_exponent);
        self.operands.first() != Some(&"condition")
            && !(dtype.is_integral() && self.refuses.iter().any(looks))
            && !(dtype.is_complex() && self.of_complex().is_some())
    }

    /// What computes the op of complex numbers where it is no formula of them, but one of their parts.
    fn of_complex(&self) -> Option<fn(&Tensor) -> Result<Tensor>> {
        (self.name == "abs").then_some(Tensor::abs_complex)
    }

    /// Its result for one complex operand, if that is no formula.
    #[track_caller]
    fn complex_result(&self, operands: &[OperandRef<'_>]) -> Option<Result<Tensor>> {
        match operands {
            [OperandRef::Tensor(x)] if x.dtype().is_complex() => self.of_complex().map(|f| f(x)),
            _ => None,
        }
    }

    fn prepare<'a>(&'static self, operands: &[OperandRef<'a>], params: &[Number]) -> Result<Prepared<'a>> {
        let promoted = match self.operands.first() {
            Some(&"condition") => result_type(operands.get(1..).unwrap_or(&[])),
            _ if self.rule == Rule::Compare => compared_type(operands),
            _ => result_type(operands),
        };
        let (common, result) = self.rule.apply(promoted.map_err(|e| e.in_op(self.name))?);
        check_accepts(self.name, self.refuses, common)?;
        let bool = |o: &OperandRef<'_>| match o {
            OperandRef::Tensor(t) => t.dtype() == DType::Bool,
            OperandRef::Number(n) => matches!(n, Number::Bool(_)),
        };
        ensure!(
            !(self.refuses.contains(&Refuse::any_bool) && operands.iter().any(bool)),
            NotImplemented,
            self.name,
            "is not defined for bool operands; use logical_xor or bitwise_xor, or convert with to_dtype"
        );
        let (mut bound, mut tensors, mut numbers) =
            (0usize, SmallVec::<[&Tensor; 3]>::new(), SmallVec::<[Number; 2]>::new());
        for (k, operand) in operands.iter().enumerate() {
            match operand {
                OperandRef::Tensor(t) => tensors.push(t),
                OperandRef::Number(n) => {
                    bound |= 1 << k;
                    numbers.push(fit_number(self.rule, *n, common));
                }
            }
        }
        if self.operands.first() == Some(&"condition") {
            let dtype = tensors.first().map(|t| t.dtype());
            ensure!(
                bound & 1 == 0 && dtype == Some(DType::Bool),
                Runtime,
                self.name,
                "the condition must be a bool tensor; compare something, or use to_dtype(bool)"
            );
        }
        self.check_values(operands, common)?;
        exec::common_device(self.name, tensors.iter().copied().filter(|t| t.dim() > 0))?;
        let mut all: SmallVec<[Number; 4]> =
            params.iter().map(|p| fit_number(self.rule, *p, common)).collect();
        all.extend(numbers);
        let program = self.program(bound, self.is_plain_call(params))?;
        Ok(Prepared { program, tensors, params: all, common, result })
    }

    /// Refusals that look at values, before anything is written.
    fn check_values(&self, operands: &[OperandRef<'_>], common: DType) -> Result<()> {
        if !common.is_integral() {
            return Ok(());
        }
        if self.refuses.contains(&Refuse::zero_divisor) {
            let zero = match operands.get(1) {
                Some(OperandRef::Number(n)) => n.cast(common).to_i64() == 0,
                Some(OperandRef::Tensor(t)) if t.device() != crate::Device::META => {
                    let t = t.detach()?;
                    let nonzero = t.all(super::Dims::All, false)?;
                    !nonzero.item()?.to_bool()
                }
                _ => false,
            };
            ensure!(
                !zero,
                Runtime,
                self.name,
                "an integer cannot be divided by zero; floats can, and give inf or nan"
            );
        }
        if let (true, Some(OperandRef::Number(n))) =
            (self.refuses.contains(&Refuse::negative_exponent), operands.get(1))
        {
            ensure!(
                n.to_f64() >= 0.0,
                Runtime,
                self.name,
                "integers to a negative power are not integers; convert the base to a float first"
            );
        }
        Ok(())
    }
}

/// Layout of a new result: torch's rule for element-wise outputs (contract 1e).
pub(super) fn pointwise_layout(op: &'static str, operands: &[OperandRef<'_>]) -> Result<Layout> {
    let parts: SmallVec<[(&[usize], &[isize]); 3]> = operands
        .iter()
        .map(|o| match o {
            OperandRef::Tensor(t) => t.layout().parts(),
            OperandRef::Number(_) => (&[][..], &[][..]),
        })
        .collect();
    let shapes: SmallVec<[&[usize]; 3]> = parts.iter().map(|p| p.0).collect();
    let shape = broadcast_shapes(op, &shapes)?;
    let strides = elementwise_strides(&parts, &shape);
    Layout::new(shape, strides, 0)
}

/// Runs a pointwise row out of place.
///
/// # Errors
/// `Runtime` when shapes do not broadcast or devices differ, `NotImplemented` for a dtype the row refuses.
#[track_caller]
pub fn pointwise(row: &PointRowRef, operands: &[OperandRef<'_>], params: &[Number]) -> Result<Tensor> {
    let row = row.point();
    let mut call = Usual::EMPTY;
    match call.read(row, operands) {
        true => call.run(row, operands, params),
        false => unusual(row, operands, params),
    }
}

/// Any other call.
#[track_caller]
fn unusual(row: &'static PointRow, operands: &[OperandRef<'_>], params: &[Number]) -> Result<Tensor> {
    if let Some(result) = row.complex_result(operands) {
        return result;
    }
    let _site = SiteGuard::enter(row.name);
    let call = row.prepare(operands, params)?;
    let layout = pointwise_layout(row.name, operands)?;
    let device = call
        .tensors
        .iter()
        .find(|t| t.dim() > 0)
        .or(call.tensors.first())
        .map_or(crate::Device::CPU, |t| t.device());
    let out = Tensor::alloc(layout, call.result, device)?;
    let moved = moved(&call.tensors, device)?;
    let ins = refs(&call.tensors, &moved);
    exec::map(row.name, call.program, &call.params, compute_type(call.common), &[&out], &ins)?;
    if call.result != DType::Bool {
        grad::record_program(
            row.name,
            call.program,
            &ins,
            &call.params,
            call.common,
            std::slice::from_ref(&out),
        )?;
    }
    Ok(out)
}

/// 0-d operands may come from another device; then all are moved. Usually there is nothing to do.
fn moved(tensors: &[&Tensor], device: crate::Device) -> Result<Option<SmallVec<[Tensor; 3]>>> {
    if tensors.iter().all(|t| t.device() == device) {
        return Ok(None);
    }
    let home = |t: &&Tensor| match t.device() == device {
        true => Ok((*t).clone()),
        // An op of its own, so that its gradient finds the way back.
        false => t.to_device(device),
    };
    tensors.iter().map(home).collect::<Result<_>>().map(Some)
}

fn refs<'a>(tensors: &[&'a Tensor], moved: &'a Option<SmallVec<[Tensor; 3]>>) -> SmallVec<[&'a Tensor; 3]> {
    match moved {
        Some(moved) => moved.iter().collect(),
        None => SmallVec::from_slice(tensors),
    }
}

/// Runs a pointwise row into its first operand.
#[track_caller]
pub fn pointwise_inplace(
    row: &PointRowRef,
    target: &Tensor,
    operands: &[OperandRef<'_>],
    params: &[Number],
) -> Result<Tensor> {
    let row = row.point();
    let mut call = Usual::EMPTY;
    if call.read(row, operands) && call.may_overwrite(target, operands) {
        return call.overwrite(row, operands, params, target);
    }
    let _site = SiteGuard::enter(row.name);
    grad::check_inplace(row.name, target)?;
    let call = row.prepare(operands, params)?;
    check_castable(row.name, call.result, target.dtype())?;
    let (moved, apart);
    moved = self::moved(&call.tensors, target.device())?;
    let ins = refs(&call.tensors, &moved);
    let shapes: SmallVec<[&[usize]; 3]> = ins.iter().map(|t| t.shape()).collect();
    let shape = broadcast_shapes(row.name, &shapes)?;
    ensure!(
        shape.as_slice() == target.shape(),
        Runtime,
        row.name,
        "the result has shape {shape:?} and does not fit into the tensor of shape {:?} it should replace",
        target.shape()
    );
    apart = exec::all_apart(row.name, target, &ins)?;
    let history = grad::begin_inplace(row.name, call.program, target, &ins)?;
    let ins = match &apart {
        Some(apart) => apart.iter().collect(),
        None => ins,
    };
    exec::map(row.name, call.program, &call.params, compute_type(call.common), &[target], &ins)?;
    target.bump_version();
    grad::finish_inplace(row.name, history, &call.params, call.common, target)?;
    Ok(target.clone())
}

/// Runs a pointwise row into `out`, which takes the result's shape (contract 1e, `out=`).
#[track_caller]
pub fn pointwise_out(
    row: &PointRowRef,
    operands: &[OperandRef<'_>],
    params: &[Number],
    out: &Tensor,
) -> Result<Tensor> {
    let row = row.point();
    let _site = SiteGuard::enter(row.name);
    let call = row.prepare(operands, params)?;
    check_castable(row.name, call.result, out.dtype())?;
    grad::check_out(row.name, out, call.tensors.iter().copied())?;
    let layout = pointwise_layout(row.name, operands)?;
    ensure!(
        layout.shape() == out.shape(),
        Runtime,
        row.name,
        "the result has shape {:?}, out= has {:?}; pass a tensor of the result's shape",
        layout.shape(),
        out.shape()
    );
    let (moved, apart);
    moved = self::moved(&call.tensors, out.device())?;
    let ins = refs(&call.tensors, &moved);
    apart = exec::all_apart(row.name, out, &ins)?;
    let ins = match &apart {
        Some(apart) => apart.iter().collect(),
        None => ins,
    };
    exec::map(row.name, call.program, &call.params, compute_type(call.common), &[out], &ins)?;
    out.bump_version();
    Ok(out.clone())
}

/// The layout of a result when all operands are row-major, of one shape and on one device.
fn plain_layout(ins: &[Tensor]) -> Option<&Layout> {
    let (first, rest) = ins.split_first()?;
    let (shape, device) = (first.shape(), first.device());
    let same = |t: &Tensor| t.shape() == shape && t.layout().is_plain() && t.device() == device;
    (first.layout().is_plain() && rest.iter().all(same)).then(|| first.layout())
}

/// Runs any program as one differentiable op: operands broadcast, computed in `common`.
pub(crate) fn run_program(
    op: &'static str,
    program: &Arc<Program>,
    ins: &[Tensor],
    params: &[Number],
    common: DType,
    results: &[DType],
) -> Result<SmallVec<[Tensor; 2]>> {
    if let [result] = results
        && let Some(layout) = plain_layout(ins)
    {
        let places: SmallVec<[Place<'_>; 4]> = ins.iter().map(Tensor::place).collect();
        let call = (&**program, params, compute_type(common));
        let out = exec::map_fresh(op, call, (layout, *result, ins[0].device()), &places)?;
        let ins: SmallVec<[&Tensor; 4]> = ins.iter().collect();
        grad::record_program(op, program, &ins, params, common, std::slice::from_ref(&out))?;
        return Ok(SmallVec::from_iter([out]));
    }
    let parts: SmallVec<[(&[usize], &[isize]); 3]> = ins.iter().map(|t| t.layout().parts()).collect();
    let shapes: SmallVec<[&[usize]; 3]> = parts.iter().map(|p| p.0).collect();
    let shape = broadcast_shapes(op, &shapes)?;
    let strides = elementwise_strides(&parts, &shape);
    let device = exec::common_device(op, ins)?;
    let mut outs = SmallVec::new();
    for dtype in results {
        outs.push(Tensor::alloc(Layout::new(shape.clone(), strides.clone(), 0)?, *dtype, device)?);
    }
    exec::map(
        op,
        program,
        params,
        compute_type(common),
        &outs.iter().collect::<SmallVec<[&Tensor; 2]>>(),
        &ins.iter().collect::<SmallVec<[&Tensor; 3]>>(),
    )?;
    grad::record_program(
        op,
        program,
        &ins.iter().collect::<SmallVec<[&Tensor; 3]>>(),
        params,
        common,
        &outs,
    )?;
    Ok(outs)
}

/// A row whose body is pointwise; the generated methods pass one.
pub type PointRowRef = super::OpDef;

impl super::OpDef {
    pub(crate) fn point(&self) -> &'static PointRow {
        match self.run {
            super::Run::Pointwise(row) => row,
            _ => unreachable!("only pointwise! makes callers of this, with rows of its own"),
        }
    }
}

//! Decompositions: each matrix of a batch in place, several at once on the pool.

use crate::access::Ptr;
use crate::pool;
use num_complex::{Complex32, Complex64};
use rushlight_algebra::{Field, Operands, Task};
use rushlight_core::backend::{Algebra, AlgebraTask};
use rushlight_core::mem::SpanMut;
use rushlight_core::{DType, Result, bail, ensure};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub(crate) fn run(call: &Algebra<'_>) -> Result<()> {
    call.check()?;
    match call.a.dtype() {
        DType::F32 => each::<f32>(call, [DType::F32, DType::C64]),
        DType::F64 => each::<f64>(call, [DType::F64, DType::C128]),
        DType::C64 => each::<Complex32>(call, [DType::F32, DType::C64]),
        DType::C128 => each::<Complex64>(call, [DType::F64, DType::C128]),
        dtype => bail!(NotImplemented, "linalg", "matrices of {dtype} have no decompositions here"),
    }
}

/// An operand as equal stretches, one a matrix.
#[derive(Clone, Copy)]
struct Part {
    at: Ptr,
    /// Bytes of one stretch.
    bytes: usize,
}

impl Part {
    fn new(span: Option<&SpanMut<'_>>, batches: usize) -> Option<Part> {
        span.map(|s| Part { at: Ptr::write(s), bytes: s.numel() / batches * s.dtype().size() })
    }
    /// Stretch `i`.
    ///
    /// # Safety
    /// The span is dense and aligned, `i` is one of its batches, `T` is its dtype's type or a part of
    /// it, and no other slice of this stretch lives.
    #[allow(clippy::mut_from_ref)]
    unsafe fn slice<'a, T>(part: Option<Part>, i: usize) -> &'a mut [T] {
        let Some(Part { at, bytes }) = part else { return &mut [] };
        if bytes == 0 {
            return &mut [];
        }
        // SAFETY: the caller's promise; a dense span of `batches * bytes` bytes lies inside its storage.
        unsafe { std::slice::from_raw_parts_mut(at.at.add(i * bytes).cast::<T>(), bytes / size_of::<T>()) }
    }
}

fn each<T: Field>(call: &Algebra<'_>, [real, complex]: [DType; 2]) -> Result<()> {
    let batches = call.batches();
    if batches == 0 {
        return Ok(());
    }
    let own = call.a.dtype();
    let is = |span: &Option<SpanMut<'_>>, wanted: DType| span.as_ref().is_none_or(|s| s.dtype() == wanted);
    let values = if call.task == AlgebraTask::Eig { complex } else { real };
    let typed =
        is(&call.b, own) && is(&call.c, own) && is(&call.vectors, complex) && is(&call.values, values);
    let whole = is(&call.pivots, DType::I32) && call.info.dtype() == DType::I32;
    ensure!(
        typed && whole,
        Runtime,
        "linalg",
        "the operands of {:?} have other dtypes than it takes",
        call.task
    );
    let part = |span: &Option<SpanMut<'_>>| Part::new(span.as_ref(), batches);
    let (a, info) = (Part::new(Some(&call.a), batches), Part::new(Some(&call.info), batches));
    let (b, c, pivots) = (part(&call.b), part(&call.c), part(&call.pivots));
    let (values, vectors) = (part(&call.values), part(&call.vectors));
    let [rows, cols] = call.size();
    let (b_cols, c_cols) = (Algebra::columns(call.b.as_ref()), Algebra::columns(call.c.as_ref()));
    let (task, failed) = (task(call.task), AtomicBool::new(false));
    let work = rows.saturating_mul(cols).saturating_mul(rows.min(cols).max(b_cols));
    pool::parallel_for(batches, (pool::GRAIN / work.max(1)).max(1), |range| {
        for i in range {
            // SAFETY: `check` saw that every span is dense and aligned, and the dtypes are those
            // above; stretch i is this turn's alone. Real numbers are halves of complex ones.
            let (mut operands, info) = unsafe {
                let operands = Operands::<T> {
                    a: Part::slice(a, i),
                    rows,
                    cols,
                    b: Part::slice(b, i),
                    b_cols,
                    c: Part::slice(c, i),
                    c_cols,
                    values: Part::slice(values, i),
                    vectors: Part::slice(vectors, i),
                    pivots: Part::slice(pivots, i),
                };
                (operands, Part::slice::<i32>(info, i))
            };
            match rushlight_algebra::run(task, &mut operands) {
                Ok(how) => info.fill(how),
                Err(_) => failed.store(true, Relaxed),
            }
        }
    });
    ensure!(!failed.load(Relaxed), Runtime, "linalg", "no memory for what {:?} needs on the side", call.task);
    Ok(())
}

fn task(task: AlgebraTask) -> Task {
    match task {
        AlgebraTask::Cholesky => Task::Cholesky,
        AlgebraTask::Lu => Task::Lu,
        AlgebraTask::LuSolve { adjoint } => Task::LuSolve { adjoint },
        AlgebraTask::SolveTriangular { upper, unit, adjoint } => {
            Task::SolveTriangular { upper, unit, adjoint }
        }
        AlgebraTask::Qr => Task::Qr,
        AlgebraTask::Svd => Task::Svd,
        AlgebraTask::Eigh { vectors } => Task::Eigh { vectors },
        AlgebraTask::Eig => Task::Eig,
        AlgebraTask::Ldl { hermitian } => Task::Ldl { hermitian },
        AlgebraTask::LdlSolve { hermitian } => Task::LdlSolve { hermitian },
    }
}

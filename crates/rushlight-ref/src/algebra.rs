//! Decompositions, one matrix after the other, each copied out and back.
//!
//! The numbers come from the crate that the fast backend uses as well: what a factorization is, is
//! said by its product with the others, and the laws of the ops check that. This file checks how the
//! fast one finds its matrices in memory.

use num_complex::{Complex32, Complex64};
use rushlight_algebra::{Field, Operands, Task};
use rushlight_core::backend::{Algebra, AlgebraTask};
use rushlight_core::layout::Layout;
use rushlight_core::mem::SpanMut;
use rushlight_core::{DType, Element, Result, bail};

pub(crate) fn run(call: &Algebra<'_>) -> Result<()> {
    call.check()?;
    match call.a.dtype() {
        DType::F32 => each::<f32, f32>(call),
        DType::F64 => each::<f64, f64>(call),
        DType::C64 => each::<Complex32, f32>(call),
        DType::C128 => each::<Complex64, f64>(call),
        dtype => bail!(NotImplemented, "linalg", "matrices of {dtype} have no decompositions here"),
    }
}

/// An operand as numbers of one type, and how many of them a matrix has.
struct Part<'a, T> {
    span: Option<SpanMut<'a>>,
    layout: Layout,
    numbers: Vec<T>,
    each: usize,
}

impl<'a, T: Element> Part<'a, T> {
    fn new(span: Option<SpanMut<'a>>, batches: usize) -> Result<Self> {
        let count = span.as_ref().map_or(0, |s| s.numel() * s.dtype().size() / size_of::<T>());
        let offset = span.as_ref().map_or(0, |s| s.layout().offset() * s.dtype().size() / size_of::<T>());
        let layout = Layout::new(&[count][..], &[1][..], offset)?;
        let mut numbers = Vec::with_capacity(count);
        if let Some(s) = span.as_ref().filter(|_| count > 0) {
            let flat = s.reinterpret(&layout, T::DTYPE)?;
            numbers.extend((0..count as isize).map(|i| flat.get::<T>(i)));
        }
        Ok(Part { span, layout, numbers, each: count / batches.max(1) })
    }
    fn of(&mut self, i: usize) -> &mut [T] {
        &mut self.numbers[i * self.each..(i + 1) * self.each]
    }
    fn put_back(self) -> Result<()> {
        if let Some(s) = self.span.as_ref().filter(|_| !self.numbers.is_empty()) {
            let flat = s.reinterpret(&self.layout, T::DTYPE)?;
            self.numbers.iter().enumerate().for_each(|(i, x)| flat.set(i as isize, *x));
        }
        Ok(())
    }
}

fn each<T: Field<Real = R> + Element, R: Field<Real = R> + Element>(call: &Algebra<'_>) -> Result<()> {
    let batches = call.batches();
    let [rows, cols] = call.size();
    let (b_cols, c_cols) = (Algebra::columns(call.b.as_ref()), Algebra::columns(call.c.as_ref()));
    let mut a = Part::<T>::new(Some(call.a), batches)?;
    let (mut b, mut c) = (Part::<T>::new(call.b, batches)?, Part::<T>::new(call.c, batches)?);
    let (mut values, mut vectors) =
        (Part::<R>::new(call.values, batches)?, Part::<R>::new(call.vectors, batches)?);
    let (mut pivots, mut info) =
        (Part::<i32>::new(call.pivots, batches)?, Part::<i32>::new(Some(call.info), batches)?);
    for i in 0..batches {
        let mut operands = Operands::<T> {
            a: a.of(i),
            rows,
            cols,
            b: b.of(i),
            b_cols,
            c: c.of(i),
            c_cols,
            values: values.of(i),
            vectors: vectors.of(i),
            pivots: pivots.of(i),
        };
        match rushlight_algebra::run(task(call.task), &mut operands) {
            Ok(how) => info.of(i).fill(how),
            Err(_) => bail!(Runtime, "linalg", "no memory for what {:?} needs on the side", call.task),
        }
    }
    a.put_back()?;
    b.put_back()?;
    c.put_back()?;
    values.put_back()?;
    vectors.put_back()?;
    pivots.put_back()?;
    info.put_back()
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

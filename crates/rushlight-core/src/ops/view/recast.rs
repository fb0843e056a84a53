//! The same bytes as another dtype; complex numbers as pairs and back.

use super::plain_samples;
use crate::exec;
use crate::grad::{Origin, view::attach};
use crate::op::{Sample, Value};
use crate::program::{Program, Sort, trace};
use crate::{DType, Result, Tensor, ensure};
use smallvec::smallvec;
use std::sync::LazyLock;

ops! { RECAST;
    /// The bytes read as `dtype`. A larger or smaller element scales the last dimension, whose
    /// stride must be 1. No gradient flows through it: it is no view for autograd, as `detach()` is none.
    fn view_dtype as view (input: Tensor, dtype: DType) -> Tensor {
        run: super::view_dtype(input, *dtype),
        samples: dtype_samples,
    }
    /// A complex tensor as real numbers, with a new last dimension of real and imaginary part.
    fn view_as_real (input: Tensor) -> Tensor {
        run: super::view_as_real(input),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.contiguous()?.view_as_complex()?)]),
        samples: complex_samples,
    }
    /// Pairs in the last dimension as complex numbers.
    fn view_as_complex (input: Tensor) -> Tensor {
        run: super::view_as_complex(input),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.view_as_real()?)]),
        samples: pair_samples,
    }
    /// The complex conjugate, a copy; a real tensor is its own.
    fn conj_physical [out] (input: Tensor) -> Tensor {
        run: if input.dtype().is_complex() { input.conjugate() } else { Ok(input.clone()) },
        samples: complex_samples,
    }
    /// The complex conjugate; a real tensor is its own. A copy, as no tensor here is lazily conjugate.
    fn conj (input: Tensor) -> Tensor {
        run: input.conj_physical(),
        samples: complex_samples,
    }
    /// A complex tensor with the sign of every imaginary part turned.
    fn conjugate as internal (input: Tensor) -> Tensor {
        run: super::conjugate(input),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.conj_physical()?)]),
        samples: complex_samples,
    }
    /// The real part, a view; a real tensor is its own.
    fn real (input: Tensor) -> Tensor {
        run: if input.dtype().is_complex() { input.view_as_real()?.select(-1, 0) } else { Ok(input.clone()) },
        samples: complex_samples,
    }
    /// The imaginary part, a view. Real tensors have none.
    fn imag (input: Tensor) -> Tensor {
        run: super::imag(input),
        samples: complex_samples,
    }
}

fn view_dtype(x: &Tensor, dtype: DType) -> Result<Tensor> {
    let layout = x.layout().view_dtype(x.element_size(), dtype.size())?;
    if dtype == x.dtype() { x.expand(x.shape()) } else { Ok(x.alias_as(layout, dtype)) }
}

fn view_as_real(x: &Tensor) -> Result<Tensor> {
    let dtype = x.dtype();
    ensure!(
        dtype.is_complex(),
        Runtime,
        "view_as_real",
        "only complex numbers have two parts; this tensor holds {dtype}"
    );
    Ok(attach(x, x.layout().view_as_real()?, dtype.real(), Origin::Recast("view_as_real")))
}

fn view_as_complex(x: &Tensor) -> Result<Tensor> {
    let dtype = x.dtype();
    ensure!(
        matches!(dtype, DType::F32 | DType::F64),
        Runtime,
        "view_as_complex",
        "pairs must be float32 or float64, not {dtype}"
    );
    Ok(attach(x, x.layout().view_as_complex()?, dtype.complex(), Origin::Recast("view_as_complex")))
}

static MINUS: LazyLock<Program> = LazyLock::new(|| exec::fixed(trace(&[Sort::Num], 0, |x| vec![-x[0]])));

fn conjugate(x: &Tensor) -> Result<Tensor> {
    ensure!(
        x.dtype().is_complex(),
        Runtime,
        "conj",
        "only complex numbers have a conjugate; this tensor holds {}",
        x.dtype()
    );
    let out = Tensor::alloc(x.like_layout()?, x.dtype(), x.device())?;
    let part = |t: &Tensor, k: isize| -> Result<Tensor> {
        let layout = t.layout().view_as_real()?.select(-1, k)?;
        Ok(Tensor::assemble(t.storage().clone(), layout, t.dtype().real(), None, None))
    };
    exec::copy(&part(&out, 0)?, &part(x, 0)?)?;
    let (from, to) = (part(x, 1)?, part(&out, 1)?);
    exec::map("conj", &MINUS, &[], from.dtype().ctype(), &[&to], &[&from])?;
    Ok(out)
}

fn imag(x: &Tensor) -> Result<Tensor> {
    ensure!(
        x.dtype().is_complex(),
        Type,
        "imag",
        "only complex tensors have an imaginary part; this one holds {}",
        x.dtype()
    );
    x.view_as_real()?.select(-1, 1)
}

fn dtype_samples() -> Vec<Sample> {
    let cases: [(&[usize], DType); 4] =
        [(&[2, 4], DType::I64), (&[2, 4], DType::F32), (&[2, 4], DType::C128), (&[], DType::I64)];
    cases
        .into_iter()
        .filter_map(|(s, d)| super::one(s, [Value::DType(d)]))
        .map(|s| Sample { grad: false, ..s })
        .collect()
}

fn complex_samples() -> Vec<Sample> {
    let complex = |s: &Sample| {
        let t = s.args[0].tensors()[0].to_dtype(DType::C128).ok()?;
        Some(Sample { args: smallvec![Value::Tensor(t)], grad: false })
    };
    plain_samples().iter().filter_map(complex).collect()
}

fn pair_samples() -> Vec<Sample> {
    [&[3, 2][..], &[2], &[0, 2], &[2, 2, 2]].into_iter().filter_map(|s| super::one(s, [])).collect()
}

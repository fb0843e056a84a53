//! Gradients of complex numbers: `dL/d re + i dL/d im`, as torch gives them.

use super::t;
use rushlight::grad::{GradCheck, gradcheck, gradgradcheck};
use rushlight::op::{Args, OpDef, Run, Sample, dispatch, samples::map_tensors, table};
use rushlight::{DType, Result, Tensor, no_grad};

/// A float64 sample as complex numbers off the real line.
fn turned(x: &Tensor) -> Result<Tensor> {
    if x.dtype() != DType::F64 {
        return Ok(x.clone());
    }
    let pair = [x.mul(0.9)?, x.mul(0.4)?.add(0.15)?];
    Tensor::stack(&[&pair[0], &pair[1]], -1)?.view_as_complex()?.copy()
}

fn complaints(row: &'static OpDef, k: usize, sample: &Sample) -> Result<Option<String>> {
    let args: Args = sample.args.iter().map(|a| map_tensors(a, &turned)).collect::<Result<_>>()?;
    let mut leaves = Vec::new();
    for x in args.iter().flat_map(|a| a.tensors()).filter(|x| x.dtype() == DType::C128) {
        leaves.push(x.copy()?.requires_grad_(true)?);
    }
    let writes = matches!(row.run, Run::Mutates(_)) || row.name.ends_with('_');
    let f = |given: &[Tensor]| -> Result<Vec<Tensor>> {
        let next = std::cell::Cell::new(0);
        let fill = |x: &Tensor| {
            if x.dtype() != DType::C128 {
                return Ok(x.clone());
            }
            let i = next.replace(next.get() + 1);
            if writes && i == 0 { given[i].mul(1.0) } else { Ok(given[i].clone()) }
        };
        let args: Args = args.iter().map(|a| map_tensors(a, &fill)).collect::<Result<_>>()?;
        Ok(dispatch(row, args)?.into_vec())
    };
    match no_grad(|| f(&leaves)) {
        // Not for complex numbers, or no numbers at all.
        Err(_) => return Ok(None),
        Ok(outs) if outs.iter().all(|o| !o.dtype().is_differentiable()) => return Ok(None),
        Ok(_) => {}
    }
    let place = format!("{} sample {k}", row.name);
    if let Err(e) = gradcheck(&f, &leaves, GradCheck::default()) {
        return Ok(Some(format!("{place}: {e}")));
    }
    if let Err(e) = gradgradcheck(&f, &leaves, GradCheck::default()) {
        return Ok(Some(format!("{place}, second order: {e}")));
    }
    Ok(Some(String::new()))
}

#[test]
fn every_row_that_takes_complex_numbers_has_their_gradients() -> Result<()> {
    let (mut bad, mut good) = (Vec::new(), std::collections::BTreeSet::new());
    for row in table() {
        for (k, s) in (row.samples)().iter().enumerate().filter(|(_, s)| s.grad) {
            match complaints(row, k, s)? {
                Some(c) if c.is_empty() => {
                    good.insert(row.name);
                }
                Some(c) => bad.push(c),
                None => {}
            }
        }
    }
    assert!(bad.is_empty(), "{} complaints\n{}", bad.len(), bad.join("\n"));
    for name in ["add", "mul", "div", "exp", "log", "sqrt", "sin", "matmul", "sum", "mean", "prod", "pow"] {
        assert!(good.contains(name), "{name} was not checked; only {good:?}");
    }
    Ok(())
}

fn complex(values: &[f64]) -> Tensor {
    let n = values.len() / 2;
    t(values, &[n, 2]).view_as_complex().unwrap()
}

fn parts(x: &Tensor) -> Vec<f64> {
    x.detach().unwrap().view_as_real().unwrap().to_vec::<f64>().unwrap()
}

#[test]
fn values_are_those_of_torch() -> Result<()> {
    // torch: z.grad of (z*w).real.sum() is w.conj().
    let z = complex(&[1.0, 2.0, 3.0, -1.0]).requires_grad_(true)?;
    let w = complex(&[2.0, -1.0, 0.0, 1.0]);
    z.mul(&w)?.real()?.sum((), false)?.backward()?;
    assert_eq!(parts(&z.grad().unwrap()), [2.0, 1.0, 0.0, -1.0]);
    // |z|^2 has the gradient 2z.
    let z = complex(&[1.0, 2.0, 3.0, -1.0]).requires_grad_(true)?;
    z.mul(&z.conj()?)?.real()?.sum((), false)?.backward()?;
    assert_eq!(parts(&z.grad().unwrap()), [2.0, 4.0, 6.0, -2.0]);
    let z = complex(&[1.0, 2.0, 3.0, -1.0]).requires_grad_(true)?;
    z.vdot(&z)?.real()?.backward()?;
    assert_eq!(parts(&z.grad().unwrap()), [2.0, 4.0, 6.0, -2.0]);
    // A real factor of a complex number gets a real gradient.
    let x = t(&[1.5, 2.0], &[2]).requires_grad_(true)?;
    w.mul(&x)?.imag()?.sum((), false)?.backward()?;
    assert_eq!((x.grad().unwrap().dtype(), super::of(&x.grad().unwrap())), (DType::F64, vec![-1.0, 1.0]));
    // A product of matrices: g @ b^H.
    let a = complex(&[1.0, 1.0, 0.0, 2.0]).view([1, 2])?.requires_grad_(true)?;
    a.matmul(&w.view([2, 1])?)?.real()?.sum((), false)?.backward()?;
    assert_eq!(parts(&a.grad().unwrap()), [2.0, 1.0, 0.0, -1.0]);
    Ok(())
}

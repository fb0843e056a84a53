//! The seams end to end: a few ops, views, in-place writes and gradients on the fast backend.

use rushlight::grad::{GradCheck, gradcheck, gradgradcheck};
use rushlight::{DType, Result, Tensor, trace};

fn x23() -> Result<Tensor> {
    Tensor::from_vec(vec![1f64, 2., 3., 4., 5., 6.], [2, 3])
}

#[test]
fn arithmetic_broadcasts_and_promotes() -> Result<()> {
    let x = x23()?;
    let y = (x.t()? * 2.0)?;
    assert_eq!(y.strides(), [1, 3]);
    assert_eq!(y.to_vec::<f64>()?, [2., 8., 4., 10., 6., 12.]);
    let z = (&x + Tensor::from_vec(vec![1i64, 2, 3], [3])?)?;
    assert_eq!(z.dtype(), DType::F64);
    assert_eq!(z.to_vec::<f64>()?, [2., 4., 6., 5., 7., 9.]);
    assert_eq!(x.sum(0, false)?.to_vec::<f64>()?, [5., 7., 9.]);
    assert_eq!(x.t()?.sum(0, false)?.to_vec::<f64>()?, [6., 15.]);
    assert_eq!(x.sum((), false)?.item()?.to_f64(), 21.0);
    Ok(())
}

#[test]
fn gradients_flow_through_views_and_writes() -> Result<()> {
    let w = x23()?.requires_grad_(true)?;
    let y = (&w * 1.0)?;
    y.narrow(1, 0, 2)?.mul_(3.0)?;
    y.t()?.narrow(0, 2, 1)?.fill_(7.0)?;
    let out = (&y * &y)?.sum((), false)?;
    out.backward()?;
    let g = w.grad().ok_or_else(|| rushlight::err!(Runtime, "test", "no grad"))?;
    assert_eq!(g.to_vec::<f64>()?, [18., 36., 0., 72., 90., 0.]);
    Ok(())
}

#[test]
fn gradcheck_holds_through_second_order() -> Result<()> {
    let x = x23()?.requires_grad_(true)?;
    let b = Tensor::from_vec(vec![0.3, 0.7, 1.1], [3])?.requires_grad_(true)?;
    let f = |a: &[Tensor]| -> Result<Vec<Tensor>> {
        let y = (&a[0] * &a[1])?.tanh()?;
        let z = y.narrow(1, 1, 2)?.exp()?.t()?.reshape([4])?;
        Ok(vec![z, y.sum(1, true)?.div(&a[1])?])
    };
    gradcheck(f, &[x.clone(), b.clone()], GradCheck::default())?;
    gradgradcheck(f, &[x, b], GradCheck::default())
}

#[test]
fn saved_tensors_notice_writes() -> Result<()> {
    let x = x23()?.requires_grad_(true)?;
    let y = x.exp()?;
    y.mul_(2.0)?;
    let e = y.sum((), false)?.backward().unwrap_err();
    assert!(e.text().contains("version 1, expected 0"), "{e}");
    assert!(e.text().contains("smoke.rs"), "{e}");
    Ok(())
}

#[test]
fn copies_are_seen() -> Result<()> {
    let x = x23()?;
    let (_, log) = trace::copies(|| x.t()?.reshape([6]));
    assert_eq!((log[0].op, log[0].bytes), ("reshape", 48));
    assert!(log[0].location.file().ends_with("smoke.rs"));
    assert!(trace::forbid_copies(|| x.t()?.reshape([6])).is_err());
    Ok(())
}

#[test]
fn a_chain_of_a_million_ops_runs_and_drops() -> Result<()> {
    let x = Tensor::from_vec(vec![1f32], [1])?.requires_grad_(true)?;
    let mut y = x.clone();
    for _ in 0..1_000_000 {
        y = y.add(1.0)?;
    }
    y.backward()?;
    assert_eq!(x.grad().map(|g| g.to_vec::<f32>()).transpose()?, Some(vec![1.0]));
    Ok(())
}

//! Products against loops, and losses against their formulas, on numbers that break naive ones.

use rushlight::{DType, Kind, Result, Tensor};

fn numbers(shape: &[usize], salt: usize) -> Result<Tensor> {
    let n = shape.iter().product::<usize>();
    Tensor::from_vec((0..n).map(|i| ((i * 37 + salt * 17) % 101) as f64 / 25.0 - 2.0).collect(), shape)
}

#[track_caller]
fn close(t: &Tensor, want: &[f64]) {
    let got = t.detach().unwrap().to_dtype(DType::F64).unwrap().to_vec::<f64>().unwrap();
    assert_eq!(got.len(), want.len());
    for (a, b) in got.iter().zip(want) {
        let same = a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() < 1e-6 * b.abs().max(1.0);
        assert!(same, "{got:?} against {want:?}");
    }
}

#[test]
fn products_of_strided_and_broadcast_operands() -> Result<()> {
    for (m, k, n) in [(1, 1, 1), (3, 4, 5), (17, 33, 9), (2, 0, 3), (1, 70, 1)] {
        // Transposed, every second element, and expanded along the batch.
        let a = numbers(&[2, k, 2 * m], 1)?.slice(2, Some(0), None, 2)?.transpose(1, 2)?;
        let b = numbers(&[1, n, k], 2)?.transpose(1, 2)?.expand([2, k as i64, n as i64])?;
        let (x, y) = (a.to_vec::<f64>()?, b.to_vec::<f64>()?);
        let cell = |at: usize| -> f64 {
            let (e, r, c) = (at / (m * n), at / n % m, at % n);
            (0..k).map(|i| x[(e * m + r) * k + i] * y[(e * k + i) * n + c]).sum()
        };
        let want: Vec<f64> = (0..2 * m * n).map(cell).collect();
        let (product, copies) = rushlight::trace::copies(|| a.matmul(&b));
        close(&product?, &want);
        assert!(copies.is_empty(), "{copies:?}");
        close(&a.bmm(&b)?, &want);
        close(
            &a.to_dtype(DType::F32)?.matmul(&b.to_dtype(DType::F32)?)?.div(1e3)?,
            &want.iter().map(|x| x / 1e3).collect::<Vec<_>>(),
        );
        close(&Tensor::einsum("bij,bjk->bik", &[&a, &b])?, &want);
    }
    Ok(())
}

#[test]
fn products_refuse() -> Result<()> {
    let kind = |r: Result<Tensor>| r.unwrap_err().kind();
    let x = numbers(&[2, 3], 1)?;
    assert_eq!(kind(x.matmul(&x)), Kind::Runtime);
    assert_eq!(kind(x.matmul(&Tensor::scalar(2.0)?)), Kind::Runtime);
    assert_eq!(kind(x.matmul(&x.to_dtype(DType::F32)?.t()?)), Kind::Runtime);
    assert_eq!(kind(x.gt(0.0)?.matmul(&x.t()?.gt(0.0)?)), Kind::NotImplemented);
    assert_eq!(kind(x.bmm(&x)), Kind::Runtime);
    assert_eq!(kind(x.dot(&x)), Kind::Runtime);
    Ok(())
}

#[test]
fn beta_zero_hides_the_input() -> Result<()> {
    let broken = Tensor::full([2, 2], f64::NAN)?.to_dtype(DType::F64)?;
    let (a, b) = (numbers(&[2, 3], 1)?, numbers(&[3, 2], 2)?);
    close(&broken.addmm_with(&a, &b, 0, 2)?, &a.mm(&b)?.mul(2.0)?.to_vec::<f64>()?);
    Ok(())
}

#[test]
fn cross_entropy_of_huge_scores() -> Result<()> {
    let x = Tensor::from_vec(vec![1e4f32, 0., -1e4, 0., 0., 0.], [2, 3])?.requires_grad_(true)?;
    let target = Tensor::from_vec(vec![1i64, 2], [2])?;
    let loss = x.cross_entropy_with(&target, None, -100, "none", 0.0)?;
    close(&loss, &[1e4, 3f64.ln()]);
    loss.sum((), false)?.backward()?;
    close(&x.grad().unwrap(), &[1., -1., 0., 1. / 3., 1. / 3., -2. / 3.]);
    Ok(())
}

#[test]
fn weights_ignored_classes_and_smoothing() -> Result<()> {
    let rows = [[0.2, -0.4, 1.1], [0.0, 0.3, -0.2], [2.0, 0.1, 0.1]];
    let logs: Vec<[f64; 3]> = rows
        .iter()
        .map(|r| {
            let sum = r.iter().map(|v: &f64| v.exp()).sum::<f64>().ln();
            r.map(|v| v - sum)
        })
        .collect();
    let x = Tensor::from_vec(rows.concat(), [3, 3])?;
    let w = [0.5, 2.0, 1.5];
    let weight = Tensor::from_vec(w.to_vec(), [3])?;
    let target = Tensor::from_vec(vec![2i64, -7, 0], [3])?;
    let (first, last) = (-logs[0][2] * w[2], -logs[2][0] * w[0]);
    let mean = x.cross_entropy_with(&target, Some(&weight), -7, "mean", 0.0)?;
    close(&mean, &[(first + last) / (w[2] + w[0])]);
    close(&x.cross_entropy_with(&target, Some(&weight), -7, "none", 0.0)?, &[first, 0.0, last]);
    // Smoothing: that share of the weighted mean over all classes.
    let every = |r: usize| -(0..3).map(|c| logs[r][c] * w[c]).sum::<f64>() / 3.0;
    let smooth = (0.9 * (first + last) + 0.1 * (every(0) + every(2))) / (w[2] + w[0]);
    close(&x.cross_entropy_with(&target, Some(&weight), -7, "mean", 0.1)?, &[smooth]);
    // Nothing left to average.
    close(&x.cross_entropy_with(&target.mul(0)?.sub(7)?, None, -7, "mean", 0.0)?, &[f64::NAN]);
    let e = x.cross_entropy(&Tensor::from_vec(vec![0i64, 3, 1], [3])?).unwrap_err();
    assert_eq!(e.kind(), Kind::Index);
    assert_eq!(x.cross_entropy_with(&target, None, -7, "average", 0.0).unwrap_err().kind(), Kind::Value);
    Ok(())
}

#[test]
fn binary_losses_at_the_ends() -> Result<()> {
    let target = Tensor::from_vec(vec![1f64, 0., 0.25], [3])?;
    let x = Tensor::from_vec(vec![-800f64, 900., 0.], [3])?.requires_grad_(true)?;
    let loss = x.binary_cross_entropy_with_logits_with(&target, None, "none", None)?;
    close(&loss, &[800., 900., 2f64.ln()]);
    loss.sum((), false)?.backward()?;
    close(&x.grad().unwrap(), &[-1., 1., 0.25]);
    let p = Tensor::from_vec(vec![0f64, 1., 0.5], [3])?;
    close(&p.binary_cross_entropy_with(&target, None, "none")?, &[100., 100., 2f64.ln()]);
    Ok(())
}

#[test]
fn distances() -> Result<()> {
    let (x, y) = (Tensor::from_vec(vec![0f64, 1., 4.], [3])?, Tensor::from_vec(vec![0.5f64, 1., 1.], [3])?);
    close(&x.mse_loss(&y)?, &[9.25 / 3.0]);
    close(&x.l1_loss_with(&y, "sum")?, &[3.5]);
    close(&x.smooth_l1_loss_with(&y, "none", 2.0)?, &[0.0625, 0., 2.]);
    close(&x.huber_loss_with(&y, "none", 2.0)?, &[0.125, 0., 4.]);
    Ok(())
}

//! Convolutions and pooling against loops that follow the definition.

use rushlight::{Kind, Result, Tensor};

/// Batch, groups, channels per group in and out, input and kernel sizes, stride, padding, dilation.
struct Case(usize, usize, [usize; 2], [usize; 2], [usize; 2], [usize; 2], [usize; 2], [usize; 2]);

const CASES: [Case; 6] = [
    Case(2, 1, [3, 4], [5, 6], [3, 3], [1, 1], [1, 1], [1, 1]),
    Case(3, 2, [2, 3], [7, 5], [2, 3], [2, 1], [0, 2], [1, 2]),
    Case(1, 3, [1, 1], [6, 9], [3, 2], [1, 3], [2, 0], [2, 1]),
    Case(2, 1, [2, 2], [4, 4], [1, 1], [1, 1], [0, 0], [1, 1]),
    Case(1, 1, [1, 2], [3, 8], [3, 4], [2, 2], [1, 1], [1, 2]),
    Case(0, 1, [1, 2], [3, 8], [3, 4], [2, 2], [1, 1], [1, 2]),
];

fn numbers(n: usize, salt: usize) -> Vec<f64> {
    (0..n).map(|i| ((i * 37 + salt * 17) % 101) as f64 / 25.0 - 2.0).collect()
}

/// Values in row-major order, laid out with the dimensions reversed in memory.
fn turned(values: &[f64], shape: [usize; 4]) -> Result<Tensor> {
    let plain = Tensor::from_vec(values.to_vec(), shape)?;
    let t = plain.permute([3, 2, 1, 0])?.contiguous()?.permute([3, 2, 1, 0])?;
    Ok(t)
}

#[track_caller]
fn close(t: &Tensor, shape: &[usize], want: &[f64]) {
    assert_eq!(t.shape(), shape);
    for (i, (a, b)) in t.to_vec::<f64>().unwrap().iter().zip(want).enumerate() {
        assert!((a - b).abs() < 1e-10 * b.abs().max(1.0), "element {i} of {shape:?}: {a} against {b}");
    }
}

/// For every output cell and kernel cell, the input cell that meets it, if it is inside.
fn source(o: usize, k: usize, stride: usize, padding: usize, dilation: usize, size: usize) -> Option<usize> {
    (o * stride + k * dilation).checked_sub(padding).filter(|i| *i < size)
}

#[test]
fn convolutions_follow_the_definition() -> Result<()> {
    for Case(n, groups, [ci, co], [h, w], [kh, kw], s, p, d) in CASES {
        let (cin, cout) = (ci * groups, co * groups);
        let out = |size: usize, k: usize, a: usize| (size + 2 * p[a] - d[a] * (k - 1) - 1) / s[a] + 1;
        let (oh, ow) = (out(h, kh, 0), out(w, kw, 1));
        let (x, wt, b) = (numbers(n * cin * h * w, 1), numbers(cout * ci * kh * kw, 2), numbers(cout, 3));
        let mut want = Vec::new();
        for at in 0..n * cout * oh * ow {
            let (e, c, y, z) = (at / (cout * oh * ow), at / (oh * ow) % cout, at / ow % oh, at % ow);
            let mut sum = b[c];
            for k in 0..ci * kh * kw {
                let (i, ky, kz) = (k / (kh * kw), k / kw % kh, k % kw);
                let (row, column) = (source(y, ky, s[0], p[0], d[0], h), source(z, kz, s[1], p[1], d[1], w));
                if let (Some(r), Some(q)) = (row, column) {
                    sum += x[((e * cin + c / co * ci + i) * h + r) * w + q] * wt[c * ci * kh * kw + k];
                }
            }
            want.push(sum);
        }
        let bias = Tensor::from_vec(b, [cout])?;
        for x in [Tensor::from_vec(x.clone(), [n, cin, h, w])?, turned(&x, [n, cin, h, w])?] {
            let weight = turned(&wt, [cout, ci, kh, kw])?;
            let got = x.conv2d(&weight, Some(&bias), s, p, d, groups as i64)?;
            close(&got, &[n, cout, oh, ow], &want);
            if n > 0 {
                let one = x.select(0, 0)?.conv2d(&weight, Some(&bias), s, p, d, groups as i64)?;
                close(&one, &[cout, oh, ow], &want[..cout * oh * ow]);
            }
        }
    }
    Ok(())
}

/// The transposed convolution spreads what the convolution gathers.
#[test]
fn transposed_convolutions_follow_the_definition() -> Result<()> {
    for Case(n, groups, [ci, co], [h, w], [kh, kw], s, p, d) in CASES {
        let (cin, cout) = (ci * groups, co * groups);
        let out = |size: usize, k: usize, a: usize| (size - 1) * s[a] + d[a] * (k - 1) + 1 - 2 * p[a];
        let (oh, ow) = (out(h, kh, 0), out(w, kw, 1));
        let (x, wt) = (numbers(n * cin * h * w, 4), numbers(cin * co * kh * kw, 5));
        let mut want = vec![0.0; n * cout * oh * ow];
        for (at, value) in x.iter().enumerate() {
            let (e, c, y, z) = (at / (cin * h * w), at / (h * w) % cin, at / w % h, at % w);
            for k in 0..co * kh * kw {
                let (o, ky, kz) = (k / (kh * kw), k / kw % kh, k % kw);
                let (row, column) =
                    (source(y, ky, s[0], p[0], d[0], oh), source(z, kz, s[1], p[1], d[1], ow));
                if let (Some(r), Some(q)) = (row, column) {
                    want[((e * cout + c / ci * co + o) * oh + r) * ow + q] +=
                        value * wt[c * co * kh * kw + k];
                }
            }
        }
        let (x, weight) = (turned(&x, [n, cin, h, w])?, turned(&wt, [cin, co, kh, kw])?);
        let got = x.conv_transpose2d(&weight, None, s, p, 0, groups as i64, d)?;
        close(&got, &[n, cout, oh, ow], &want);
    }
    Ok(())
}

#[test]
fn pools_follow_the_definition() -> Result<()> {
    // Kernel, stride, padding.
    for (k, s, p) in [(2, 2, 0), (3, 2, 1), (3, 1, 0), (2, 3, 1)] {
        let (c, h, w) = (3usize, 6usize, 7usize);
        let x = numbers(2 * c * h * w, k);
        let out = |size: usize| (size + 2 * p - k) / s + 1;
        let (oh, ow) = (out(h), out(w));
        let (mut largest, mut mean, mut inside) = (Vec::new(), Vec::new(), Vec::new());
        for at in 0..2 * c * oh * ow {
            let (plane, y, z) = (at / (oh * ow), at / ow % oh, at % ow);
            let cells: Vec<f64> = (0..k * k)
                .filter_map(|i| Some((source(y, i / k, s, p, 1, h)?, source(z, i % k, s, p, 1, w)?)))
                .map(|(r, q)| x[(plane * h + r) * w + q])
                .collect();
            let sum: f64 = cells.iter().sum();
            largest.push(cells.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            mean.push(sum / (k * k) as f64);
            inside.push(sum / cells.len() as f64);
        }
        let shape = [2, c, oh, ow];
        for x in [Tensor::from_vec(x.clone(), [2, c, h, w])?, turned(&x, [2, c, h, w])?] {
            close(&x.max_pool2d_with(k, s, p, 1, false)?, &shape, &largest);
            close(&x.avg_pool2d_with(k, s, p, false, true, None)?, &shape, &mean);
            close(&x.avg_pool2d_with(k, s, p, false, false, None)?, &shape, &inside);
        }
    }
    Ok(())
}

#[test]
fn the_first_largest_gets_the_gradient() -> Result<()> {
    let x = Tensor::from_vec(vec![1f64, 5., 5., 2., 5., 0.], [1, 2, 3])?.requires_grad_(true)?;
    x.max_pool2d(2, 1)?.sum((), false)?.backward()?;
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [0., 2., 0., 0., 0., 0.]);
    Ok(())
}

#[test]
fn refusals() -> Result<()> {
    let (x, w) = (Tensor::ones([1, 4, 5, 5])?, Tensor::ones([2, 4, 3, 3])?);
    let kind = |r: Result<Tensor>| r.unwrap_err().kind();
    assert_eq!(kind(x.conv2d(&Tensor::ones([2, 3, 3, 3])?, None, 1, 0, 1, 1)), Kind::Runtime);
    assert_eq!(kind(x.conv2d(&w, None, 0, 0, 1, 1)), Kind::Runtime);
    assert_eq!(kind(x.conv2d(&w, None, 1, 0, 3, 1)), Kind::Runtime);
    assert_eq!(kind(x.conv2d(&w, None, 1, 0, 1, 3)), Kind::Runtime);
    assert_eq!(kind(x.conv2d(&w.to_dtype(rushlight::DType::F64)?, None, 1, 0, 1, 1)), Kind::Runtime);
    assert_eq!(kind(x.conv2d(&w, Some(&Tensor::ones(3)?), 1, 0, 1, 1)), Kind::Runtime);
    assert_eq!(kind(x.max_pool2d_with(2, 2, 2, 1, false)), Kind::Runtime);
    assert_eq!(kind(x.max_pool2d(9, ())), Kind::Runtime);
    Ok(())
}

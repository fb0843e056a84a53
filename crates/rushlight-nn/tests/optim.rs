//! Optimisers against torch's formulas, written out for one number at a time.

use rushlight_core::{Kind, Result, Tensor};
use rushlight_cpu as _;
use rushlight_nn::optim::{AdamOptions, SgdOptions};
use rushlight_nn::{Adam, AdamW, CosineAnnealingLR, Optimizer, Sgd, StepLR, clip_grad_norm, clip_grad_value};

const START: [f64; 4] = [0.7, -1.3, 2.0, 0.01];

/// Gradients of step `t`: fixed, of mixed signs and sizes.
fn gradient(t: i32, i: usize) -> f64 {
    (f64::from(t) * 1.7 + i as f64 * 2.3).sin() * 10f64.powi(i as i32 - 2)
}

/// Runs an optimiser for seven steps on a transposed parameter (no dense layout) and on a dense one.
fn run<O: Optimizer>(make: impl Fn(Vec<Tensor>) -> Result<O>) -> Vec<f64> {
    let dense = Tensor::from_vec(START.to_vec(), [2, 2]).unwrap().requires_grad_(true).unwrap();
    let turned = Tensor::from_vec(vec![START[0], START[2], START[1], START[3]], [2, 2]).unwrap().t().unwrap();
    let turned = turned.detach().unwrap().requires_grad_(true).unwrap();
    let idle = Tensor::from_vec(vec![5f64], [1]).unwrap().requires_grad_(true).unwrap();
    let mut optimizer = make(vec![dense.clone(), idle.clone(), turned.clone()]).unwrap();
    for t in 1..=7 {
        let g: Vec<f64> = (0..4).map(|i| gradient(t, i)).collect();
        for p in [&dense, &turned] {
            p.set_grad(Some(Tensor::from_vec(g.clone(), [2, 2]).unwrap())).unwrap();
        }
        optimizer.step().unwrap();
    }
    assert_eq!(idle.to_vec::<f64>().unwrap(), [5.0]);
    assert_eq!(dense.to_vec::<f64>().unwrap(), turned.to_vec::<f64>().unwrap());
    optimizer.zero_grad().unwrap();
    assert!(dense.grad().is_none() && turned.grad().is_none());
    dense.to_vec().unwrap()
}

fn oracle(step: impl Fn(&mut [f64; 4], f64, f64, i32)) -> Vec<f64> {
    (0..4)
        .map(|i| {
            // Parameter and up to three numbers of state.
            let mut s = [START[i], 0.0, 0.0, 0.0];
            (1..=7).for_each(|t| step(&mut s, 0.05, gradient(t, i), t));
            s[0]
        })
        .collect()
}

#[track_caller]
fn close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= 1e-12 * y.abs().max(1.0), "{a:?} against {b:?}");
    }
}

#[test]
fn sgd() {
    let options = [
        (0.0, 0.0, 0.0, false, false),
        (0.0, 0.0, 0.1, false, true),
        (0.9, 0.0, 0.0, false, false),
        (0.9, 0.3, 0.1, false, false),
        (0.8, 0.0, 0.1, true, false),
        (0.8, 0.0, 0.0, true, true),
    ];
    for (momentum, dampening, weight_decay, nesterov, maximize) in options {
        let o = SgdOptions { momentum, dampening, weight_decay, nesterov, maximize };
        let want = oracle(|s, lr, g, t| {
            let g = if maximize { -g } else { g } + weight_decay * s[0];
            s[1] = if t == 1 { g } else { momentum * s[1] + (1.0 - dampening) * g };
            let d = match (momentum == 0.0, nesterov) {
                (true, _) => g,
                (_, true) => g + momentum * s[1],
                _ => s[1],
            };
            s[0] -= lr * d;
        });
        close(&run(|p| Sgd::with(p, 0.05, o)), &want);
    }
}

fn adam_oracle(o: AdamOptions, decoupled: bool) -> Vec<f64> {
    oracle(|s, lr, g, t| {
        let mut g = if o.maximize { -g } else { g };
        if decoupled {
            s[0] *= 1.0 - lr * o.weight_decay;
        } else {
            g += o.weight_decay * s[0];
        }
        s[1] = o.betas.0 * s[1] + (1.0 - o.betas.0) * g;
        s[2] = o.betas.1 * s[2] + (1.0 - o.betas.1) * g * g;
        s[3] = s[3].max(s[2]);
        let square = if o.amsgrad { s[3] } else { s[2] };
        let denominator = square.sqrt() / (1.0 - o.betas.1.powi(t)).sqrt() + o.eps;
        s[0] -= lr / (1.0 - o.betas.0.powi(t)) * s[1] / denominator;
    })
}

#[test]
fn adam_and_adamw() {
    for (weight_decay, amsgrad, maximize) in
        [(0.0, false, false), (0.1, false, false), (0.1, true, false), (0.0, true, true)]
    {
        let o = AdamOptions { weight_decay, amsgrad, maximize, betas: (0.8, 0.95), eps: 1e-6 };
        close(&run(|p| Adam::with(p, 0.05, o)), &adam_oracle(o, false));
        close(&run(|p| AdamW::with(p, 0.05, o)), &adam_oracle(o, true));
    }
    let decayed = AdamOptions { weight_decay: 0.01, ..AdamOptions::default() };
    close(&run(|p| AdamW::new(p, 0.05)), &adam_oracle(decayed, true));
}

/// The first step of Adam has the learning rate's size whatever the gradient's.
#[test]
fn the_first_step_of_adam() -> Result<()> {
    let p = Tensor::from_vec(vec![1f32, 1.0, 1.0], [3])?.requires_grad_(true)?;
    p.set_grad(Some(Tensor::from_vec(vec![1e-3f32, -5.0, 2e4], [3])?))?;
    Adam::new(vec![p.clone()], 0.25)?.step()?;
    for (x, want) in p.to_vec::<f32>()?.iter().zip([0.75, 1.25, 0.75]) {
        assert!((x - want).abs() < 1e-4, "{x} against {want}");
    }
    assert!(p.requires_grad() && p.is_leaf());
    Ok(())
}

#[test]
fn schedules() -> Result<()> {
    let p = || Tensor::ones(1).unwrap().requires_grad_(true).unwrap();
    let mut o = Sgd::new(vec![p()], 0.8)?;
    let mut steps = StepLR::new(&o, 2, 0.5)?;
    let rates: Vec<f64> = (0..5)
        .map(|_| {
            steps.step(&mut o);
            o.lr()
        })
        .collect();
    close(&rates, &[0.8, 0.4, 0.4, 0.2, 0.2]);
    o.set_lr(1.0);
    let mut cosine = CosineAnnealingLR::new(&o, 4, 0.2)?;
    let rates: Vec<f64> = (0..8)
        .map(|_| {
            cosine.step(&mut o);
            o.lr()
        })
        .collect();
    let half = 0.4 * std::f64::consts::FRAC_1_SQRT_2;
    close(&rates, &[0.6 + half, 0.6, 0.6 - half, 0.2, 0.6 - half, 0.6, 0.6 + half, 1.0]);
    Ok(())
}

#[test]
fn clipping() -> Result<()> {
    let with_grad = |g: Vec<f64>| -> Result<Tensor> {
        let p = Tensor::zeros_with(g.len(), Some(rushlight_core::DType::F64), None)?.requires_grad_(true)?;
        p.set_grad(Some(Tensor::from_vec(g, p.shape())?))?;
        Ok(p)
    };
    let grad = |p: &Tensor| p.grad().unwrap().to_vec::<f64>().unwrap();
    let (a, b) = (with_grad(vec![3.0, 0.0])?, with_grad(vec![4.0])?);
    let idle = Tensor::zeros(1)?.requires_grad_(true)?;
    let all = [a.clone(), idle, b.clone()];
    close(&[clip_grad_norm(&all, 10.0, 2.0)?], &[5.0]);
    close(&grad(&b), &[4.0]);
    close(&[clip_grad_norm(&all, 1.0, 2.0)?], &[5.0]);
    close(&grad(&a), &[3.0 / 5.000_001, 0.0]);
    close(&grad(&b), &[4.0 / 5.000_001]);
    let c = with_grad(vec![-7.0, 2.0])?;
    close(&[clip_grad_norm(std::slice::from_ref(&c), 100.0, f64::INFINITY)?], &[7.0]);
    close(&[clip_grad_norm(std::slice::from_ref(&c), 100.0, 1.0)?], &[9.0]);
    clip_grad_value(std::slice::from_ref(&c), 3.0)?;
    close(&grad(&c), &[-3.0, 2.0]);
    let broken = with_grad(vec![f64::NAN, 1.0])?;
    assert!(clip_grad_norm(std::slice::from_ref(&broken), 1.0, 2.0)?.is_nan());
    assert!(grad(&broken).iter().all(|x| x.is_nan()));
    Ok(())
}

#[test]
fn refusals() {
    let leaf = || vec![Tensor::ones(2).unwrap().requires_grad_(true).unwrap()];
    let kind = |r: Result<()>| r.unwrap_err().kind();
    assert_eq!(kind(Sgd::new(Vec::new(), 0.1).map(drop)), Kind::Value);
    assert_eq!(kind(Sgd::new(leaf(), -0.1).map(drop)), Kind::Value);
    assert_eq!(kind(Sgd::new(vec![leaf()[0].mul(2.0).unwrap()], 0.1).map(drop)), Kind::Value);
    let o = SgdOptions { nesterov: true, ..Default::default() };
    assert_eq!(kind(Sgd::with(leaf(), 0.1, o).map(drop)), Kind::Value);
    let o = AdamOptions { betas: (1.0, 0.9), ..Default::default() };
    assert_eq!(kind(Adam::with(leaf(), 0.1, o).map(drop)), Kind::Value);
    assert_eq!(kind(clip_grad_norm(&leaf(), -1.0, 2.0).map(drop)), Kind::Value);
}

//! rushlight beside candle-core, case by case in one run.
//!
//! Criterion measures each case; `cargo xtask bench` prints the closing table from its medians.

use candle_core as candle;
use criterion::{Criterion, criterion_group, criterion_main};
use rushlight::{DType, Tensor, no_grad};
use std::hint::black_box;

type Ours = rushlight::Result<Tensor>;
type Theirs = candle::Result<candle::Tensor>;

fn pair(c: &mut Criterion, case: &str, mut ours: impl FnMut() -> Ours, mut theirs: impl FnMut() -> Theirs) {
    let mut group = c.benchmark_group(case);
    group.bench_function("rushlight", |b| b.iter(|| black_box(ours().expect("the case runs"))));
    group.bench_function("candle", |b| b.iter(|| black_box(theirs().expect("the case runs"))));
    group.finish();
}

fn ours(shape: &[usize]) -> Tensor {
    rushlight::manual_seed(1);
    Tensor::randn_with(shape, Some(DType::F32), None, None).expect("memory")
}
fn theirs(shape: &[usize]) -> candle::Tensor {
    candle::Tensor::randn(0f32, 1f32, shape, &candle::Device::Cpu).expect("memory")
}

fn metadata(c: &mut Criterion) {
    assert_eq!(size_of::<Tensor>(), 8);
    let (a, b) = (ours(&[1024, 1024]), theirs(&[1024, 1024]));
    pair(c, "clone", || Ok(a.clone()), || Ok(b.clone()));
    pair(c, "t()", || a.t(), || b.t());
    pair(c, "narrow(0, 1, 2)", || a.narrow(0, 1, 2), || b.narrow(0, 1, 2));
    pair(c, "reshape", || a.reshape([512, 2048]), || b.reshape((512, 2048)));
    let (at, bt) = (a.t().expect("view"), b.t().expect("view"));
    pair(c, "t().contiguous() 1024x1024", || at.contiguous(), || bt.contiguous());
}

fn pointwise(c: &mut Criterion) {
    for n in [8usize, 1 << 20] {
        let (a, b) = (ours(&[n]), theirs(&[n]));
        pair(c, &format!("a + b, {n}"), || no_grad(|| a.add(&a)), || &b + &b);
    }
    let (a, b) = (ours(&[1 << 20]), theirs(&[1 << 20]));
    pair(c, "exp, 1048576", || a.exp(), || b.exp());
    pair(c, "tanh, 1048576", || a.tanh(), || b.tanh());
    let (row, row2) = (ours(&[1024]), theirs(&[1024]));
    let (m, m2) = (ours(&[1024, 1024]), theirs(&[1024, 1024]));
    pair(c, "matrix + row, 1024x1024", || m.add(&row), || m2.broadcast_add(&row2));
}

fn reductions(c: &mut Criterion) {
    let (a, b) = (ours(&[1024, 1024]), theirs(&[1024, 1024]));
    pair(c, "sum all, 1024x1024", || a.sum((), false), || b.sum_all());
    pair(c, "sum(0), 1024x1024", || a.sum(0, false), || b.sum(0));
    pair(c, "sum(1), 1024x1024", || a.sum(1, false), || b.sum(1));
    pair(c, "argmax(1), 1024x1024", || a.argmax(Some(1), false), || b.argmax(1));
}

fn products(c: &mut Criterion) {
    for n in [64usize, 512] {
        let (a, b) = (ours(&[n, n]), theirs(&[n, n]));
        pair(c, &format!("matmul {n}x{n}"), || a.matmul(&a), || b.matmul(&b));
    }
    let (x, w) = (ours(&[16, 16, 32, 32]), ours(&[32, 16, 3, 3]));
    let (y, v) = (theirs(&[16, 16, 32, 32]), theirs(&[32, 16, 3, 3]));
    pair(c, "conv2d 16x16x32x32, 32 of 3x3", || x.conv2d(&w, None, 1, 1, 1, 1), || y.conv2d(&v, 1, 1, 1, 1));
}

fn chain(c: &mut Criterion) {
    let build = || -> rushlight::Result<(Tensor, Tensor)> {
        let x = Tensor::from_vec(vec![1f32], [1])?.requires_grad_(true)?;
        let y = (0..1000).try_fold(x.clone(), |y, _| y.mul(1.0001))?;
        Ok((x, y))
    };
    let build2 = || -> candle::Result<candle::Tensor> {
        let x = candle::Var::new(&[1f32], &candle::Device::Cpu)?;
        (0..1000).try_fold(x.as_tensor().clone(), |y, _| y.affine(1.0001, 0.0))
    };
    let mut group = c.benchmark_group("backward over 1000 ops");
    group.bench_function("rushlight", |b| {
        b.iter_batched(
            || build().expect("the chain builds"),
            |(x, y)| {
                y.backward().expect("backward runs");
                x.grad()
            },
            criterion::BatchSize::SmallInput,
        );
    });
    group.bench_function("candle", |b| {
        b.iter_batched(
            || build2().expect("the chain builds"),
            |y| y.backward().expect("backward runs"),
            criterion::BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(std::time::Duration::from_millis(200)).measurement_time(std::time::Duration::from_millis(700)).without_plots();
    targets = metadata, pointwise, reductions, products, chain
}
criterion_main!(benches);

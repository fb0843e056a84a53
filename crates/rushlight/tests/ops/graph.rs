//! Graphs across devices, hooks that outlive a write, and backward inside backward.

use super::{of, refused, t};
use rushlight::grad::{BackwardOptions, Context, Function, GradOptions, apply, backward, grad};
use rushlight::{DType, Device, Kind, Result, Tensor, no_grad};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

fn leaf(values: &[f64]) -> Tensor {
    t(values, &[values.len()]).requires_grad_(true).unwrap()
}

#[test]
fn a_move_to_another_device_is_part_of_the_graph() -> Result<()> {
    let x = leaf(&[1.0, 2.0, 3.0]);
    let there = x.to_device(Device::REF)?;
    assert!(there.requires_grad() && !there.is_leaf() && there.device() == Device::REF);
    let y = there.mul(&there)?.to_device(Device::CPU)?.sum((), false)?;
    let g = &grad(&[&y], &[&x], &[], GradOptions { create_graph: true, ..Default::default() })?[0];
    let g = g.as_ref().expect("a gradient");
    assert_eq!((g.device(), of(g)), (Device::CPU, vec![2.0, 4.0, 6.0]));
    // And its own gradient takes the same way.
    g.pow(2)?.sum((), false)?.backward()?;
    assert_eq!(of(&x.grad().expect("a gradient")), [8.0, 16.0, 24.0]);
    assert!(!no_grad(|| x.to_device(Device::REF))?.requires_grad());
    assert!(x.to_device(Device::CPU)?.is(&x));
    Ok(())
}

#[test]
fn copies_cross_devices_in_the_graph() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    let y = Tensor::zeros_with([2, 2], Some(DType::F64), Some(Device::REF))?;
    y.copy_(&x.mul(3.0)?)?; // broadcast, and to another device
    assert_eq!(of(&y), [3.0, 6.0, 3.0, 6.0]);
    assert!(y.requires_grad() && y.version() == 1);
    y.select(0, 1)?.copy_(&x)?; // into a view there
    assert_eq!(of(&y), [3.0, 6.0, 1.0, 2.0]);
    y.sum((), false)?.backward()?;
    let g = x.grad().expect("a gradient");
    assert_eq!((g.device(), of(&g)), (Device::CPU, vec![4.0, 4.0]));
    // float32 there, float64 here.
    let x = leaf(&[1.5]);
    let y = Tensor::zeros_with(1, Some(DType::F32), Some(Device::REF))?.copy_(&x)?;
    y.mul(2.0)?.sum((), false)?.backward()?;
    assert_eq!(of(&x.grad().expect("a gradient")), [2.0]);
    // Other writes still need one device, and nothing can be read from where there is no memory.
    let here = t(&[0.0, 0.0], &[2]);
    refused(Kind::Runtime, "device", here.add_(&x.detach()?.expand(2)?.to_device(Device::REF)?));
    refused(Kind::Runtime, "meta", here.copy_(&here.to_device(Device::META)?));
    assert_eq!(of(&here), [0.0, 0.0]);
    Ok(())
}

#[test]
fn numbers_from_another_device_get_their_gradient() -> Result<()> {
    let scale = Tensor::scalar(2.0)?.to_dtype(DType::F64)?.requires_grad_(true)?;
    let x = t(&[1.0, 2.0, 3.0], &[3]).to_device(Device::REF)?;
    let y = x.mul(&scale)?;
    assert_eq!((y.device(), y.requires_grad()), (Device::REF, true));
    y.sum((), false)?.backward()?;
    let g = scale.grad().expect("a gradient");
    assert_eq!((g.device(), of(&g)), (Device::CPU, vec![6.0]));
    // In place, too.
    let z = x.mul(1.0)?;
    z.mul_(&scale)?;
    z.sum((), false)?.backward()?;
    assert_eq!(of(&scale.grad().expect("a gradient")), [12.0]);
    Ok(())
}

#[test]
fn hooks_are_found_after_a_write() -> Result<()> {
    let seen = Arc::new(AtomicUsize::new(0));
    let counting = |by: usize| {
        let seen = seen.clone();
        move |_: &Tensor| {
            seen.fetch_add(by, SeqCst);
            Ok(None)
        }
    };
    let run = |x: &Tensor| {
        x.sum((), false)?.backward_with(None, BackwardOptions { retain_graph: true, ..Default::default() })
    };
    let x = leaf(&[1.0, 2.0]);
    let y = x.mul(2.0)?;
    let old = y.register_hook(counting(1))?;
    y.mul_(3.0)?;
    let new = y.register_hook(counting(100))?;
    run(&y)?;
    assert_eq!(seen.swap(0, SeqCst), 101, "the first hook stays with the old values, and sees theirs");
    y.remove_hook(old)?;
    run(&y)?;
    assert_eq!(seen.swap(0, SeqCst), 100);
    y.remove_hook(new)?;
    y.remove_hook(new)?;
    run(&y)?;
    assert_eq!(seen.swap(0, SeqCst), 0);
    // The same for a view whose history is made anew.
    let y = x.mul(2.0)?;
    let part = y.narrow(0, 0, 1)?;
    let id = part.register_hook(counting(1))?;
    let used = part.mul(1.0)?;
    y.mul_(1.0)?;
    part.remove_hook(id)?;
    run(&used)?;
    assert_eq!(seen.swap(0, SeqCst), 0);
    // Hooks of leaves.
    let id = x.register_hook(counting(1))?;
    no_grad(|| x.mul_(2.0))?;
    x.remove_hook(id)?;
    run(&x.mul(1.0)?)?;
    assert_eq!(seen.swap(0, SeqCst), 0);
    Ok(())
}

/// `x * x`, whose backward asks the engine for the gradient of its own result once more.
struct Again {
    result: Arc<Mutex<Option<(Tensor, Tensor)>>>,
    depth: AtomicUsize,
    retain: bool,
}

impl Function for Again {
    fn forward(&self, cx: &mut Context, x: &[Tensor]) -> Result<Vec<Tensor>> {
        cx.save_for_backward(&[&x[0]]);
        Ok(vec![x[0].mul(&x[0])?])
    }
    fn backward(&self, cx: &Context, g: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        let own = g[0].as_ref().map(|g| g.mul(&cx.saved_tensors()[0].mul(2.0)?)).transpose()?;
        if self.depth.fetch_add(1, SeqCst) == 0 {
            let (y, x) = self.result.lock().unwrap().clone().expect("the result");
            let options = GradOptions { retain_graph: self.retain, ..Default::default() };
            let inner = grad(&[&y], &[&x], &[Some(Tensor::ones_like(&y)?)], options)?;
            return Ok(vec![own.zip(inner[0].clone()).map(|(a, b)| a.add(&b)).transpose()?]);
        }
        Ok(vec![own])
    }
}

#[test]
fn backward_may_enter_its_own_node() -> Result<()> {
    for retain in [true, false] {
        let result = Arc::new(Mutex::new(None));
        let x = leaf(&[1.0, 2.0]);
        let again = Again { result: result.clone(), depth: AtomicUsize::new(0), retain };
        let y = apply(again, &[&x])?.remove(0);
        *result.lock().unwrap() = Some((y.clone(), x.clone()));
        backward(&[&y.mul(10.0)?.sum((), false)?], &[], BackwardOptions::default())?;
        // 10 * 2x from the outer run and 2x from the inner one.
        assert_eq!(of(&x.grad().expect("a gradient")), [22.0, 44.0]);
        // Freed by whichever run ended last.
        refused(Kind::Runtime, "freed", y.sum((), false)?.backward());
        *result.lock().unwrap() = None;
    }
    Ok(())
}

#[test]
fn two_threads_run_one_graph() -> Result<()> {
    let x = leaf(&[1.0, 2.0, 3.0]);
    let y = x.exp()?.mul(&x)?.sum((), false)?;
    let want = of(&x.exp()?.mul(&x.add(1.0)?)?);
    let keep = GradOptions { retain_graph: true, ..Default::default() };
    std::thread::scope(|s| {
        let runs: Vec<_> = (0..4)
            .map(|_| {
                s.spawn(|| {
                    (0..50)
                        .map(|_| grad(&[&y], &[&x], &[], keep).unwrap()[0].clone().unwrap())
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        for g in runs.into_iter().flat_map(|r| r.join().unwrap()) {
            assert_eq!(of(&g), want);
        }
    });
    Ok(())
}

#[test]
fn a_mask_of_one_value_may_come_from_elsewhere() -> Result<()> {
    let x = t(&[1.0, 2.0], &[2]);
    let yes = Tensor::scalar(true)?;
    assert_eq!(of(&x.masked_fill(&yes.to_device(Device::REF)?, 9.0)?), [9.0, 9.0]);
    refused(Kind::Runtime, "meta", x.masked_fill(&yes.to_device(Device::META)?, 9.0));
    refused(Kind::Runtime, "device", x.masked_fill(&yes.expand(2)?.to_device(Device::REF)?, 9.0));
    Ok(())
}

#[test]
fn forms_that_are_not_in_place_say_why_they_copy() -> Result<()> {
    let x = t(&[1.0, 2.0], &[2]);
    let at = Tensor::from_vec(vec![0i64], [1])?;
    let one = t(&[1.0], &[1]);
    let (made, copies) = rushlight::trace::copies(|| -> Result<()> {
        x.index_add(0, &at, &one)?;
        x.scatter(0, &at, 1.0)?;
        x.masked_fill(&x.gt(1.0)?, 0.0)?;
        x.scatter_reduce(0, &at, &one, "sum")?;
        Ok(())
    });
    made?;
    assert!(copies.len() >= 4, "{copies:?}");
    assert!(copies.iter().all(|c| !c.reason.contains("row-major")), "{copies:?}");
    assert!(
        ["index_add", "scatter", "masked_fill", "scatter_reduce"]
            .iter()
            .all(|op| copies.iter().any(|c| c.op == *op))
    );
    Ok(())
}

//! The rules of the engine: leaves, accumulation, seeds, hooks, modes, functions, long graphs.

use rushlight::grad::{self, BackwardOptions, Context, Function, GradOptions, apply};
use rushlight::{DType, Kind, Result, Tensor, enable_grad, inference_mode, no_grad};
use std::sync::{Arc, Mutex};

const CREATE: BackwardOptions = BackwardOptions { retain_graph: true, create_graph: true };
const RETAIN: BackwardOptions = BackwardOptions { retain_graph: true, create_graph: false };

fn t(values: &[f64]) -> Tensor {
    Tensor::from_vec(values.to_vec(), [values.len()]).unwrap()
}
fn leaf(values: &[f64]) -> Tensor {
    t(values).requires_grad_(true).unwrap()
}
fn of(x: &Tensor) -> Vec<f64> {
    x.to_dtype(DType::F64).unwrap().to_vec::<f64>().unwrap()
}
fn grad_of(x: &Tensor) -> Vec<f64> {
    of(&x.grad().expect("a gradient"))
}
fn total(x: &Tensor) -> Tensor {
    x.sum((), false).unwrap()
}
fn refused<T>(r: Result<T>, words: &str) {
    match r {
        Ok(_) => panic!("accepted, although: {words}"),
        Err(e) => assert!(e.kind() == Kind::Runtime && e.text().contains(words), "{e:?} lacks {words:?}"),
    }
}

#[test]
fn leaves_and_flags() -> Result<()> {
    for dtype in DType::ALL {
        let x = t(&[1.0]).to_dtype(*dtype)?;
        assert_eq!(x.requires_grad_(true).is_ok(), dtype.is_differentiable(), "{dtype}");
        assert!(x.requires_grad_(false).is_ok());
    }
    let x = leaf(&[1.0, 2.0]);
    let y = x.mul(2.0)?;
    assert!(x.is_leaf() && !y.is_leaf() && y.requires_grad());
    assert_eq!(y.grad_fn()?.map(|e| e.node.name()), Some("mul"));
    refused(y.requires_grad_(false), "leaves");
    assert!(y.requires_grad_(true)?.is(&y)); // it does already
    assert!(!x.gt(0.0)?.requires_grad() && !x.to_dtype(DType::I64)?.requires_grad());
    total(&x.floor()?).backward()?;
    assert_eq!(grad_of(&x), [0.0, 0.0]);
    assert!(!y.detach()?.requires_grad() && y.detach()?.shares_storage(&y));
    refused(y.narrow(0, 0, 1)?.detach_(), "view");
    assert!(y.detach_()?.is_leaf());
    refused(x.set_grad(Some(t(&[1.0]))), "fit");
    refused(x.set_grad(Some(x.clone())), "own");
    Ok(())
}

#[test]
fn backward_refuses_what_has_no_gradient() {
    let x = leaf(&[1.0, 2.0]);
    refused(x.mul(2.0).unwrap().backward(), "one element");
    refused(total(&t(&[1.0])).backward(), "require grad");
    refused(x.mul(2.0).unwrap().backward_with(Some(&t(&[1.0])), RETAIN), "shape");
    let c = x.to_dtype(DType::C128).unwrap().narrow(0, 0, 1).unwrap();
    refused(c.backward(), "real");
    assert!(x.grad().is_none());
}

#[test]
fn gradients_accumulate_in_the_same_tensor() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    total(&x.mul(3.0)?).backward()?;
    let g = x.grad().unwrap();
    let version = g.version();
    total(&x.mul(4.0)?).backward()?;
    assert!(x.grad().unwrap().is(&g));
    assert_eq!((of(&g), g.version()), (vec![7.0, 7.0], version + 1));
    total(&x.mul(x.clone())?).backward_with(None, CREATE)?;
    let made = x.grad().unwrap();
    assert!(!made.is(&g) && made.requires_grad());
    assert_eq!((of(&g), of(&made)), (vec![7.0, 7.0], vec![9.0, 11.0]));
    x.set_grad(None)?;
    Ok(())
}

#[test]
fn a_seed_is_never_taken_over() -> Result<()> {
    for options in [BackwardOptions::default(), CREATE] {
        let (a, b, seed) = (leaf(&[1.0, 2.0]), leaf(&[3.0, 4.0]), t(&[1.0, 1.0]));
        for _ in 0..2 {
            a.add(&b)?.backward_with(Some(&seed), options)?;
            a.view([2])?.backward_with(Some(&seed), options)?;
            a.copy()?.backward_with(Some(&seed), BackwardOptions::default())?;
        }
        a.backward_with(Some(&seed), BackwardOptions::default())?;
        assert_eq!(of(&seed), [1.0, 1.0]);
        assert_eq!((grad_of(&a), grad_of(&b)), (vec![7.0, 7.0], vec![2.0, 2.0]));
        assert!(!a.grad().unwrap().shares_storage(&b.grad().unwrap()));
        assert!(!a.grad().unwrap().shares_storage(&seed));
        a.set_grad(None)?;
        b.set_grad(None)?;
    }
    Ok(())
}

#[test]
fn a_graph_runs_once_unless_it_kept_nothing() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    let y = total(&x.mul(&x)?);
    y.backward_with(None, RETAIN)?;
    y.backward()?;
    refused(y.backward(), "retain_graph");
    let s = total(&x);
    s.backward()?;
    s.backward()?;
    assert_eq!(grad_of(&x), [6.0, 10.0]);
    Ok(())
}

#[test]
fn grad_of_inputs_alone() -> Result<()> {
    let (x, z) = (leaf(&[2.0]), leaf(&[1.0]));
    let mid = x.mul(3.0)?;
    let y = mid.mul(&mid)?;
    let keep = GradOptions { retain_graph: true, ..Default::default() };
    let got = grad::grad(&[&y], &[&mid, &x], &[], keep)?;
    assert_eq!(got.iter().map(|g| of(g.as_ref().unwrap())[0]).collect::<Vec<_>>(), [12.0, 36.0]);
    assert!(x.grad().is_none() && mid.grad().is_none());
    refused(grad::grad(&[&y], &[&z], &[], keep), "do not depend");
    assert!(grad::grad(&[&y], &[&z], &[], GradOptions { allow_unused: true, ..keep })?[0].is_none());
    let zeros = grad::grad(&[&y], &[&z], &[], GradOptions { materialize_grads: true, ..keep })?;
    assert_eq!(of(zeros[0].as_ref().unwrap()), [0.0]);
    refused(grad::grad(&[&y], &[&t(&[1.0])], &[], keep), "require grad");
    let both = grad::grad(&[&y, &mid, &y], &[&x], &[], keep)?;
    assert_eq!(of(both[0].as_ref().unwrap()), [75.0]);
    refused(grad::grad(&[&y, &mid], &[&x], &[None], keep), "gradients");
    Ok(())
}

#[test]
fn hooks_see_and_replace_gradients() -> Result<()> {
    let x = leaf(&[1.0]);
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let order = order.clone();
        move |g: &Tensor| {
            order.lock().unwrap().push((name, of(g)[0]));
            g.mul(2.0).map(Some)
        }
    };
    let y = x.mul(1.0)?;
    y.register_hook(note("first"))?;
    let second = y.register_hook(note("second"))?;
    x.register_hook(note("leaf"))?;
    y.retain_grad()?;
    let log = order.clone();
    let after = x.register_post_accumulate_grad_hook(move |x| {
        log.lock().unwrap().push(("after", grad_of(x)[0]));
        Ok(())
    })?;
    y.backward_with(None, RETAIN)?;
    assert_eq!(*order.lock().unwrap(), [("first", 1.0), ("second", 2.0), ("leaf", 4.0), ("after", 8.0)]);
    assert_eq!(grad_of(&y), [4.0]);
    order.lock().unwrap().clear();
    y.remove_hook(second)?;
    x.remove_hook(after)?;
    y.backward()?;
    assert_eq!(*order.lock().unwrap(), [("first", 1.0), ("leaf", 2.0)]);
    refused(t(&[1.0]).register_hook(|_| Ok(None)), "require grad");
    refused(y.register_post_accumulate_grad_hook(|_| Ok(())), "leaves");
    let z = x.mul(1.0)?;
    z.register_hook(|_| Ok(Some(t(&[1.0, 2.0]))))?;
    refused(z.backward(), "shape");
    Ok(())
}

#[test]
fn a_retained_gradient_is_that_of_the_present_values() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    let y = x.mul(1.0)?;
    y.retain_grad()?;
    y.mul_(3.0)?;
    y.narrow(0, 0, 1)?.mul_(5.0)?;
    total(&y).backward()?;
    assert_eq!((grad_of(&y), grad_of(&x)), (vec![1.0, 1.0], vec![15.0, 3.0]));
    Ok(())
}

#[test]
fn modes() -> Result<()> {
    let x = leaf(&[1.0]);
    assert!(!no_grad(|| x.mul(2.0))?.requires_grad());
    assert!(no_grad(|| enable_grad(|| x.mul(2.0)))?.requires_grad());
    assert!(no_grad(|| t(&[1.0]).requires_grad_(true))?.requires_grad());
    let elsewhere = no_grad(|| std::thread::scope(|s| s.spawn(grad::is_grad_enabled).join()));
    assert!(elsewhere.is_ok_and(|on| on));
    let y = x.mul(x.clone())?;
    no_grad(|| y.backward())?;
    assert_eq!(grad_of(&x), [2.0]);

    let (made, view) = inference_mode(|| Ok::<_, rushlight::Error>((t(&[1.0, 2.0]), x.view([1])?)))?;
    assert!(!view.requires_grad_(false)?.is_inference() && made.is_inference());
    for inside in [made.clone(), made.narrow(0, 0, 2)?, made.detach()?, made.data()] {
        assert!(inside.is_inference());
        refused(inside.mul_(2.0), "inference");
        refused(inside.requires_grad_(true), "inference");
        refused(x.mul(&inside), "inference");
    }
    total(&made.add(&x)?).backward()?;
    assert!(made.copy()?.requires_grad_(true).is_ok());
    let plain = t(&[1.0]);
    inference_mode(|| plain.mul_(2.0))?;
    assert_eq!(plain.version(), 1);
    assert!(inference_mode(|| plain.detach())?.requires_grad_(true).is_ok());
    refused(view.mul_(2.0), "no_grad");
    Ok(())
}

/// x * y + y * y, with options for what goes wrong.
struct Odd {
    count: usize,
    length: usize,
}
impl Function for Odd {
    fn forward(&self, cx: &mut Context, x: &[Tensor]) -> Result<Vec<Tensor>> {
        assert!(!grad::is_grad_enabled());
        cx.save_for_backward(&[&x[0], &x[1]]);
        let extra = x[0].gt(0.0)?.to_dtype(DType::F64)?;
        cx.mark_non_differentiable(&extra);
        Ok(vec![x[0].mul(&x[1])?, extra])
    }
    fn backward(&self, cx: &Context, g: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        let g = g[0].as_ref().unwrap();
        let [x, y] = cx.saved_tensors() else { panic!("two were saved") };
        assert_eq!(cx.needs_input_grad(), [true, y.requires_grad() || cx.needs_input_grad()[1]]);
        let mut all = vec![Some(g.mul(y)?), Some(g.mul(x)?)];
        if self.length != 2 {
            all[0] = Some(t(&vec![1.0; self.length]));
        }
        all.resize(self.count, None);
        Ok(all)
    }
}

#[test]
fn functions_of_users() -> Result<()> {
    let (x, y) = (leaf(&[2.0, 3.0]), leaf(&[5.0, 7.0]));
    let outs = apply(Odd { count: 2, length: 2 }, &[&x, &y])?;
    assert!(outs[0].requires_grad() && !outs[1].requires_grad());
    let first = grad::grad(
        &[&total(&outs[0])],
        &[&x],
        &[],
        GradOptions { create_graph: true, ..Default::default() },
    )?;
    let second = grad::grad(&[&total(first[0].as_ref().unwrap())], &[&y], &[], GradOptions::default())?;
    assert_eq!(of(second[0].as_ref().unwrap()), [1.0, 1.0]);
    let call = |count, length| total(&apply(Odd { count, length }, &[&x, &y]).unwrap()[0]).backward();
    refused(call(3, 2), "3 gradients for 2 inputs");
    refused(call(1, 2), "1 gradients for 2 inputs");
    refused(call(2, 3), "shape");
    let changed = apply(Odd { count: 2, length: 2 }, &[&x, &y])?;
    no_grad(|| y.mul_(2.0))?;
    refused(total(&changed[0]).backward(), "version");
    Ok(())
}

/// Triples an input in place.
struct Triple(usize);
impl Function for Triple {
    fn forward(&self, cx: &mut Context, x: &[Tensor]) -> Result<Vec<Tensor>> {
        x[self.0].mul_(3.0)?;
        cx.mark_dirty(&x[self.0]);
        Ok(vec![x[self.0].clone()])
    }
    fn backward(&self, cx: &Context, g: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        let g = g[0].as_ref().unwrap().mul(3.0)?;
        Ok((0..cx.needs_input_grad().len()).map(|k| (k == self.0).then(|| g.clone())).collect())
    }
}

#[test]
fn functions_that_write() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    let y = x.mul(1.0)?;
    assert!(apply(Triple(0), &[&y])?[0].is(&y));
    total(&y).backward()?;
    assert_eq!((of(&y), grad_of(&x)), (vec![3.0, 6.0], vec![3.0, 3.0]));
    x.set_grad(None)?;
    let y = x.mul(1.0)?;
    apply(Triple(0), &[&y.narrow(0, 0, 1)?])?;
    total(&y).backward()?;
    assert_eq!(grad_of(&x), [3.0, 1.0]);
    refused(apply(Triple(0), &[&leaf(&[1.0])]), "leaf");
    refused(apply(Triple(1), &[&leaf(&[1.0]), &x.mul(1.0)?.narrow(0, 0, 1)?]), "first input");
    Ok(())
}

#[test]
fn ties_and_kinks() -> Result<()> {
    let at = |f: fn(&Tensor) -> Result<Tensor>, values: &[f64]| {
        let x = leaf(values);
        total(&f(&x).unwrap()).backward().unwrap();
        grad_of(&x)
    };
    assert_eq!(at(|x| x.abs(), &[0.0, -2.0]), [0.0, -1.0]);
    assert_eq!(at(|x| x.relu(), &[0.0, 2.0]), [0.0, 1.0]);
    assert_eq!(at(|x| x.clamp(0.0, 1.0), &[0.0, 0.5, 1.0]), [0.0, 1.0, 0.0]);
    assert_eq!(at(|x| x.clamp(&t(&[0.0]), ()), &[0.0, 1.0]), [0.5, 1.0]);
    assert_eq!(at(|x| x.hardtanh(-1.0, 1.0), &[-1.0, 0.0, 1.0]), [0.0, 1.0, 0.0]);
    assert_eq!(at(|x| x.maximum(&t(&[1.0])), &[1.0, 2.0]), [0.5, 1.0]);
    assert_eq!(at(|x| x.amax((), false), &[1.0, 3.0, 3.0]), [0.0, 0.5, 0.5]);
    assert_eq!(at(|x| Ok(x.max_dim(0, false)?.0), &[3.0, 3.0]).iter().sum::<f64>(), 1.0);
    assert_eq!(at(|x| x.index_select(0, &Tensor::from_vec(vec![0i64, 0], [2])?), &[1.0, 2.0]), [2.0, 0.0]);
    let x = leaf(&[0.0]);
    total(&Tensor::where_cond(&x.gt(0.0)?, &x.log()?, &x)?).backward()?;
    assert!(grad_of(&x)[0].is_nan(), "the branch not taken reaches the gradient, as in torch");
    Ok(())
}

#[test]
fn shapes_and_dtypes_fit() -> Result<()> {
    let x = Tensor::from_vec(vec![1f32, 2.0], [2, 1])?.requires_grad_(true)?;
    let y = x.mul(&t(&[1.0, 2.0, 3.0]))?.to_dtype(DType::F64)?;
    total(&y).backward()?;
    let g = x.grad().unwrap();
    assert_eq!((g.dtype(), g.shape(), of(&g)), (DType::F32, &[2, 1][..], vec![6.0, 6.0]));
    let w = Tensor::from_vec(vec![1f64; 6], [2, 3])?.t()?.requires_grad_(true)?;
    total(&w.mul(2.0)?).backward()?;
    assert_eq!(w.grad().unwrap().strides(), w.strides());
    let z = x.expand([2, 4])?.to_dtype(DType::C64)?;
    total(&z.real()?).backward()?;
    assert_eq!(grad_of(&x), [10.0, 10.0]);
    Ok(())
}

#[test]
fn long_chains_cost_what_they_are_long() -> Result<()> {
    let (x, c) = (leaf(&[1.0]), leaf(&[1.0]));
    let time = |n: usize| -> Result<f64> {
        let start = std::time::Instant::now();
        let mut y = x.mul(1.0)?;
        for k in 0..n {
            y = if k % 2 == 0 { y.mul(&c)? } else { y.mul(&y)? };
        }
        let small = std::thread::Builder::new().stack_size(256 << 10);
        let run = small.spawn(move || y.backward()).map_err(|e| rushlight::err!(Runtime, "spawn", "{e}"))?;
        run.join().expect("no overflow of the stack")?;
        Ok(start.elapsed().as_secs_f64())
    };
    let (short, long) = (time(5_000)?, time(50_000)?);
    assert!(long < short * 40.0, "ten times the nodes took {long:.2} s after {short:.2} s");
    // Dropped without ever running backward.
    let mut y = x.mul(1.0)?;
    for _ in 0..1_000_000 {
        y = y.mul(&c)?;
    }
    drop(y);
    Ok(())
}

//! In-place writes: versions, what backward kept, views and their bases, overlap, failed calls.

use rushlight::grad::{GradCheck, gradcheck, gradgradcheck};
use rushlight::{DType, Kind, Result, Tensor, no_grad};

fn t(values: &[f64]) -> Tensor {
    Tensor::from_vec(values.to_vec(), [values.len()]).unwrap()
}
fn leaf(values: &[f64]) -> Tensor {
    t(values).requires_grad_(true).unwrap()
}
fn square(n: usize) -> Tensor {
    Tensor::from_vec((0..n * n).map(|i| i as f64).collect(), [n, n]).unwrap()
}
fn of(x: &Tensor) -> Vec<f64> {
    x.to_vec::<f64>().unwrap()
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
fn versions_count_writes_and_are_shared() -> Result<()> {
    let x = square(3);
    let (view, cut, apart, copy) = (x.narrow(0, 1, 1)?, x.detach()?, x.data(), x.copy()?);
    x.add_(1.0)?;
    view.fill_(2.0)?;
    cut.copy_(&cut)?;
    no_grad(|| x.zero_())?;
    x.narrow(0, 0, 0)?.mul_(2.0)?;
    for t in [&x, &view, &cut] {
        assert_eq!(t.version(), 5);
    }
    assert_eq!((apart.version(), copy.version()), (0, 0));
    apart.add_(1.0)?;
    assert_eq!((apart.version(), x.version(), of(&x)[0]), (1, 5, 1.0));
    x.with_slice_mut::<f64, _>(|s| s[0] = 9.0)?;
    assert_eq!(x.version(), 6);
    let mut y = x.clone();
    y.t_()?;
    assert_eq!(x.version(), 7);
    Ok(())
}

type Op = fn(&Tensor) -> Result<Tensor>;

#[test]
fn what_backward_keeps_is_watched() -> Result<()> {
    let nothing: &[Op] = &[
        |x| x.add(1.0),
        |x| x.neg(),
        |x| x.mul(3.0),
        |x| x.div(2.0),
        |x| x.sum((), false),
        |x| x.mean((), false),
        |x| x.cumsum(0),
        |x| x.copy(),
        |x| x.view([2]),
        |x| x.sign(),
        |x| Tensor::cat(&[x, x], 0),
        |x| Ok(x.sort(0, false)?.0),
        |x| x.masked_fill(&x.detach()?.gt(10.0)?, 1.0),
        |x| x.tril_like(),
    ];
    let inputs: &[Op] = &[
        |x| x.mul(x),
        |x| x.pow(2.0),
        |x| x.log(),
        |x| x.sin(),
        |x| x.cos(),
        |x| x.abs(),
        |x| x.square(),
        |x| x.clamp(0.0, 9.0),
        |x| x.silu(),
        |x| x.dot(x),
        |x| x.maximum(&x.detach()?.mul(2.0)?),
    ];
    let outputs: &[Op] = &[
        |x| x.exp(),
        |x| x.sqrt(),
        |x| x.rsqrt(),
        |x| x.tanh(),
        |x| x.sigmoid(),
        |x| x.relu(),
        |x| x.reciprocal(),
        |x| x.softmax(0),
    ];
    for (k, (op, input, output)) in (nothing.iter().map(|o| (o, true, true)))
        .chain(inputs.iter().map(|o| (o, false, true)))
        .chain(outputs.iter().map(|o| (o, true, false)))
        .enumerate()
    {
        let run = |write_input: bool| -> Result<()> {
            let x = leaf(&[1.0, 2.0]).mul(1.0)?;
            let y = op(&x)?;
            let name = y.grad_fn()?.map(|e| e.node.name()).unwrap_or("?");
            no_grad(|| if write_input { x.mul_(1.5) } else { y.detach()?.mul_(1.5) })?;
            // A view of the input shares its counter and is no result of its own.
            match total(&y).backward() {
                Err(e)
                    if e.op() == name
                        && e.text().contains("version 1, expected 0")
                        && e.text().contains("inplace.rs") =>
                {
                    Err(e)
                }
                Err(e) => panic!("{k} {name}: {e:?}"),
                Ok(()) => Ok(()),
            }
        };
        assert_eq!(run(true).is_ok(), input, "op {k}, its input written");
        assert_eq!(run(false).is_ok(), output, "op {k}, its output written");
    }
    // A factor is kept for the other's gradient alone.
    let (x, c) = (leaf(&[1.0, 2.0]).mul(1.0)?, t(&[3.0, 4.0]));
    let y = x.mul(&c)?;
    no_grad(|| x.mul_(2.0))?;
    total(&y).backward()?;
    let y = x.mul(&c)?;
    c.mul_(2.0)?;
    refused(total(&y).backward(), "version 1, expected 0");
    refused(total(&x.mul_(&x)?).backward(), "version");
    Ok(())
}

/// `sign`-like identity that keeps nothing; stands for the triangle ops on a vector.
trait TrilLike {
    fn tril_like(&self) -> Result<Tensor>;
}
impl TrilLike for Tensor {
    fn tril_like(&self) -> Result<Tensor> {
        self.unsqueeze(0)?.tril(0)
    }
}

#[test]
fn leaves_and_views_that_may_not_be_written() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    let before = (x.version(), of(&x));
    refused(x.add_(1.0), "leaf");
    refused(x.zero_(), "leaf");
    refused(x.copy_(&t(&[0.0, 0.0])), "leaf");
    refused(x.clone().unsqueeze_(0).map(|_| ()), "leaf");
    refused(x.view([2])?.mul_(2.0), "view of a leaf");
    refused(x.narrow(0, 0, 1)?.fill_(2.0), "view of a leaf");
    refused(x.with_slice_mut::<f64, _>(|_| ()), "leaf");
    refused(x.mul(1.0)?.with_slice_mut::<f64, _>(|_| ()), "graph");
    assert_eq!((x.version(), of(&x)), before);
    no_grad(|| x.narrow(0, 0, 1)?.fill_(5.0))?;
    assert_eq!((x.version(), of(&x)), (1, vec![5.0, 2.0]));
    let y = x.mul(1.0)?;
    let made_without = no_grad(|| y.narrow(0, 0, 1))?;
    refused(made_without.mul_(2.0), "no_grad");
    no_grad(|| made_without.mul_(2.0))?;
    // One of several views: refused in a graph, also through views of it; free without one.
    for pieces in [y.unbind(0)?, y.split(1, 0)?, y.chunk(2, 0)?, y.split_with_sizes([1, 1], 0)?] {
        refused(pieces[0].mul_(2.0), "several views");
        refused(pieces[0].view(-1)?.mul_(2.0), "several views");
    }
    y.tensor_split(2, 0)?[0].mul_(2.0)?;
    let plain = t(&[1.0, 2.0]);
    let piece = &plain.split(1, 0)?[0];
    piece.mul_(2.0)?;
    let before = (plain.version(), of(&plain));
    let w = leaf(&[3.0]);
    refused(piece.mul_(&w), "several views");
    refused(piece.copy_(&w), "several views");
    assert_eq!((plain.version(), of(&plain)), before);
    refused(Tensor::unbind(&y, 0)?[0].clone().view(1)?.exp_(), "several views");
    Ok(())
}

#[test]
fn gradients_through_views_equal_those_without_writes() -> Result<()> {
    let x = square(3).mul(0.1)?.add(0.3)?.requires_grad_(true)?;
    let w = Tensor::from_vec(vec![0.7, 1.3, 0.4], [3])?.requires_grad_(true)?;
    type F = fn(&[Tensor]) -> Result<Vec<Tensor>>;
    let cases: [F; 7] = [
        // base, the view, a sibling and a view made before the write
        |a| {
            let y = a[0].mul(1.0)?;
            let (row, sibling, early) = (y.select(0, 1)?, y.t()?, y.narrow(0, 1, 2)?);
            row.mul_(&a[1])?;
            Ok(vec![y.exp()?, row, sibling, early.sin()?])
        },
        // the base written while views exist
        |a| {
            let y = a[0].mul(1.0)?;
            let view = y.diagonal(0, 0, 1)?;
            y.mul_(&a[1])?;
            view.add_(&a[1])?;
            Ok(vec![view.mul(&a[1])?, y.mul(&y)?])
        },
        // a base that was no part of a graph
        |a| {
            let y = Tensor::from_vec(vec![1.0; 9], [3, 3])?;
            y.t()?.narrow(1, 1, 1)?.squeeze(1)?.mul_(&a[1])?;
            Ok(vec![y.mul(&a[0])?])
        },
        |a| {
            let y = a[0].mul(1.0)?;
            y.select(1, 0)?.fill_(2.0)?;
            y.select(0, 2)?.copy_(&a[1])?;
            Ok(vec![y.mul(&y)?])
        },
        |a| {
            let y = a[0].mul(1.0)?;
            y.sin_()?.mul_(2.0)?.log1p_()?.clamp_(-0.2, 0.9)?.tril_(0)?.add_(0.5)?.exp_()?;
            Ok(vec![y])
        },
        |a| {
            let y = a[0].mul(1.0)?;
            y.reshape([9])?.as_strided([2, 2], [3, 1], Some(1))?.mul_(&a[1].narrow(0, 0, 2)?)?;
            y.select(0, 0)?
                .masked_fill_(&Tensor::from_vec(vec![true, false, true], [3])?, &a[1].select(0, 0)?)?;
            Ok(vec![y])
        },
        // through an expanded view that is only read
        |a| {
            let y = a[1].mul(1.0)?;
            let wide = y.expand([2, 3])?;
            y.mul_(3.0)?;
            Ok(vec![wide.mul(wide.clone())?])
        },
    ];
    for (k, f) in cases.into_iter().enumerate() {
        let place = |e: rushlight::Error| rushlight::err!(Runtime, "case", "{k}: {e}");
        gradcheck(f, &[x.clone(), w.clone()], GradCheck::default()).map_err(place)?;
        gradgradcheck(f, &[x.clone(), w.clone()], GradCheck::default()).map_err(place)?;
    }
    Ok(())
}

#[test]
fn memory_stays_level_over_graphs_with_writes_and_hooks() -> Result<()> {
    let x = square(8).requires_grad_(true)?;
    let step = || -> Result<()> {
        let y = x.mul(2.0)?;
        y.narrow(0, 0, 4)?.sin_()?;
        y.cos_()?.clamp_(-0.5, 0.5)?;
        let seen = y.detach()?;
        y.register_hook(move |g| g.mul(&seen).map(Some))?;
        y.retain_grad()?;
        y.mul_(&x)?;
        let view = y.t()?;
        view.add_(1.0)?;
        total(&y.mul(&view)?).backward()?;
        drop(y.mul(&x)?.sin_()?);
        x.set_grad(None)
    };
    step()?;
    let before = rushlight::mem::memory_stats().allocated;
    for _ in 0..200 {
        step()?;
    }
    let after = rushlight::mem::memory_stats().allocated;
    // Tests beside this one allocate too, but little; 200 leaked steps would be far more.
    assert!(after < before + 200 * 512, "{before} bytes before, {after} after");
    Ok(())
}

#[test]
fn results_that_do_not_fit_are_refused_and_change_nothing() -> Result<()> {
    let cases: [(DType, fn(&Tensor) -> Result<Tensor>); 12] = [
        (DType::I64, |x| x.add_(1.5)),
        (DType::I64, |x| x.div_(2)),
        (DType::I64, |x| x.exp_()),
        (DType::I64, |x| x.mul_(&t(&[1.5, 2.0, 3.0]))),
        (DType::Bool, |x| x.add_(1)),
        (DType::F64, |x| x.add_(rushlight::Number::Complex(0.0, 1.0))),
        (DType::F64, |x| x.add_(&square(3))),
        (DType::F64, |x| x.narrow(0, 0, 1)?.add_(&t(&[1.0, 2.0]))),
        (DType::F64, |x| x.copy_(&t(&[1.0, 2.0]))),
        (DType::F64, |x| x.select(0, 0)?.add_(&t(&[1.0]))),
        (DType::F64, |x| x.clamp_min_(&square(3))),
        (DType::I64, |x| x.floor_divide_(0)),
    ];
    for (k, (dtype, f)) in cases.into_iter().enumerate() {
        let x = t(&[1.0, 2.0, 3.0]).to_dtype(dtype)?;
        let before = (x.version(), x.to_bytes()?);
        let e = f(&x).err().unwrap_or_else(|| panic!("case {k} was accepted"));
        assert_eq!((e.kind(), (x.version(), x.to_bytes()?)), (Kind::Runtime, before), "case {k}: {e}");
    }
    let narrow = t(&[1.0, 2.0]).to_dtype(DType::F16)?;
    narrow.mul_(&t(&[2.0, 3.0]))?;
    assert_eq!(narrow.dtype(), DType::F16);
    Ok(())
}

#[test]
fn overlap() -> Result<()> {
    let wide = || t(&[1.0]).expand([3]);
    refused(wide()?.add_(1.0), "memory cell");
    refused(wide()?.exp_(), "memory cell");
    refused(wide()?.copy_(&t(&[1.0, 2.0, 3.0])), "memory cell");
    refused(wide()?.clamp_(0.0, 1.0), "memory cell");
    wide()?.fill_(2.0)?;
    wide()?.zero_()?;
    t(&[1.0]).expand([1])?.add_(1.0)?;
    let x = || Ok::<_, rushlight::Error>((t(&[1.0, 2.0, 3.0, 4.0]), square(3)));
    let shifted: [fn(&Tensor, &Tensor) -> Result<Tensor>; 8] = [
        |v, _| v.narrow(0, 1, 3)?.add_(&v.narrow(0, 0, 3)?),
        |v, _| v.narrow(0, 1, 3)?.copy_(&v.narrow(0, 0, 3)?),
        |_, m| m.narrow(0, 1, 2)?.sub_(&m.narrow(0, 0, 2)?),
        |_, m| m.add_(&m.t()?),
        |_, m| m.copy_(&m.t()?),
        |_, m| m.div_(&m.select(0, 0)?),
        |_, m| m.div_(&m.select(0, 0)?.select(0, 1)?),
        |_, m| m.mul_(&m.narrow(0, 1, 1)?),
    ];
    for (k, f) in shifted.into_iter().enumerate() {
        let (v, m) = x()?;
        let before = (of(&v), of(&m));
        let e = f(&v, &m).err().unwrap_or_else(|| panic!("overlap {k} was accepted"));
        assert!(e.text().contains("clone() the input"), "{k}: {e}");
        assert_eq!((of(&v), of(&m), v.version(), m.version()), (before.0, before.1, 0, 0));
    }
    let (v, m) = x()?;
    v.div_(&v.amax((), false)?)?.add_(&v)?.add_(&v.view([4])?)?.add_(&v.expand([4])?)?.copy_(&v)?;
    assert_eq!(of(&v), [2.0, 4.0, 6.0, 8.0]);
    v.narrow(0, 0, 2)?.add_(&v.narrow(0, 2, 2)?)?;
    v.slice(0, None, None, 2)?.add_(&v.slice(0, Some(1), None, 2)?)?;
    assert_eq!(of(&v), [20.0, 12.0, 14.0, 8.0]);
    drop(m);
    Ok(())
}

#[test]
fn a_source_that_is_written_is_read_first() -> Result<()> {
    let m = square(3);
    let log = rushlight::trace::copies(|| m.narrow(1, 1, 2)?.copy_(&m.narrow(1, 0, 2)?));
    assert_eq!(of(&m), [0.0, 0.0, 1.0, 3.0, 3.0, 4.0, 6.0, 6.0, 7.0]);
    assert!(log.1.iter().any(|c| c.reason.contains("read while")), "{:?}", log.1);
    // A row over all rows; in its full shape it is not dense.
    let m = square(3);
    m.set(.., &m.i(1)?)?;
    assert_eq!(of(&m), [3.0, 4.0, 5.0].repeat(3));
    let m = square(2);
    m.index_put_(
        &[Some(&Tensor::from_vec(vec![1i64, 0], [2])?)],
        &m.select(0, 0)?.unsqueeze(0)?.expand([2, 2])?,
        false,
    )?;
    assert_eq!(of(&m), [0.0, 1.0, 0.0, 1.0]);
    // A formula over what it writes would be right by luck alone.
    let m = square(3);
    refused(m.sub_(&m.narrow(1, 0, 1)?), "clone() the input");
    // The same bytes as wider elements are converted before they are written.
    let x = t(&[1.5, 2.5]).to_dtype(DType::F32)?;
    let wide = x.view_dtype(DType::F64)?;
    let want = of(&x.to_dtype(DType::F64)?.add(&wide)?.to_dtype(DType::F32)?.to_dtype(DType::F64)?);
    x.add_(&wide)?;
    assert_eq!(of(&x.to_dtype(DType::F64)?), want);
    Ok(())
}

#[test]
fn a_value_of_the_graph_among_integers_is_never_lost_in_silence() -> Result<()> {
    let value = total(&leaf(&[2.0]));
    let fresh = || Tensor::from_vec(vec![1i64, 2, 3], [3]);
    let writes: [fn(&Tensor, &Tensor) -> Result<Tensor>; 3] = [
        |x, v| x.fill_(v),
        |x, v| x.masked_fill_(&x.gt(1)?, v),
        |x, v| x.index_fill_(0, &Tensor::from_vec(vec![0i64], [1])?, v),
    ];
    for write in writes {
        let x = fresh()?;
        write(&x, &value)?;
        assert!(x.requires_grad());
        for result in [x.mul(2), x.add(&x), x.sum((), false), x.narrow(0, 0, 1), x.copy()] {
            refused(result, "no gradient");
        }
        assert!(!x.gt(0)?.requires_grad() && !x.detach()?.requires_grad());
        refused(total(&x.to_dtype(DType::F64)?).backward(), "a gradient reached");
    }
    // copy_ converts, and ends the graph like to_dtype.
    let x = fresh()?;
    x.copy_(&value)?;
    assert!(!x.requires_grad());
    Ok(())
}

#[test]
fn fill_takes_a_tensor_of_no_dimensions() -> Result<()> {
    let (x, value) = (leaf(&[1.0, 2.0, 3.0]), leaf(&[5.0]));
    let y = x.mul(2.0)?;
    y.narrow(0, 1, 2)?.fill_(&value.select(0, 0)?)?;
    assert_eq!(of(&y), [2.0, 5.0, 5.0]);
    total(&y).backward()?;
    assert_eq!((of(&x.grad().unwrap()), of(&value.grad().unwrap())), (vec![2.0, 0.0, 0.0], vec![2.0]));
    // The value may be a cell of what is written.
    let y = t(&[7.0, 8.0]);
    y.fill_(&y.select(0, 1)?)?;
    assert_eq!(of(&y), [8.0, 8.0]);
    refused(y.fill_(&t(&[1.0])), "no dimensions");
    refused(t(&[1.0]).expand([3])?.fill_(&value.select(0, 0)?.detach()?), "memory cell");
    Ok(())
}

#[test]
fn a_view_beyond_its_source_writes_to_the_base() -> Result<()> {
    // `part` has the first half alone; a view of it by strides reaches the other.
    let writes: [fn(&Tensor) -> Result<Tensor>; 3] =
        [|s| s.clamp_(-1.0, 3.0), |s| s.mul_(2.0), |s| s.cumsum_(0)];
    for (write, want) in
        writes.into_iter().zip([[1.0, 1.0, 2.0, 0.0], [1.0, 1.0, 4.0, 4.0], [1.0, 1.0, 4.0, 2.0]])
    {
        let x = leaf(&[1.0, 2.0, 2.5, 9.0]);
        let base = x.mul(1.0)?;
        let far = base.narrow(0, 0, 2)?.as_strided([2], [1], Some(2))?;
        write(&far)?;
        total(&base).add(&total(&far))?.backward()?;
        assert_eq!(of(&x.grad().unwrap()), want);
    }
    // A change of its own shape keeps the history it has: nothing of the source is in it.
    let x = leaf(&[1.0, 2.0, 2.5, 9.0]);
    let base = x.mul(1.0)?;
    let mut far = base.narrow(0, 0, 2)?.as_strided([1, 2], [1, 1], Some(2))?;
    far.t_()?;
    total(&base).add(&total(&far))?.backward()?;
    assert_eq!(of(&x.grad().unwrap()), [1.0; 4]);
    Ok(())
}

#[test]
fn a_stale_view_is_told_before_or_after_its_dimensions_as_in_torch() -> Result<()> {
    let base = leaf(&[1.0, 2.0, 3.0]).mul(1.0)?;
    let stale = base.split(2, 0)?.remove(0);
    base.mul_(2.0)?;
    let kind = |r: Result<Tensor>| r.err().map(|e| e.kind());
    let first = |r: Result<Vec<Tensor>>| r.map(|mut v| v.remove(0));
    for (bad, good, want) in [
        (stale.movedim(4, 0), stale.movedim(0, 0), Kind::Index),
        (stale.narrow(3, 0, 1), stale.narrow(0, 0, 1), Kind::Index),
        (first(stale.chunk(1, 2)), first(stale.chunk(1, 0)), Kind::Index),
        (stale.i(7), stale.i(0), Kind::Index),
        (stale.transpose(0, 5), stale.transpose(0, 0), Kind::Runtime),
        (stale.select(0, 7), stale.select(0, 0), Kind::Runtime),
    ] {
        assert_eq!((kind(bad), kind(good)), (Some(want), Some(Kind::Runtime)));
    }
    let empty = stale.as_strided([0], [1], Some(0));
    assert_eq!(empty.and_then(|e| e.unbind(0).map(|_| e)).err().map(|e| e.kind()), Some(Kind::Runtime));
    Ok(())
}

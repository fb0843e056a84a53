//! `out=` for every row that has it.

use super::{of, range, refused, t};
use rushlight::op::{Args, Out, Value, call_out, dispatch, dispatch_out, rows_with_out};
use rushlight::{DType, Device, Kind, Layout, Result, Tensor, no_grad};

/// A tensor of that shape whose cells lie apart and in reverse order of dimensions.
fn apart(shape: &[usize], dtype: DType) -> Result<Tensor> {
    let wide: Vec<usize> = shape.iter().rev().map(|n| 2 * n + 1).collect();
    let host = Tensor::zeros_with(wide.as_slice(), Some(dtype), None)?;
    let strides: Vec<isize> = host.strides().iter().rev().map(|s| 2 * s).collect();
    let offset = usize::from(host.numel() > 1 && !shape.is_empty());
    Tensor::from_storage(host.storage().clone(), Layout::new(shape, strides.as_slice(), offset)?, dtype)
}

/// Rows whose values are drawn; they are compared in shape and dtype.
fn drawn(name: &str) -> bool {
    matches!(name, "empty" | "rand" | "randn" | "randint" | "randperm" | "bernoulli" | "multinomial")
}

/// Equal bit by bit, but for what NaN holds.
fn same(a: &Tensor, b: &Tensor) -> Result<bool> {
    let bits = |x: &Tensor| x.to_dtype(DType::C128)?.contiguous()?.view_as_real()?.to_vec::<f64>();
    let equal = |(x, y): (&f64, &f64)| x == y || (x.is_nan() && y.is_nan());
    Ok(a.shape() == b.shape() && a.dtype() == b.dtype() && bits(a)?.iter().zip(&bits(b)?).all(equal))
}

#[test]
fn every_row_writes_what_it_gives() -> Result<()> {
    let (mut rows, mut calls) = (0, 0);
    for def in rows_with_out() {
        rows += 1;
        for (k, sample) in (def.samples)().into_iter().enumerate() {
            let place = format!("{} sample {k}", def.name);
            let want = dispatch(def, &sample.args)?;
            let write = |outs: &mut [Tensor]| -> Result<()> {
                outs.clone_from_slice(&dispatch_out(def, &sample.args, outs)?);
                Ok(())
            };
            let check = |outs: &[Tensor]| -> Result<()> {
                for (out, want) in outs.iter().zip(&want) {
                    assert!(drawn(def.name) || same(out, want)?, "{place}: {out} is not {want}");
                    assert_eq!(out.version(), 1, "{place}");
                }
                Ok(())
            };
            let made = |f: &dyn Fn(&Tensor) -> Result<Tensor>| want.iter().map(f).collect::<Result<Vec<_>>>();
            // Of the right shape: written where it lies, with its own strides.
            let mut outs = made(&|w| apart(w.shape(), w.dtype()))?;
            let before = outs.clone();
            write(&mut outs).unwrap_or_else(|e| panic!("{place}: {e}"));
            check(&outs)?;
            for (a, b) in outs.iter().zip(&before) {
                assert!(a.is(b), "{place}: out= of the right shape is another tensor");
            }
            // Empty, and of another shape: resized to the result's own layout.
            for shape in [&[0][..], &[7, 3]] {
                let mut outs = made(&|w| Tensor::zeros_with(shape, Some(w.dtype()), None))?;
                let before = outs.clone();
                write(&mut outs).unwrap_or_else(|e| panic!("{place}: {e}"));
                check(&outs)?;
                for ((a, b), w) in outs.iter().zip(&before).zip(&want) {
                    assert!(a.shares_storage(b), "{place}: out= has another storage");
                    assert_eq!(a.strides(), w.strides(), "{place}");
                }
            }
            // Twice the same tensor as operand and as result, where that fits.
            if let (Some(Value::Tensor(x)), [w], true) =
                (sample.args.first(), want.as_slice(), !drawn(def.name))
                && x.shape() == w.shape()
                && x.dtype() == w.dtype()
            {
                let x = x.copy()?;
                let mut args: Args = sample.args.clone();
                args[0] = Value::Tensor(x.clone());
                let made = dispatch_out(def, &args, std::slice::from_ref(&x));
                let made = made.unwrap_or_else(|e| panic!("{place} onto itself: {e}"));
                assert!(made[0].is(&x) && same(&x, w)?, "{place} onto itself");
            }
            calls += 1;
        }
    }
    assert!(rows > 150 && calls > 800, "{rows} rows, {calls} calls");
    Ok(())
}

fn args(values: impl IntoIterator<Item = Value>) -> Args {
    values.into_iter().collect()
}

#[test]
fn dtypes_follow_torch() -> Result<()> {
    let x = t(&[1.5, 2.5, 3.5, 0.5], &[2, 2]);
    let mm = args([(&x).into(), (&x).into()]);
    let mut out = Tensor::zeros([2, 2])?;
    refused(Kind::Runtime, "must be equal", call_out("mm", &mm, &mut [&mut out]));
    assert_eq!((out.version(), of(&out)), (0, vec![0.0; 4]));
    // Where operands promote, out= may be of any higher category, or of the same.
    for (dtype, fits) in [(DType::F32, true), (DType::C64, true), (DType::I64, false), (DType::Bool, false)] {
        let mut out = Tensor::empty_with(0, Some(dtype), None)?;
        let cat = args([Value::Tensors(vec![x.clone(), x.clone()]), 0i64.into()]);
        assert_eq!(call_out("cat", &cat, &mut [&mut out]).is_ok(), fits, "{dtype}");
        let add = args([(&x).into(), Value::Operand(1.into()), Value::Number(1.into())]);
        assert_eq!(call_out("add", &add, &mut [&mut out]).is_ok(), fits, "{dtype}");
    }
    // A row with a dtype argument takes that of out=.
    let sum =
        |dtype| args([(&x).into(), rushlight::Dims::from(0).into(), false.into(), Value::OptDType(dtype)]);
    let mut out = Tensor::empty_with(0, Some(DType::I64), None)?;
    call_out("sum", sum(None), &mut [&mut out])?;
    assert_eq!(of(&out), [4.0, 2.0]); // cast, then summed
    refused(Kind::Runtime, "dtype", call_out("sum", sum(Some(DType::F32)), &mut [&mut out]));
    let range = args([
        Value::Number(0.into()),
        Value::Number(2.5.into()),
        Value::Number(1.into()),
        Value::OptDType(None),
        Value::OptDevice(None),
    ]);
    call_out("arange", &range, &mut [&mut out])?;
    assert_eq!((out.dtype(), of(&out)), (DType::I64, vec![0.0, 1.0, 2.0]));
    // And the device.
    let mut there = Tensor::zeros_with(0, Some(DType::F64), Some(Device::REF))?;
    call_out("arange", &range, &mut [&mut there])?;
    assert_eq!((there.device(), of(&there)), (Device::REF, vec![0.0, 1.0, 2.0]));
    refused(Kind::Runtime, "is on cpu", call_out("sum", sum(None), &mut [&mut there]));
    let mut meta = Tensor::zeros_with(0, Some(DType::F64), Some(Device::META))?;
    call_out("arange", &range, &mut [&mut meta])?;
    assert_eq!(meta.shape(), [3]);
    Ok(())
}

#[test]
fn shared_memory_is_read_before_it_is_written() -> Result<()> {
    let x = range(&[2, 2]);
    let mut out = x.clone();
    call_out("mm", args([(&x).into(), (&x).into()]), &mut [&mut out])?;
    assert!(out.is(&x));
    assert_eq!(of(&x), [2., 3., 6., 11.]);
    // A row of an operand.
    let x = range(&[2, 2]);
    let mut row = x.select(0, 0)?;
    call_out(
        "sum",
        args([(&x).into(), rushlight::Dims::from(0).into(), false.into(), Value::OptDType(None)]),
        &mut [&mut row],
    )?;
    assert_eq!(of(&x), [2., 4., 2., 3.]);
    // Shifted views: torch refuses or gives what the loop's order makes of it. Pointwise rows refuse.
    let x = range(&[4]);
    let mut tail = x.narrow(0, 1, 3)?;
    call_out(
        "cumsum",
        args([(&x.narrow(0, 0, 3)?).into(), 0i64.into(), Value::OptDType(None)]),
        &mut [&mut tail],
    )?;
    assert_eq!(of(&x), [0., 0., 1., 3.]);
    let add = args([(&x.narrow(0, 0, 3)?).into(), Value::Operand(1.into()), Value::Number(1.into())]);
    refused(Kind::Runtime, "share some cells", call_out("add", &add, &mut [&mut tail]));
    assert_eq!(of(&x), [0., 0., 1., 3.]);
    // Cells that are one.
    for (name, args) in
        [("add", add), ("cumsum", args([(&x.narrow(0, 0, 3)?).into(), 0i64.into(), Value::OptDType(None)]))]
    {
        let mut wide = t(&[1.0], &[1]).expand(3)?;
        refused(Kind::Runtime, "one memory cell", call_out(name, &args, &mut [&mut wide]));
    }
    // Pairs of results.
    let (mut values, mut places) =
        (Tensor::empty_with(0, Some(DType::F64), None)?, Tensor::empty_with(0, Some(DType::I64), None)?);
    call_out("sort", args([(&x).into(), 0i64.into(), true.into()]), &mut [&mut values, &mut places])?;
    assert_eq!((of(&values), of(&places)), (vec![3., 1., 0., 0.], vec![3., 2., 0., 1.]));
    refused(
        Kind::Type,
        "results",
        call_out("sort", args([(&x).into(), 0i64.into(), true.into()]), &mut [&mut values]),
    );
    refused(
        Kind::Type,
        "no out=",
        call_out("reshape", args([(&x).into(), rushlight::Size::from(4).into()]), &mut [&mut values]),
    );
    refused(Kind::Type, "no op", call_out("no_such_op", args([]), &mut []));
    Ok(())
}

#[test]
fn autograd_and_resizing_have_their_rules() -> Result<()> {
    let x = range(&[3]).requires_grad_(true)?;
    let sum = args([(&x).into(), rushlight::Dims::All.into(), false.into(), Value::OptDType(None)]);
    let exp = args([(&x).into()]);
    let mut out = Tensor::empty_with((), Some(DType::F64), None)?;
    for (name, args) in [("sum", &sum), ("exp", &exp)] {
        refused(Kind::Runtime, "out=", call_out(name, args, &mut [&mut out]));
    }
    no_grad(|| call_out("sum", &sum, &mut [&mut out]))?;
    assert_eq!((out.requires_grad(), of(&out)), (false, vec![3.0]));
    let plain = args([(&range(&[3])).into()]);
    let mut leaf = range(&[3]).requires_grad_(true)?;
    refused(Kind::Runtime, "out=", call_out("exp", &plain, &mut [&mut leaf]));
    no_grad(|| call_out("exp", &plain, &mut [&mut leaf]))?;
    assert!(leaf.requires_grad() && of(&leaf)[0] == 1.0);
    let mut leaf = range(&[2]).requires_grad_(true)?;
    refused(Kind::Runtime, "resized", no_grad(|| call_out("exp", &plain, &mut [&mut leaf])));
    assert_eq!((leaf.shape(), of(&leaf)), (&[2][..], vec![0.0, 1.0]));
    // The part of a storage keeps its start; memory that is lent does not grow.
    let base = range(&[4]);
    let mut part = base.narrow(0, 1, 1)?;
    call_out(
        "exp",
        &args([Value::Tensor(Tensor::zeros_with([2, 2], Some(DType::F64), None)?)]),
        &mut [&mut part],
    )?;
    assert_eq!((part.shape(), part.strides(), part.storage_offset()), (&[2, 2][..], &[2, 1][..], 1));
    assert_eq!(of(&base), [0., 1., 1., 1.]);
    // Results keep their order of dimensions where out= takes it over.
    let mut out = Tensor::empty_with([2, 3], Some(DType::F64), None)?;
    call_out("exp", &args([Value::Tensor(range(&[4, 3]).t()?)]), &mut [&mut out])?;
    assert_eq!((out.shape(), out.strides()), (&[3, 4][..], &[1, 3][..]));
    // Every copy is visible.
    let mut out = Tensor::empty_with([2, 2], Some(DType::F64), None)?;
    let m = range(&[2, 2]);
    let (_, copies) =
        rushlight::trace::copies(|| call_out("mm", args([(&m).into(), (&m).into()]), &mut [&mut out]));
    assert!(copies.iter().any(|c| c.op == "mm" && c.bytes == 32), "{copies:?}");
    Ok(())
}

#[test]
fn the_table_says_who_takes_out() {
    let rule = |name: &str| rushlight::op::find(name).and_then(|d| d.out);
    for name in ["mm", "sum", "gather", "sort", "arange", "cumsum", "max_dim", "index_select", "tril"] {
        assert_eq!(rule(name), Some(Out::Exact), "{name}");
    }
    for name in ["add", "cat", "stack", "outer", "var"] {
        assert_eq!(rule(name), Some(Out::Casts), "{name}");
    }
    for name in ["view", "reshape", "copy_", "conv2d", "flip", "one_hot", "pack"] {
        assert_eq!(rule(name), None, "{name}");
    }
}

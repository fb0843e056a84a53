//! Values that meet at one place: `scatter_reduce`, `index_reduce`; and parts of tensors replaced.

use super::{i, of, range, refused, t};
use rushlight::grad::{GradOptions, grad};
use rushlight::{DType, Device, Kind, Result, Tensor};

const NAN: f64 = f64::NAN;

#[test]
fn scatter_reduce_gives_the_values_of_torch() -> Result<()> {
    let x = range(&[3, 4]);
    let src = t(&[3.0, -1.0, 7.0, 2.0, 1.0, 8.0, -5.0, 4.0], &[2, 4]);
    let index = i(&[0, 2, 2, 0, 0, 1, 2, 0], &[2, 4]);
    let third = 4.0 / 3.0;
    let want: [(&str, bool, [f64; 12]); 10] = [
        ("sum", true, [4., 1., 2., 9., 4., 13., 6., 7., 8., 8., 12., 11.]),
        ("sum", false, [4., 1., 2., 6., 4., 8., 6., 7., 8., -1., 2., 11.]),
        ("prod", true, [0., 1., 2., 24., 4., 40., 6., 7., 8., -9., -350., 11.]),
        ("prod", false, [3., 1., 2., 8., 4., 8., 6., 7., 8., -1., -35., 11.]),
        ("mean", true, [third, 1., 2., 3., 4., 6.5, 6., 7., 8., 4., 4., 11.]),
        ("mean", false, [2., 1., 2., 3., 4., 8., 6., 7., 8., -1., 1., 11.]),
        ("amax", true, [3., 1., 2., 4., 4., 8., 6., 7., 8., 9., 10., 11.]),
        ("amax", false, [3., 1., 2., 4., 4., 8., 6., 7., 8., -1., 7., 11.]),
        ("amin", true, [0., 1., 2., 2., 4., 5., 6., 7., 8., -1., -5., 11.]),
        ("amin", false, [1., 1., 2., 2., 4., 8., 6., 7., 8., -1., -5., 11.]),
    ];
    // The same from transposed, offset and expanded operands, and on the reference.
    let turned = |x: &Tensor| x.t()?.contiguous()?.t();
    let inside = |x: &Tensor| {
        let wide = Tensor::full_with([5, 6], 77, Some(x.dtype()), None)?;
        wide.narrow(0, 1, x.shape()[0] as i64)?.narrow(1, 2, 4)?.copy_(x)
    };
    for (reduce, include, want) in &want {
        let check = |x: &Tensor, index: &Tensor, src: &Tensor| -> Result<()> {
            let y = x.scatter_reduce_with(0, index, src, reduce, *include)?;
            assert_eq!(of(&y), want, "{reduce} {include}");
            assert!(y.is_contiguous() && y.dtype() == DType::F64);
            Ok(())
        };
        check(&x, &index, &src)?;
        check(&turned(&x)?, &turned(&index)?, &turned(&src)?)?;
        check(&inside(&x)?, &inside(&index)?, &inside(&src)?)?;
        check(&x, &index.to_dtype(DType::I32)?, &src)?;
        let there = |x: &Tensor| x.to_device(Device::REF);
        check(&there(&x)?, &there(&index)?, &there(&src)?)?;
        // A source larger than the index gives its first part.
        check(&x, &index, &Tensor::cat(&[&src, &src], 0)?)?;
    }
    assert_eq!(of(&x), of(&range(&[3, 4])), "the operand is not written");
    assert!(x.scatter_reduce_(0, &index, &src, "sum")?.is(&x) && x.version() == 1);
    assert_eq!(of(&x), want[0].2);
    Ok(())
}

#[test]
fn combining_keeps_nan_and_does_not_stall() -> Result<()> {
    let (x, index) = (t(&[1.0, NAN, 3.0], &[3]), i(&[0, 1, 2], &[3]));
    let src = t(&[NAN, 5.0, 2.0], &[3]);
    let same = |got: Vec<f64>, want: &[f64]| {
        assert!(got.iter().zip(want).all(|(a, b)| a == b || (a.is_nan() && b.is_nan())), "{got:?} {want:?}");
    };
    for reduce in ["amin", "amax"] {
        let extreme = if reduce == "amin" { 2.0 } else { 3.0 };
        same(of(&x.scatter_reduce(0, &index, &src, reduce)?), &[NAN, NAN, extreme]);
        same(of(&x.scatter_reduce_with(0, &index, &src, reduce, false)?), &[NAN, 5.0, 2.0]);
    }
    // 2048 + 1 is 2048 in float16.
    let (zero, ones) = (Tensor::zeros(1)?.to_dtype(DType::F16)?, Tensor::ones(5000)?.to_dtype(DType::F16)?);
    let places = Tensor::zeros_with(5000, Some(DType::I64), None)?;
    assert_eq!(of(&zero.scatter_reduce(0, &places, &ones, "sum")?), [5000.0]);
    assert_eq!(of(&zero.scatter_reduce_with(0, &places, &ones, "mean", false)?), [1.0]);
    // Small integers wrap, and integer means go down.
    let small = |v: &[f64]| t(v, &[v.len()]).to_dtype(DType::I8);
    let at = i(&[0, 0, 1], &[3]);
    let values = small(&[100.0, 100.0, -3.0])?;
    assert_eq!(of(&small(&[0.0, 0.0])?.scatter_reduce(0, &at, &values, "sum")?), [-56.0, -3.0]);
    assert_eq!(of(&small(&[0.0, 0.0])?.scatter_reduce(0, &at, &values, "mean")?), [-19.0, -2.0]);
    // Identities are legal values: the lowest integer survives as itself.
    let lowest = small(&[-128.0])?;
    assert_eq!(of(&lowest.scatter_reduce_with(0, &i(&[0], &[1]), &lowest, "amax", false)?), [-128.0]);
    Ok(())
}

#[test]
fn gradients_of_products_with_zeros() -> Result<()> {
    let x = t(&[0.0, 2.0], &[2]).requires_grad_(true)?;
    let src = t(&[3.0, 0.0, 5.0], &[3]).requires_grad_(true)?;
    let y = x.scatter_reduce(0, &i(&[1, 1, 0], &[3]), &src, "prod")?;
    y.sum((), false)?.backward()?;
    // y0 = x0 * s2, y1 = x1 * s0 * s1.
    assert_eq!(of(&x.grad().unwrap()), [5.0, 0.0]);
    assert_eq!(of(&src.grad().unwrap()), [0.0, 6.0, 0.0]);
    // Two zeros at one place: the first gradient is known, that of the gradient refused.
    let src = t(&[0.0, 0.0, 5.0], &[3]).requires_grad_(true)?;
    let y = x.scatter_reduce(0, &i(&[1, 1, 0], &[3]), &src, "prod")?.sum((), false)?;
    let keep = GradOptions { retain_graph: true, ..Default::default() };
    assert_eq!(of(grad(&[&y], &[&src], &[], keep)?[0].as_ref().unwrap()), [0.0, 0.0, 0.0]);
    let create = GradOptions { create_graph: true, ..Default::default() };
    refused(Kind::NotImplemented, "zero", grad(&[&y], &[&src], &[], create));
    Ok(())
}

#[test]
fn ties_share_the_gradient() -> Result<()> {
    let x = t(&[5.0, 2.0], &[2]).requires_grad_(true)?;
    let src = t(&[5.0, 5.0, 1.0], &[3]).requires_grad_(true)?;
    x.scatter_reduce(0, &i(&[0, 0, 1], &[3]), &src, "amax")?.sum((), false)?.backward()?;
    let third = 1.0 / 3.0;
    assert_eq!(of(&x.grad().unwrap()), [third, 1.0]);
    assert_eq!(of(&src.grad().unwrap()), [third, third, 0.0]);
    Ok(())
}

#[test]
fn index_reduce_gives_the_values_of_torch() -> Result<()> {
    let x = t(&[1., 2., 3., 4., 5., 6.], &[3, 2]);
    let (src, index) = (t(&[2., 3., 2., 1.], &[2, 2]), i(&[0, 0], &[2]));
    let at = |reduce: &str, include| of(&x.index_reduce_with(0, &index, &src, reduce, include).unwrap());
    assert_eq!(at("mean", true), [5.0 / 3.0, 2., 3., 4., 5., 6.]);
    assert_eq!(at("mean", false), [2., 2., 3., 4., 5., 6.]);
    assert_eq!(at("prod", true), [4., 6., 3., 4., 5., 6.]);
    assert_eq!(at("prod", false), [4., 3., 3., 4., 5., 6.]);
    assert_eq!(at("amax", true), [2., 3., 3., 4., 5., 6.]);
    assert_eq!(at("amin", true), [1., 1., 3., 4., 5., 6.]);
    refused(Kind::Runtime, "\"prod\"", x.index_reduce(0, &index, &src, "sum"));
    for bad in [-1, 3] {
        refused(Kind::Index, "", x.index_reduce(0, &i(&[bad, 0], &[2]), &src, "prod"));
    }
    refused(Kind::Runtime, "does not fit", x.index_reduce(1, &index, &src, "prod"));
    refused(Kind::Index, "vector", x.index_reduce(0, &i(&[0, 0], &[1, 2]), &src, "prod"));
    Ok(())
}

#[test]
fn scatter_reduce_refuses_what_does_not_fit() -> Result<()> {
    let (x, src, index) = (range(&[4]), range(&[2]), i(&[0, 1], &[2]));
    refused(Kind::Runtime, "\"sum\"", x.scatter_reduce(0, &index, &src, "add"));
    refused(Kind::Runtime, "convert", x.scatter_reduce(0, &index, &src.to_dtype(DType::F32)?, "sum"));
    for bad in [-1, 4, i64::MAX] {
        refused(Kind::Runtime, "", x.scatter_reduce(0, &i(&[bad], &[1]), &src, "sum"));
    }
    refused(Kind::Index, "", x.scatter_reduce(1, &index, &src, "sum"));
    refused(Kind::Runtime, "dimensions", x.scatter_reduce(0, &i(&[0], &[1, 1]), &src, "sum"));
    refused(Kind::Runtime, "larger", x.scatter_reduce(0, &i(&[0, 1, 2], &[3]), &src, "sum"));
    let complex = x.to_dtype(DType::C128)?;
    refused(
        Kind::NotImplemented,
        "order",
        complex.scatter_reduce(0, &index, &src.to_dtype(DType::C128)?, "amax"),
    );
    // A write in place needs cells of its own.
    let wide = t(&[1.0], &[1]).expand(4)?;
    refused(Kind::Runtime, "one memory cell", wide.scatter_reduce_(0, &index, &src, "sum"));
    // Empty, rank 0, and stretched operands.
    let none = Tensor::from_vec(Vec::<i64>::new(), [0])?;
    assert_eq!(of(&x.scatter_reduce(0, &none, &src, "mean")?), of(&x));
    let number = Tensor::scalar(2.0)?.scatter_reduce(0, &i(&[0], &[]), &Tensor::scalar(5.0)?, "mean")?;
    assert_eq!((number.shape(), of(&number)), (&[][..], vec![3.5]));
    let one = Tensor::from_vec(vec![1i64], [1])?;
    let y = x.scatter_reduce(0, &one.expand(3)?, &t(&[2.0], &[1]).expand(3)?, "prod")?;
    assert_eq!(of(&y), [0.0, 8.0, 2.0, 3.0]);
    Ok(())
}

#[test]
fn parts_of_a_copy_are_replaced() -> Result<()> {
    let x = Tensor::zeros_with([3, 4], Some(DType::F64), None)?;
    let y = x.select_scatter(&t(&[1., 2., 3., 4.], &[4]), 0, -1)?;
    assert_eq!(of(&y), [0., 0., 0., 0., 0., 0., 0., 0., 1., 2., 3., 4.]);
    assert_eq!(x.t()?.select_scatter(&t(&[1.; 4], &[4]), 1, 0)?.strides(), [1, 4]);
    let y = x.slice_scatter(&range(&[3, 2]), 1, Some(1), None, 2)?;
    assert_eq!(of(&y), [0., 0., 0., 1., 0., 2., 0., 3., 0., 4., 0., 5.]);
    let y = x.diagonal_scatter(&t(&[7., 8.], &[2]), -1, 0, 1)?;
    assert_eq!(of(&y), [0., 0., 0., 0., 7., 0., 0., 0., 0., 8., 0., 0.]);
    // Sources convert, but are not stretched.
    assert_eq!(of(&x.slice_scatter(&i(&[1; 12], &[3, 4]), 0, None, None, 1)?), [1.0; 12]);
    refused(Kind::Runtime, "must be equal", x.select_scatter(&t(&[1.; 3], &[3]), 0, 0));
    refused(Kind::Runtime, "must be equal", x.select_scatter(&t(&[1.; 4], &[1, 4]), 0, 0));
    refused(Kind::Index, "", x.select_scatter(&t(&[1.; 4], &[4]), 0, 3));
    refused(Kind::Runtime, "must be equal", x.diagonal_scatter(&t(&[1.; 2], &[2]), 0, 0, 1));
    refused(Kind::Value, "", x.slice_scatter(&range(&[3, 4]), 0, None, None, 0));
    assert_eq!((x.version(), of(&x)), (0, vec![0.0; 12]));
    Ok(())
}

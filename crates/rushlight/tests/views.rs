//! Views as torch makes them: shape, strides and offset of each, and what is refused.

use rushlight::{DType, Kind, Result, Tensor};

fn counted(shape: &[usize]) -> Tensor {
    let n = shape.iter().product::<usize>();
    Tensor::from_vec((0..n as i64).collect(), shape).unwrap()
}

fn kind<T>(r: Result<T>) -> Kind {
    match r {
        Ok(_) => panic!("this must be refused"),
        Err(e) => e.kind(),
    }
}

type Row<'a> = (&'a str, Result<Tensor>, &'a [usize], &'a [isize], usize);

#[test]
fn shapes_strides_and_offsets() -> Result<()> {
    let x = counted(&[2, 3, 4]);
    let dot = Tensor::scalar(7)?;
    let rows: Vec<Row<'_>> = vec![
        ("select", x.select(1, -1), &[2, 4], &[12, 1], 8),
        ("slice", x.slice(1, Some(2), Some(1), 1), &[2, 0, 4], &[12, 4, 1], 8),
        ("slice with a step", x.slice(2, None, None, 3), &[2, 3, 2], &[12, 4, 3], 0),
        ("narrow at the end", x.narrow(0, 2, 0), &[0, 3, 4], &[12, 4, 1], 24),
        ("narrow from the end", x.narrow(1, -2, 2), &[2, 2, 4], &[12, 4, 1], 4),
        ("unsqueeze", x.unsqueeze(1), &[2, 1, 3, 4], &[12, 12, 4, 1], 0),
        ("unsqueeze at the end", x.unsqueeze(-1), &[2, 3, 4, 1], &[12, 4, 1, 1], 0),
        ("squeeze of nothing", x.squeeze(0), &[2, 3, 4], &[12, 4, 1], 0),
        ("squeeze of a number", dot.squeeze(-1), &[], &[], 0),
        ("transpose", x.transpose(0, -1), &[4, 3, 2], &[1, 4, 12], 0),
        ("transpose of a number", dot.transpose(0, -1), &[], &[], 0),
        ("t of a vector", counted(&[3]).t(), &[3], &[1], 0),
        ("T", x.T(), &[4, 3, 2], &[1, 4, 12], 0),
        ("mT", x.mT(), &[2, 4, 3], &[12, 1, 4], 0),
        ("permute", x.permute([2, 0, -2]), &[4, 2, 3], &[1, 12, 4], 0),
        ("movedim", x.movedim(0, -1), &[3, 4, 2], &[4, 1, 12], 0),
        ("expand", counted(&[3, 1]).expand([2, 3, 4]), &[2, 3, 4], &[0, 1, 0], 0),
        ("expand in front", counted(&[3]).expand([1, 3]), &[1, 3], &[3, 1], 0),
        ("expand to nothing", counted(&[1]).expand([0]), &[0], &[0], 0),
        ("expand of a number", dot.expand([1]), &[1], &[0], 0),
        ("diagonal", counted(&[3, 4]).diagonal(1, 0, 1), &[3], &[5], 1),
        ("diagonal below", x.diagonal(-1, 1, 2), &[2, 2], &[12, 5], 4),
        ("diagonal outside", counted(&[2, 2]).diagonal(5, 0, 1), &[0], &[3], 0),
        ("unfold", counted(&[7]).unfold(0, 3, 2), &[3, 3], &[2, 1], 0),
        ("unfold of a number", dot.unfold(0, 1, 1), &[1], &[1], 0),
        ("unflatten", x.unflatten(2, [2, -1]), &[2, 3, 2, 2], &[12, 4, 2, 1], 0),
        ("view", x.view([6, -1]), &[6, 4], &[4, 1], 0),
        ("as_strided at its own offset", x.select(0, 1)?.as_strided([2], [3], None), &[2], &[3], 12),
        ("as_strided elsewhere", x.select(0, 1)?.as_strided([2], [3], Some(1)), &[2], &[3], 1),
        ("as_strided of nothing", x.as_strided([0], [1], Some(1000)), &[0], &[1], 1000),
        ("broadcast_to", counted(&[1, 4]).broadcast_to([3, 4]), &[3, 4], &[0, 1], 0),
        ("atleast_3d of a matrix", counted(&[2, 3]).atleast_3d(), &[2, 3, 1], &[3, 1, 1], 0),
        ("atleast_3d of a vector", counted(&[3]).atleast_3d(), &[1, 3, 1], &[3, 1, 1], 0),
        ("larger elements", counted(&[2, 4]).view_dtype(DType::C128), &[2, 2], &[2, 1], 0),
        ("smaller elements", counted(&[2, 4]).view_dtype(DType::I16), &[2, 16], &[16, 1], 0),
    ];
    for (name, view, shape, strides, offset) in rows {
        let v = view.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!((v.shape(), v.strides(), v.storage_offset()), (shape, strides, offset), "{name}");
        // Read as another dtype it is an alias, which autograd does not follow.
        assert_eq!(v.base().is_some(), !name.ends_with("er elements"), "{name}");
    }
    Ok(())
}

#[test]
fn pieces() -> Result<()> {
    let sizes = |parts: Vec<Tensor>| parts.iter().map(|p| p.shape()[0]).collect::<Vec<usize>>();
    let x = counted(&[7]);
    assert_eq!(sizes(x.split(3, 0)?), [3, 3, 1]);
    assert_eq!(sizes(x.split_with_sizes([2, 0, 5], 0)?), [2, 0, 5]);
    assert_eq!(sizes(counted(&[4]).chunk(3, 0)?), [2, 2]);
    assert_eq!(sizes(counted(&[0]).chunk(4, 0)?), [0, 0, 0, 0]);
    assert_eq!(sizes(counted(&[0]).split(3, 0)?), [0]);
    assert_eq!(sizes(x.tensor_split(3, 0)?), [3, 2, 2]);
    assert_eq!(sizes(counted(&[2]).tensor_split(3, 0)?), [1, 1, 0]);
    assert_eq!(sizes(counted(&[4]).tensor_split_at([2, 1], 0)?), [2, 0, 3]);
    assert_eq!(sizes(x.hsplit(7)?), [1; 7]);
    assert_eq!(x.split(3, 0)?[2].storage_offset(), 6);
    let rows = counted(&[2, 3]).unbind(-1)?;
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[1].to_vec::<i64>()?, [1, 4]);
    assert!(counted(&[0, 3]).unbind(0)?.is_empty());
    assert_eq!(counted(&[2, 3, 4]).dsplit_at([1],)?[1].shape(), [2, 3, 3]);
    assert_eq!(counted(&[4, 3]).vsplit(2)?[1].to_vec::<i64>()?, [6, 7, 8, 9, 10, 11]);
    Ok(())
}

#[test]
fn what_is_refused() -> Result<()> {
    use Kind::{Index, Runtime, Value};
    let x = counted(&[2, 3]);
    let dot = Tensor::scalar(1)?;
    let rows: Vec<(&str, Result<()>, Kind)> = vec![
        ("select past the end", x.select(0, 2).map(drop), Index),
        ("select of a number", dot.select(0, 0).map(drop), Index),
        ("slice backwards", x.slice(0, None, None, -1).map(drop), Value),
        ("slice of a number", dot.slice(0, None, None, 1).map(drop), Index),
        ("narrow past the end", x.narrow(0, 1, 2).map(drop), Runtime),
        ("narrow from past the end", x.narrow(0, 3, 0).map(drop), Index),
        ("narrow of a number", dot.narrow(0, 0, 1).map(drop), Runtime),
        ("unsqueeze far out", x.unsqueeze(3).map(drop), Index),
        ("squeeze twice", x.squeeze([0, 0]).map(drop), Runtime),
        ("squeeze far out", x.squeeze(2).map(drop), Index),
        ("transpose far out", x.transpose(0, 2).map(drop), Index),
        ("t of rank 3", x.unsqueeze(0)?.t().map(drop), Runtime),
        ("mT of a vector", counted(&[3]).mT().map(drop), Runtime),
        ("permute too few", x.permute(0).map(drop), Runtime),
        ("permute twice", x.permute([0, 0]).map(drop), Runtime),
        ("permute far out", x.permute([0, 2]).map(drop), Index),
        ("permute of no dims", x.permute(()).map(drop), Kind::Type),
        ("movedim twice", x.movedim([0, 0], [0, 1]).map(drop), Runtime),
        ("expand to fewer dims", x.expand([3]).map(drop), Runtime),
        ("expand of a size", x.expand([4, 3]).map(drop), Runtime),
        ("expand of a new -1", x.expand([-1, 2, 3]).map(drop), Runtime),
        ("expand from nothing", counted(&[0]).expand([1]).map(drop), Runtime),
        ("diagonal of one dim", x.diagonal(0, 1, 1).map(drop), Runtime),
        ("diagonal of a vector", counted(&[3]).diagonal(0, 0, 1).map(drop), Index),
        ("unfold too large", x.unfold(0, 3, 1).map(drop), Runtime),
        ("unfold without step", x.unfold(0, 1, 0).map(drop), Runtime),
        ("view of another size", x.view([4]).map(drop), Runtime),
        ("view of two -1", x.view([-1, -1]).map(drop), Runtime),
        ("view of -1 and 0", counted(&[0]).view([-1, 0]).map(drop), Runtime),
        ("unflatten to another size", x.unflatten(1, [2, 2]).map(drop), Runtime),
        ("as_strided past the storage", x.as_strided([7], [1], None).map(drop), Runtime),
        ("as_strided backwards", x.as_strided([2], [-1], Some(3)).map(drop), Runtime),
        ("as_strided before the storage", x.as_strided([1], [1], Some(-1)).map(drop), Runtime),
        ("as_strided far out", x.as_strided([2], [1], Some(i64::MAX)).map(drop), Runtime),
        ("split by a negative", x.split(-1, 0).map(drop), Runtime),
        ("split by nothing", x.split(0, 0).map(drop), Runtime),
        ("split of a number", dot.split(1, 0).map(drop), Runtime),
        ("split to another sum", x.split_with_sizes([1], 0).map(drop), Runtime),
        ("chunk by nothing", x.chunk(0, 0).map(drop), Runtime),
        ("tensor_split by nothing", x.tensor_split(0, 0).map(drop), Runtime),
        ("hsplit unevenly", x.hsplit(2).map(drop), Runtime),
        ("vsplit of a vector", counted(&[4]).vsplit(2).map(drop), Runtime),
        ("unbind of a number", dot.unbind(0).map(drop), Index),
        ("larger elements of a short row", counted(&[2, 3]).view_dtype(DType::C128).map(drop), Runtime),
        (
            "larger elements of no row",
            counted(&[2, 0]).to_dtype(DType::I32)?.view_dtype(DType::I64).map(drop),
            Runtime,
        ),
        ("complex numbers of triples", x.to_dtype(DType::F32)?.view_as_complex().map(drop), Runtime),
        ("flatten backwards", x.flatten(1, 0).map(drop), Runtime),
        ("broadcasting 2 and 3", Tensor::broadcast_tensors(&[&x, &counted(&[2])]).map(drop), Runtime),
    ];
    for (name, result, expected) in rows {
        match result {
            Ok(()) => panic!("{name} must be refused"),
            Err(e) => assert_eq!(e.kind(), expected, "{name}: {e}"),
        }
    }
    assert_eq!(kind(x.reshape([5])), Runtime);
    Ok(())
}

/// The backward of `unbind` and `split` joins all parts at once.
#[test]
fn many_parts_are_one_step_of_the_graph() -> Result<()> {
    let w = Tensor::from_vec(vec![1f64; 3000], [3000])?.requires_grad_(true)?;
    let parts = w.unbind(0)?;
    let (first, last) = (parts[0].grad_fn()?, parts[2999].grad_fn()?);
    assert!(first.zip(last).is_some_and(|(a, b)| std::sync::Arc::ptr_eq(&a.node, &b.node)));
    let refs: Vec<&Tensor> = parts.iter().collect();
    Tensor::stack(&refs, 0)?.mul(2.0)?.sum((), false)?.backward()?;
    assert_eq!(w.grad().map(|g| g.to_vec::<f64>()).transpose()?, Some(vec![2.0; 3000]));
    // Parts that no gradient reaches count as zeros.
    w.set_grad(None)?;
    w.split(1000, 0)?[1].sum((), false)?.backward()?;
    let g = w.grad().map(|g| g.to_vec::<f64>()).transpose()?.unwrap_or_default();
    assert_eq!((g[999], g[1000], g[1999], g[2000]), (0.0, 1.0, 1.0, 0.0));
    Ok(())
}

#[test]
fn element_wise_results_of_row_major_tensors_have_plain_strides() -> Result<()> {
    // A dimension of size 1 may carry any stride; a fresh result does not inherit it.
    let x = Tensor::arange(0, 6, 1)?.as_strided([1, 3], [99, 1], None)?;
    assert!(x.is_contiguous());
    assert_eq!(x.add(&x)?.strides(), [3, 1]);
    assert_eq!(x.neg()?.strides(), [3, 1]);
    let y = Tensor::arange(0, 8, 1)?.reshape([2, 4])?;
    let part = y.narrow(0, 1, 1)?;
    let sum = part.add(1)?;
    assert_eq!((sum.strides(), sum.storage_offset()), (&[4, 1][..], 0));
    assert_eq!(sum.to_vec::<i64>()?, [5, 6, 7, 8]);
    Ok(())
}

#[test]
fn a_view_keeps_its_root_alive_and_shares_its_version() -> Result<()> {
    let x = Tensor::arange(0, 4, 1)?;
    let view = x.narrow(0, 1, 2)?.reshape([2, 1])?;
    assert!(view.shares_storage(&x) && view.base().is_some_and(|b| b.is(&x)));
    view.add_(1)?;
    assert_eq!((x.version(), view.version()), (1, 1));
    drop(x);
    assert_eq!(view.to_vec::<i64>()?, [2, 3]);
    let apart = view.data();
    apart.view(2)?.add_(1)?;
    assert_eq!((apart.version(), view.version(), apart.narrow(0, 0, 1)?.version()), (1, 1, 1));
    Ok(())
}

//! Indexing: torch's rules for brackets, the ops that pick and place, what they refuse.

use rushlight::{DType, Index, Kind, Result, Tensor, no_grad, trace};

fn ints(list: &[i64]) -> Tensor {
    Tensor::from_slice(list, [list.len()]).unwrap()
}

fn bools(list: &[bool]) -> Tensor {
    Tensor::from_slice(list, [list.len()]).unwrap()
}

/// 0, 1, 2 .. in a shape.
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

#[test]
fn basic_parts_are_views() -> Result<()> {
    let x = counted(&[2, 3, 4]);
    let cases: Vec<(Tensor, &[usize], &[isize], usize)> = vec![
        (x.i(1)?, &[3, 4], &[4, 1], 12),
        (x.i(-1)?, &[3, 4], &[4, 1], 12),
        (x.i((.., Index::Slice { start: Some(2), end: Some(1), step: 1 }))?, &[2, 0, 4], &[12, 4, 1], 8),
        (x.i(5..)?, &[0, 3, 4], &[12, 4, 1], 24),
        (x.i((.., .., Index::step(.., 3)))?, &[2, 3, 2], &[12, 4, 3], 0),
        (x.i((Index::Ellipsis, 1))?, &[2, 3], &[12, 4], 1),
        (x.i((None, 0))?, &[1, 3, 4], &[24, 4, 1], 0),
        (x.i((Index::Ellipsis, None))?, &[2, 3, 4, 1], &[12, 4, 1, 1], 0),
        (x.i((.., ..=-2, 1..=2))?, &[2, 2, 2], &[12, 4, 1], 1),
        (x.i(true)?, &[1, 2, 3, 4], &[24, 12, 4, 1], 0),
        (x.i(false)?, &[0, 2, 3, 4], &[24, 12, 4, 1], 0),
        (x.i((Index::Ellipsis, Index::Ellipsis, 0))?, &[2, 3], &[12, 4], 0),
        (x.i(Tensor::scalar(1i64)?)?, &[3, 4], &[4, 1], 12),
        (x.i(())?, &[2, 3, 4], &[12, 4, 1], 0),
        (x.i(..)?, &[2, 3, 4], &[12, 4, 1], 0),
    ];
    for (k, (v, shape, strides, offset)) in cases.into_iter().enumerate() {
        assert_eq!((v.shape(), v.strides(), v.storage_offset()), (shape, strides, offset), "case {k}");
        assert!(v.base().is_some_and(|b| b.is(&x)), "case {k} is no view");
    }
    Ok(())
}

#[test]
fn negative_steps_walk_backwards() -> Result<()> {
    let x = counted(&[2, 4]);
    let back = |start, end, step| Index::Slice { start, end, step };
    assert_eq!(x.i((.., back(None, None, -1)))?.to_vec::<i64>()?, [3, 2, 1, 0, 7, 6, 5, 4]);
    assert_eq!(x.i((0, back(Some(9), Some(0), -2)))?.to_vec::<i64>()?, [3, 1]);
    assert_eq!(x.i((0, back(Some(1), Some(2), -1)))?.shape(), [0]);
    assert_eq!(x.i((0, back(Some(-9), None, -1)))?.shape(), [0]);
    assert_eq!(x.i((0, back(None, None, isize::MIN)))?.to_vec::<i64>()?, [3]);
    assert_eq!(x.i((back(None, None, -1), ints(&[1, 0])))?.to_vec::<i64>()?, [5, 4, 1, 0]);
    x.set((.., back(None, Some(1), -1)), ints(&[10, 20]))?;
    assert_eq!(x.to_vec::<i64>()?, [0, 1, 20, 10, 4, 5, 20, 10]);
    x.set((back(None, None, -1), ints(&[0])), ints(&[-1, -2]).reshape([2, 1])?)?;
    assert_eq!(x.to_vec::<i64>()?, [-2, 1, 20, 10, -1, 5, 20, 10]);
    x.set(back(None, None, -1), 7)?;
    assert_eq!(x.to_vec::<i64>()?, [7; 8]);
    Ok(())
}

#[test]
fn positions_are_of_any_integer_dtype() -> Result<()> {
    let x = counted(&[5]);
    for dtype in [DType::I8, DType::I16, DType::I32, DType::U16, DType::U32, DType::U64] {
        let at = ints(&[4, 0]).to_dtype(dtype)?;
        assert_eq!(x.i(&at)?.to_vec::<i64>()?, [4, 0], "{dtype}");
        let y = x.copy()?;
        y.set(&at, 9)?;
        assert_eq!(y.to_vec::<i64>()?, [9, 1, 2, 3, 9], "{dtype}");
    }
    Ok(())
}

#[test]
fn integers_beside_tensors_are_selected_first() -> Result<()> {
    let x = counted(&[2, 3, 3]);
    let (a, b) = (ints(&[1, 2]), ints(&[0]));
    assert_eq!(x.i((0, .., &a))?.shape(), [3, 2]);
    assert_eq!(x.i((&b, .., &a))?.shape(), [2, 3]);
    // An ellipsis that covers nothing does not separate; one that covers a dimension does.
    assert_eq!(x.i((.., &a, Index::Ellipsis, &a))?.shape(), [2, 2]);
    assert_eq!(counted(&[2, 3, 4, 3]).i((.., &a, Index::Ellipsis, &a))?.shape(), [2, 2, 4]);
    assert_eq!(x.i((&b, None, &a))?.shape(), [2, 1, 3]);
    assert_eq!(x.i((true, true))?.shape(), [1, 2, 3, 3]);
    assert_eq!(x.i((true, ints(&[0, 1]), 0))?.shape(), [2, 3]);
    assert_eq!(x.i((0, true))?.shape(), [1, 3, 3]);
    Ok(())
}

#[test]
fn masks_stand_for_their_dimensions() -> Result<()> {
    let x = counted(&[2, 3, 2]);
    let wide = Tensor::from_slice(&[true, false, true, false, false, true], [2, 3])?;
    assert_eq!(x.i(&wide)?.to_vec::<i64>()?, [0, 1, 4, 5, 10, 11]);
    assert_eq!(x.i((&wide, 1..))?.to_vec::<i64>()?, [1, 5, 11]);
    assert_eq!(x.i((.., bools(&[true, false, true]), ints(&[1, 0])))?.to_vec::<i64>()?, [1, 4, 7, 10]);
    assert_eq!(x.i((0, bools(&[false; 3])))?.shape(), [0, 2]);
    assert_eq!(kind(x.i(bools(&[true, false, true]))), Kind::Index);
    assert_eq!(kind(x.i((&wide, &wide))), Kind::Index);
    let bytes = Tensor::from_slice(&[1u8, 0], [2])?;
    assert_eq!(x.i(bytes)?.shape(), [1, 3, 2]);
    Ok(())
}

#[test]
fn what_brackets_refuse() -> Result<()> {
    let x = counted(&[2, 3]);
    assert_eq!(kind(x.i(2)), Kind::Index);
    assert_eq!(kind(x.i(-3)), Kind::Index);
    assert_eq!(kind(x.i((0, 0, 0))), Kind::Index);
    assert_eq!(kind(x.i((.., .., ..))), Kind::Index);
    assert_eq!(kind(x.i(Index::step(.., 0))), Kind::Value);
    assert_eq!(kind(x.i(ints(&[2]))), Kind::Index);
    assert_eq!(kind(x.i(ints(&[-3]))), Kind::Index);
    assert_eq!(kind(x.i((ints(&[0, 1]), ints(&[0, 1, 2])))), Kind::Index);
    assert_eq!(kind(x.i(Tensor::from_slice(&[0f32], [1])?)), Kind::Index);
    assert_eq!(kind(x.i(Tensor::from_slice(&[2i16], [1])?)), Kind::Index);
    // 2^64 - 1 is no place, although its bits are those of -1.
    assert_eq!(kind(x.i(Tensor::from_slice(&[u64::MAX], [1])?)), Kind::Index);
    assert_eq!(kind(x.i(Tensor::scalar(u64::MAX)?)), Kind::Index);
    let dot = Tensor::scalar(3i64)?;
    assert_eq!(kind(dot.i(0)), Kind::Index);
    assert_eq!(kind(dot.i(..)), Kind::Index);
    assert_eq!(dot.i(Index::Ellipsis)?.shape(), [] as [usize; 0]);
    assert_eq!(dot.i(None)?.shape(), [1]);
    assert_eq!(dot.i(true)?.shape(), [1]);
    // No positions to check where nothing is read; but a dimension of size 0 has none.
    assert_eq!(counted(&[2, 0]).i(ints(&[5]))?.shape(), [1, 0]);
    assert_eq!(kind(counted(&[3, 0]).i((.., ints(&[0])))), Kind::Index);
    let e = x.i((.., ints(&[7]))).err().ok_or_else(|| rushlight::err!(Runtime, "test", "passed"))?;
    assert!(e.text().contains('7') && e.text().contains('3'), "{e}");
    Ok(())
}

#[test]
fn advanced_results_own_their_memory_and_are_seen() -> Result<()> {
    let x = counted(&[3, 4]);
    let (y, copies) = trace::copies(|| x.i(ints(&[0, 1, 2])));
    let y = y?;
    assert!(!y.shares_storage(&x) && y.base().is_none());
    assert_eq!((copies.len(), copies[0].op, copies[0].bytes), (1, "index", 96));
    assert!(copies[0].location.file().ends_with("indexing.rs"));
    assert!(trace::forbid_copies(|| x.i((.., 1..))).is_ok());
    assert!(trace::forbid_copies(|| x.i(ints(&[0]))).is_err());
    Ok(())
}

/// torch's order of memory: that of an element-wise op on the tensor and the index tensors.
#[test]
fn advanced_results_keep_torchs_order() -> Result<()> {
    let t = counted(&[4, 3]).t()?;
    assert_eq!(t.i((.., ints(&[1, 2])))?.strides(), [2, 1]);
    let turned = counted(&[24]).as_strided([4, 2, 3], [1, 12, 4], None)?;
    assert_eq!(turned.i((.., ints(&[0, 1])))?.strides(), [1, 4, 8]);
    assert_eq!(t.i(ints(&[1, 2]))?.strides(), [4, 1]);
    assert_eq!(counted(&[4, 3]).i((.., ints(&[1, 2])))?.strides(), [2, 1]);
    Ok(())
}

#[test]
fn assignment_broadcasts_and_refuses() -> Result<()> {
    let x = counted(&[2, 3]);
    x.set(.., Tensor::full_ones(&[1, 1, 2, 3])?)?;
    x.set(0, Tensor::full_ones(&[1, 3])?)?;
    x.set((0, 0), Tensor::full_ones(&[1])?)?;
    assert_eq!(kind(x.set(0, Tensor::full_ones(&[2])?)), Kind::Runtime);
    assert_eq!(kind(x.set(0..0, Tensor::full_ones(&[7])?)), Kind::Runtime);
    x.set(bools(&[false, false]), Tensor::full_ones(&[1])?)?;
    assert_eq!(kind(x.set(ints(&[0]), Tensor::from_slice(&[1f32], [1])?)), Kind::Runtime);
    // A number is converted; so is a 0-d tensor under a mask.
    x.set(ints(&[0]), 2.7)?;
    x.set(bools(&[false, true]), Tensor::scalar(3.9)?)?;
    assert_eq!(x.to_vec::<i64>()?, [2, 2, 2, 3, 3, 3]);
    // The last of several values for one place stays, also across kernels' threads.
    let y = counted(&[2]);
    y.set(ints(&[0, 0, 1, 0]), ints(&[5, 6, 7, 8]))?;
    assert_eq!(y.to_vec::<i64>()?, [8, 7]);
    y.index_put_(&[Some(&ints(&[0, 0]))], &ints(&[1, 1]), true)?;
    assert_eq!(y.to_vec::<i64>()?, [10, 7]);
    Ok(())
}

trait Ones {
    fn full_ones(shape: &[usize]) -> Result<Tensor>;
}
impl Ones for Tensor {
    fn full_ones(shape: &[usize]) -> Result<Tensor> {
        Tensor::from_vec(vec![1i64; shape.iter().product()], shape)
    }
}

#[test]
fn a_bad_index_leaves_the_tensor_as_it_was() -> Result<()> {
    let x = counted(&[4]);
    let before = x.version();
    let bad = ints(&[0, 1, 9]);
    let values = ints(&[7, 7, 7]);
    assert_eq!(kind(x.index_put_(&[Some(&bad)], &values, false)), Kind::Index);
    assert_eq!(kind(x.scatter_(0, &bad, &values)), Kind::Runtime);
    assert_eq!(kind(x.scatter_add_(0, &bad, &values)), Kind::Runtime);
    assert_eq!(kind(x.index_add_(0, &bad, &values)), Kind::Index);
    assert_eq!(kind(x.index_copy_(0, &bad, &values)), Kind::Index);
    assert_eq!(kind(x.index_fill_(0, &bad, 7)), Kind::Index);
    assert_eq!(kind(x.put_(&bad, &values, false)), Kind::Index);
    assert_eq!(kind(x.gather(0, &bad)), Kind::Runtime);
    assert_eq!(kind(x.index_select(0, &bad)), Kind::Index);
    assert_eq!(kind(x.take(&bad)), Kind::Index);
    assert_eq!((x.to_vec::<i64>()?, x.version()), (vec![0, 1, 2, 3], before));
    Ok(())
}

#[test]
fn negative_positions_where_torch_takes_them() -> Result<()> {
    let x = counted(&[4]);
    let last = ints(&[-1]);
    assert_eq!(x.i(&last)?.to_vec::<i64>()?, [3]);
    assert_eq!(x.take(&last)?.to_vec::<i64>()?, [3]);
    assert_eq!(x.index_fill(0, &last, 9)?.to_vec::<i64>()?, [0, 1, 2, 9]);
    assert_eq!(x.put(&last, &ints(&[8]), false)?.to_vec::<i64>()?, [0, 1, 2, 8]);
    assert_eq!(kind(x.gather(0, &last)), Kind::Runtime);
    assert_eq!(kind(x.scatter(0, &last, 1)), Kind::Runtime);
    assert_eq!(kind(x.index_select(0, &last)), Kind::Index);
    assert_eq!(kind(x.index_add(0, &last, &last)), Kind::Index);
    assert_eq!(kind(x.index_copy(0, &last, &last)), Kind::Index);
    assert_eq!(kind(x.take_along_dim(&last, Some(0))), Kind::Runtime);
    Ok(())
}

#[test]
fn shapes_and_dtypes_that_are_refused() -> Result<()> {
    let x = counted(&[3, 4]);
    let (i, wide) = (ints(&[0, 1]), Tensor::from_vec(vec![0i64; 10], [2, 5])?);
    assert_eq!(kind(x.gather(0, &i)), Kind::Runtime);
    assert_eq!(kind(x.gather(0, &wide)), Kind::Runtime);
    assert_eq!(x.gather(1, &wide)?.shape(), [2, 5]);
    assert_eq!(x.gather(0, &ints(&[]))?.shape(), [0]);
    assert_eq!(kind(x.gather(2, &wide)), Kind::Index);
    assert_eq!(kind(x.gather(0, &x.to_dtype(DType::F32)?)), Kind::Runtime);
    assert_eq!(kind(x.index_select(0, &wide)), Kind::Index);
    assert_eq!(kind(x.index_select(0, &i.to_dtype(DType::F32)?)), Kind::Runtime);
    assert_eq!(kind(x.index_add_(0, &i, &counted(&[3, 4]))), Kind::Runtime);
    assert_eq!(kind(x.index_add_(0, &i, &counted(&[2, 4]).to_dtype(DType::F32)?)), Kind::Runtime);
    assert_eq!(kind(x.scatter_(0, &wide.narrow(1, 0, 4)?, counted(&[1, 4]))), Kind::Runtime);
    assert_eq!(kind(x.scatter_with_(0, &i, 1, "mean")), Kind::Runtime);
    assert_eq!(kind(x.take(&i.to_dtype(DType::I32)?)), Kind::Runtime);
    assert_eq!(kind(x.put_(&i, &ints(&[1]), false)), Kind::Index);
    assert_eq!(kind(x.masked_fill(&x, 1)), Kind::Runtime);
    assert_eq!(kind(x.masked_fill_(&bools(&[true; 3]), 1)), Kind::Runtime);
    assert_eq!(kind(x.masked_fill_(&x.gt(0)?, ints(&[1]))), Kind::Runtime);
    assert_eq!(kind(x.masked_select(&x)), Kind::Runtime);
    assert_eq!(kind(x.masked_scatter_(&x.ge(0)?, &ints(&[1, 2]))), Kind::Runtime);
    Ok(())
}

#[test]
fn nonzero_is_column_major() -> Result<()> {
    let x = Tensor::from_slice(&[0i64, 3, 0, 4, 5, 0], [2, 3])?;
    let places = x.nonzero()?;
    assert_eq!((places.shape(), places.strides()), (&[3, 2][..], &[1, 3][..]));
    assert_eq!(places.to_vec::<i64>()?, [0, 1, 1, 0, 1, 1]);
    let columns = x.nonzero_numpy()?;
    assert_eq!((columns[1].storage_offset(), columns[1].to_vec::<i64>()?), (3, vec![1, 0, 1]));
    assert!(columns[0].shares_storage(&columns[1]));
    assert_eq!(Tensor::scalar(2.0)?.nonzero()?.shape(), [1, 0]);
    assert_eq!(Tensor::scalar(0)?.nonzero()?.shape(), [0, 0]);
    assert_eq!(Tensor::scalar(2)?.nonzero_numpy()?[0].to_vec::<i64>()?, [0]);
    assert_eq!(counted(&[0, 2]).nonzero()?.shape(), [0, 2]);
    Ok(())
}

#[test]
fn writes_that_meet_what_they_read() -> Result<()> {
    let x = counted(&[4]);
    let two = ints(&[2, 3]);
    assert_eq!(kind(x.index_put_(&[Some(&two)], &x.narrow(0, 1, 2)?, false)), Kind::Runtime);
    assert_eq!(kind(x.index_add_(0, &two, &x.narrow(0, 1, 2)?)), Kind::Runtime);
    assert_eq!(kind(x.index_copy_(0, &two, &x.narrow(0, 1, 2)?)), Kind::Runtime);
    assert_eq!(kind(x.scatter_(0, &two, x.narrow(0, 1, 2)?)), Kind::Runtime);
    let wide = ints(&[1]).expand([3])?;
    assert_eq!(kind(wide.scatter_(0, &ints(&[0]), 1)), Kind::Runtime);
    assert_eq!(kind(wide.index_add_(0, &ints(&[0]), &ints(&[1]))), Kind::Runtime);
    assert_eq!(kind(wide.put_(&ints(&[0]), &ints(&[1]), false)), Kind::Runtime);
    // One value for all is the same whatever the order.
    wide.masked_fill_(&bools(&[true; 3]), 4)?;
    wide.index_fill_(0, &ints(&[0]), 5)?;
    wide.set(ints(&[0]), 6)?;
    assert_eq!(wide.to_vec::<i64>()?, [6, 6, 6]);
    // The positions may be the tensor that is written.
    let p = ints(&[1, 2, 0]);
    p.index_put_(&[Some(&p)], &ints(&[7, 8, 9]), false)?;
    assert_eq!(p.to_vec::<i64>()?, [9, 7, 8]);
    let m = bools(&[true, false]);
    m.set(&m, false)?;
    assert_eq!(m.to_vec::<bool>()?, [false, false]);
    let f = counted(&[4]);
    f.masked_fill_(&f.gt(1)?, f.i(0)?)?;
    f.masked_scatter_(&f.eq(0)?, &f)?;
    assert_eq!(f.to_vec::<i64>()?, [0, 1, 1, 0]);
    Ok(())
}

/// The positions may reach what a storage has no more of; no kernel may follow them there.
#[test]
fn a_storage_that_shrank_is_refused() -> Result<()> {
    let x = counted(&[4, 1000]);
    x.storage().resize(8 * 1000)?;
    let (i, wide) = (ints(&[3]), Tensor::from_vec(vec![3i64; 1000], [1, 1000])?);
    assert_eq!(kind(x.index_select(0, &i)), Kind::Runtime);
    assert_eq!(kind(x.i(&i)), Kind::Runtime);
    assert_eq!(kind(x.gather(0, &wide)), Kind::Runtime);
    assert_eq!(kind(x.take(&i)), Kind::Runtime);
    assert_eq!(kind(x.set(&i, 1)), Kind::Runtime);
    assert_eq!(kind(x.index_fill_(0, &i, 1)), Kind::Runtime);
    assert_eq!(kind(x.scatter_(0, &wide, 1)), Kind::Runtime);
    assert_eq!(kind(x.put_(&i, &i, false)), Kind::Runtime);
    Ok(())
}

#[test]
fn every_write_counts_once() -> Result<()> {
    let x = counted(&[3]);
    let (i, v) = (ints(&[0]), ints(&[5]));
    let mut expected = x.version();
    let mut bumped = |what: &str, x: &Tensor| {
        expected += 1;
        assert_eq!(x.version(), expected, "{what}");
    };
    x.set(0, 1)?;
    bumped("set", &x);
    x.set(&i, 1)?;
    bumped("set with a tensor", &x);
    x.index_put_(&[Some(&i)], &v, true)?;
    bumped("index_put_", &x);
    x.scatter_(0, &i, 4)?;
    bumped("scatter_", &x);
    x.masked_fill_(&x.gt(100)?, 4)?;
    bumped("masked_fill_", &x);
    x.index_fill_(0, &ints(&[]), 4)?;
    bumped("an empty index_fill_", &x);
    x.put_(&i, &v, false)?;
    bumped("put_", &x);
    x.masked_scatter_(&x.gt(0)?, &x)?;
    bumped("masked_scatter_", &x);
    no_grad(|| x.set(.., 3))?;
    bumped("set without grad", &x);
    Ok(())
}

#[test]
fn gradients_reach_every_duplicate() -> Result<()> {
    let x = Tensor::from_vec(vec![1f64, 2., 3.], [3])?.requires_grad_(true)?;
    x.i(ints(&[0, 0, 2]))?.sum((), false)?.backward()?;
    assert_eq!(x.grad().map(|g| g.to_vec::<f64>()).transpose()?, Some(vec![2., 0., 1.]));
    // Of two values for one place both get the gradient, as in torch.
    let v = Tensor::from_vec(vec![5f64, 6.], [2])?.requires_grad_(true)?;
    let y = Tensor::from_vec(vec![0f64; 2], [2])?;
    y.set(ints(&[1, 1]), &v)?;
    y.mul(3.0)?.sum((), false)?.backward()?;
    assert_eq!(v.grad().map(|g| g.to_vec::<f64>()).transpose()?, Some(vec![3., 3.]));
    // A write into a part of a result of the graph.
    let w = Tensor::from_vec(vec![1f64, 2., 3., 4.], [2, 2])?.requires_grad_(true)?;
    let z = w.mul(2.0)?;
    z.set((.., 0), 0)?;
    z.set((0, ints(&[1])), Tensor::from_vec(vec![9f64], [1])?)?;
    z.sum((), false)?.backward()?;
    assert_eq!(w.grad().map(|g| g.to_vec::<f64>()).transpose()?, Some(vec![0., 0., 0., 2.]));
    assert_eq!(kind(w.set(0, 1)), Kind::Runtime);
    Ok(())
}

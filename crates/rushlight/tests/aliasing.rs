//! What gives the same tensor, a view, or a copy: the tables of torch's contract, row by row; and
//! what views mean for versions and autograd.

use rushlight::op::Dims;
use rushlight::{DType, Device, Kind, Result, Tensor, no_grad, trace};

fn counted(shape: &[usize]) -> Tensor {
    let n = shape.iter().product::<usize>();
    Tensor::from_vec((0..n).map(|i| i as f64).collect(), shape).unwrap()
}

fn kind<T>(r: Result<T>) -> Kind {
    match r {
        Ok(_) => panic!("this must be refused"),
        Err(e) => e.kind(),
    }
}

#[test]
fn these_give_the_tensor_itself() -> Result<()> {
    let x = counted(&[2, 3]);
    let row = counted(&[4]);
    assert!(x.contiguous()?.is(&x));
    assert!(x.to_dtype(DType::F64)?.is(&x));
    assert!(x.to_device(Device::CPU)?.is(&x));
    assert!(row.flatten(0, -1)?.is(&row));
    assert!(x.flatten(1, 1)?.is(&x));
    assert!(x.real()?.is(&x));
    assert!(x.requires_grad_(false)?.is(&x));
    assert!(row.atleast_1d()?.is(&row));
    assert!(x.atleast_2d()?.is(&x));
    assert!(counted(&[1, 1, 1]).atleast_3d()?.dim() == 3);
    let joint = Tensor::broadcast_tensors(&[&x, &counted(&[3])])?;
    assert!(joint[0].is(&x) && !joint[1].is(&x));
    assert!(x.mul_(1.0)?.is(&x));
    assert!(x.masked_fill_(&x.lt(0.0)?, 0.0)?.is(&x));
    assert!(x.index_fill_(0, &Tensor::from_slice(&[0i64], [1])?, 1.0)?.is(&x));
    Ok(())
}

#[test]
fn these_give_a_new_view_even_where_nothing_changes() -> Result<()> {
    let x = counted(&[2, 3]);
    let views = [
        x.view([2, 3])?,
        x.view_as(&x)?,
        x.reshape([2, 3])?,
        x.reshape_as(&x)?,
        x.expand([2, 3])?,
        x.expand_as(&x)?,
        x.broadcast_to([2, 3])?,
        x.squeeze(())?,
        x.squeeze(0)?,
        x.permute([0, 1])?,
        x.transpose(0, 0)?,
        x.swapaxes(1, 1)?,
        x.movedim(0, 0)?,
        x.i(rushlight::Index::Ellipsis)?,
        x.i(..)?,
        x.i(())?,
        x.narrow(0, 0, 2)?,
        x.slice(0, None, None, 1)?,
        x.view_dtype(DType::F64)?,
    ];
    for (k, v) in views.iter().enumerate() {
        assert!(!v.is(&x) && v.base().is_some_and(|b| b.is(&x)), "view {k}");
        assert_eq!((v.layout(), v.data_ptr()), (x.layout(), x.data_ptr()), "view {k}");
    }
    assert!(x.ravel()?.base().is_some_and(|b| b.is(&x)));
    assert!(x.unflatten(1, [3, 1])?.base().is_some());
    // A view of a view is one of the root.
    assert!(views[0].t()?.base().is_some_and(|b| b.is(&x)));
    // These share memory and version, but are no views.
    let d = x.detach()?;
    assert!(d.base().is_none() && d.shares_storage(&x));
    // One write is seen by all, and counted by all.
    views[3].t()?.narrow(0, 0, 1)?.fill_(9.0)?;
    assert_eq!(x.to_vec::<f64>()?, [9., 1., 2., 9., 4., 5.]);
    assert!(views.iter().chain([&d, &x]).all(|v| v.version() == 1));
    assert_eq!(x.data().version(), 0);
    Ok(())
}

#[test]
fn these_are_views_where_strides_allow() -> Result<()> {
    let x = counted(&[2, 3, 4]);
    let t = x.transpose(0, 1)?;
    assert!(x.reshape([6, 4])?.shares_storage(&x));
    assert!(x.flatten(0, 1)?.shares_storage(&x));
    let (copy, seen) = trace::copies(|| t.flatten(0, 1));
    let copy = copy?;
    assert!(!copy.shares_storage(&x) && copy.is_contiguous());
    assert_eq!((seen.len(), seen[0].op, seen[0].bytes), (1, "flatten", 192));
    assert!(seen[0].location.file().ends_with("aliasing.rs"));
    assert!(t.reshape([3, 2, 2, 2])?.shares_storage(&x));
    assert!(kind(t.view([6, 4])) == Kind::Runtime);
    // Half of a row: reshape and flatten keep the view, ravel does not.
    let half = counted(&[6]).slice(0, None, None, 2)?;
    assert!(half.reshape([-1])?.shares_storage(&half) && half.flatten(0, -1)?.is(&half));
    assert_eq!(half.reshape([3, 1])?.strides(), [2, 2]);
    assert!(!half.ravel()?.shares_storage(&half));
    assert!(!t.contiguous()?.shares_storage(&t));
    assert!(trace::forbid_copies(|| t.reshape([6, 4])).is_err());
    Ok(())
}

#[test]
fn these_always_copy() -> Result<()> {
    let x = counted(&[2, 3]);
    let i = Tensor::from_slice(&[0i64, 1], [2])?;
    let copies = [
        x.copy()?,
        x.repeat([1, 1])?,
        x.tile([1])?,
        x.roll(0, 0)?,
        x.flip(Dims::from(&[] as &[isize]))?,
        x.rot90(0, [0, 1])?,
        Tensor::cat(&[&x], 0)?,
        Tensor::stack(&[&x], 0)?,
        Tensor::hstack(&[&x])?,
        x.tril(5)?,
        x.triu(-5)?,
        x.diag(0)?,
        x.pad(0, "constant", 0).or_else(|_| x.pad([0, 0], "constant", 0))?,
        x.pad([0, 0], "reflect", 0)?,
        x.index_select(0, &i)?,
        x.gather(0, &Tensor::from_slice(&[0i64, 0, 0, 1, 1, 1], [2, 3])?)?,
        x.i(&i)?,
        x.masked_fill(&x.lt(0.0)?, 0.0)?,
        x.masked_select(&x.ge(0.0)?)?,
        x.masked_scatter(&x.lt(0.0)?, &x)?,
        x.take(&i)?,
        x.scatter(0, &Tensor::from_slice(&[0i64], [1, 1])?, 1.0)?,
        x.repeat_interleave(1, Some(0))?,
    ];
    for (k, c) in copies.iter().enumerate() {
        assert!(!c.shares_storage(&x), "copy {k}");
    }
    let turned = x.rot90(1, [0, 1])?;
    assert!(turned.base().is_none() && !turned.shares_storage(&x));
    Ok(())
}

#[test]
fn layouts_of_results() -> Result<()> {
    let t = counted(&[3, 4]).t()?;
    assert_eq!(t.flip(0)?.strides(), [1, 4]);
    for (k, c_order) in [
        t.tril(0)?,
        t.repeat([1, 1])?,
        t.masked_fill(&t.lt(0.0)?, 0.0)?,
        t.index_select(0, &Tensor::from_slice(&[0i64, 1, 2, 3], [4])?)?,
        Tensor::cat(&[&t], 0)?,
        t.roll(1, 0)?,
        t.pad([0, 0], "constant", 0)?,
    ]
    .iter()
    .enumerate()
    {
        assert_eq!(c_order.strides(), [3, 1], "result {k}");
    }
    // Channels side by side stay so.
    let images = counted(&[2, 4, 5, 3]).permute([0, 3, 1, 2])?;
    assert_eq!(images.strides(), [60, 1, 15, 3]);
    assert_eq!(Tensor::cat(&[&images, &images], 1)?.strides(), [120, 1, 30, 6]);
    assert_eq!(Tensor::cat(&[&images, &images.contiguous()?], 1)?.strides(), [120, 20, 5, 1]);
    assert_eq!(Tensor::stack(&[&images, &images], 0)?.strides(), [120, 60, 1, 15, 3]);
    assert_eq!(images.roll(1, 2)?.strides(), [60, 1, 15, 3]);
    assert_eq!(images.pad([1, 0], "constant", 0)?.strides(), [72, 1, 18, 3]);
    Ok(())
}

#[test]
fn bytes_read_as_another_dtype() -> Result<()> {
    let x = Tensor::from_vec(vec![1.0f32, -2.0, 0.5, 4.0], [2, 2])?;
    let bits = x.view_dtype(DType::I32)?;
    assert_eq!(bits.to_vec::<i32>()?[0] as u32, 1.0f32.to_bits());
    assert_eq!(x.view_dtype(DType::I64)?.shape(), [2, 1]);
    let bytes = x.view_dtype(DType::U8)?;
    assert_eq!((bytes.shape(), bytes.strides()), (&[2, 8][..], &[8, 1][..]));
    bits.i((0, 0))?.fill_(0)?;
    assert_eq!((x.to_vec::<f32>()?[0], x.version()), (0.0, 1));
    assert_eq!(kind(x.t()?.view_dtype(DType::U8)), Kind::Runtime);
    assert_eq!(kind(Tensor::scalar(1.0f32)?.view_dtype(DType::U8)), Kind::Runtime);
    let z = Tensor::view_as_complex(&x)?;
    assert_eq!((z.dtype(), z.shape()), (DType::C64, &[2][..]));
    assert_eq!((z.imag()?.storage_offset(), z.imag()?.strides()), (1, &[2][..]));
    assert_eq!(z.imag()?.to_vec::<f32>()?, [-2.0, 4.0]);
    assert_eq!(z.real()?.data_ptr(), x.data_ptr());
    assert_eq!(kind(x.imag()), Kind::Type);
    assert_eq!(kind(x.view_as_real()), Kind::Runtime);
    // No gradient goes through the bytes of integers.
    let w = counted(&[2]).requires_grad_(true)?;
    let y = w.mul(2.0)?;
    assert!(!y.view_dtype(DType::I64)?.requires_grad());
    // Complex parts have one.
    let p = counted(&[3, 2]).requires_grad_(true)?;
    let z = p.mul(1.0)?.view_as_complex()?;
    z.imag()?.mul(z.imag()?)?.sum((), false)?.backward()?;
    assert_eq!(p.grad().map(|g| g.to_vec::<f64>()).transpose()?, Some(vec![0., 2., 0., 6., 0., 10.]));
    assert_eq!(kind(z.real()?.mul_(2.0)), Kind::Runtime);
    Ok(())
}

#[test]
fn handles_that_change_their_own_layout() -> Result<()> {
    let mut x = counted(&[2, 3]);
    let ptr = x.data_ptr();
    x.t_()?;
    assert_eq!((x.shape(), x.strides(), x.data_ptr(), x.version()), (&[3, 2][..], &[1, 3][..], ptr, 1));
    assert!(x.base().is_none());
    x.transpose_(0, 1)?.unsqueeze_(0)?.squeeze_(0)?;
    assert_eq!((x.shape(), x.strides(), x.version()), (&[2, 3][..], &[3, 1][..], 4));
    x.as_strided_([2], [2], Some(1))?;
    assert_eq!((x.to_vec::<f64>()?, x.version()), (vec![1., 3.], 5));
    // Refused ones change nothing.
    let mut y = counted(&[1, 2, 3]);
    assert_eq!(kind(y.t_()), Kind::Runtime);
    assert_eq!((y.dim(), y.version()), (3, 0));
    // A leaf that requires grad keeps its layout.
    let mut leaf = counted(&[2, 3]).requires_grad_(true)?;
    assert_eq!(kind(leaf.t_()), Kind::Runtime);
    no_grad(|| leaf.t_().map(drop))?;
    assert!(leaf.requires_grad() && leaf.is_leaf() && leaf.shape() == [3, 2]);
    // A result of the graph keeps its history.
    let w = counted(&[2, 3]).requires_grad_(true)?;
    let mut z = w.mul(2.0)?;
    z.t_()?;
    z.mul(Tensor::from_vec(vec![1.0, 10.0], [2])?)?.sum((), false)?.backward()?;
    assert_eq!(w.grad().map(|g| g.to_vec::<f64>()).transpose()?, Some(vec![2., 2., 2., 20., 20., 20.]));
    // While views of it live, writes through either are seen in the gradient of both.
    let w = counted(&[2, 2]).requires_grad_(true)?;
    let mut z = w.mul(1.0)?;
    let part = z.i(0)?;
    z.t_()?;
    part.mul_(5.0)?;
    z.sum((), false)?.backward()?;
    assert_eq!(w.grad().map(|g| g.to_vec::<f64>()).transpose()?, Some(vec![5., 5., 1., 1.]));
    Ok(())
}

#[test]
fn resizing_and_taking_over_storage() -> Result<()> {
    let mut x = counted(&[2, 3]);
    let other = x.view(6)?;
    x.resize_([2, 3])?;
    assert_eq!(x.version(), 0);
    x.resize_([2, 2])?;
    assert_eq!((x.to_vec::<f64>()?, x.storage().nbytes(), x.version()), (vec![0., 1., 2., 3.], 48, 1));
    x.resize_([3, 4])?;
    assert_eq!((x.to_vec::<f64>()?[5], x.storage().nbytes()), (5.0, 96));
    x.fill_(7.0)?;
    assert_eq!(other.to_vec::<f64>()?, [7.0; 6]);
    assert_eq!(kind(x.resize_([-1])), Kind::Runtime);
    assert_eq!(kind(counted(&[2]).requires_grad_(true)?.resize_([3])), Kind::Runtime);
    x.storage().set_resizable(false);
    assert_eq!(kind(x.resize_([100])), Kind::Runtime);
    x.resize_([1])?;
    assert_eq!(x.shape(), [1]);

    let (mut a, b) = (counted(&[2]), counted(&[3, 2]));
    a.set_(&b.t()?)?;
    assert!(a.shares_storage(&b) && a.base().is_none());
    assert_eq!(a.strides(), [1, 2]);
    a.set_storage_(b.storage(), 1, [2, 2], Some([2, 1].into()))?;
    assert_eq!(a.to_vec::<f64>()?, [1., 2., 3., 4.]);
    assert_eq!(kind(a.set_(&Tensor::scalar(1i64)?)), Kind::Runtime);
    Ok(())
}

#[test]
fn one_of_several_views_is_not_written_in_a_graph() -> Result<()> {
    let w = counted(&[4, 2]).requires_grad_(true)?;
    type Cut = fn(&Tensor) -> Result<Vec<Tensor>>;
    let cuts: [(&str, Cut); 4] = [
        ("split", |y| y.split(2, 0)),
        ("split_with_sizes", |y| y.split_with_sizes([1, 3], 0)),
        ("chunk", |y| y.chunk(2, 0)),
        ("unbind", |y| y.unbind(0)),
    ];
    for (name, cut) in cuts {
        let parts = cut(&w.mul(1.0)?)?;
        let Err(e) = parts[0].mul_(2.0) else { panic!("a part of {name} was written") };
        assert!(e.kind() == Kind::Runtime && e.text().contains(name), "{e}");
        assert_eq!(kind(parts[0].view(-1)?.mul_(2.0)), Kind::Runtime, "a view of a part of {name}");
        no_grad(|| parts[0].mul_(2.0))?;
    }
    let y = w.mul(1.0)?;
    for parts in [y.tensor_split(2, 0)?, y.hsplit(2)?, y.vsplit(2)?] {
        parts[0].mul_(2.0)?;
    }
    // Changing the whole makes the parts unusable.
    let parts = y.unbind(0)?;
    y.mul_(3.0)?;
    assert_eq!(kind(parts[0].sum((), false)), Kind::Runtime);
    // Without a graph they are plain views, unless a graph is brought along.
    let plain = counted(&[4]);
    let parts = plain.split(2, 0)?;
    parts[1].mul_(10.0)?;
    assert_eq!(plain.to_vec::<f64>()?, [0., 1., 20., 30.]);
    assert_eq!(kind(parts[0].mul_(w.i((.., 0))?.narrow(0, 0, 2)?)), Kind::Runtime);
    Ok(())
}

#[test]
fn views_made_without_a_graph() -> Result<()> {
    let w = counted(&[2, 2]).requires_grad_(true)?;
    let y = w.mul(1.0)?;
    let v = no_grad(|| y.view(4))?;
    assert!(v.requires_grad() && v.grad_fn()?.is_none());
    assert_eq!(kind(v.mul_(2.0)), Kind::Runtime);
    assert_eq!(kind(w.view(4)?.mul_(2.0)), Kind::Runtime);
    let u = y.view(4)?;
    no_grad(|| u.mul_(2.0))?;
    assert!(u.grad_fn()?.is_some());
    Ok(())
}

#[test]
fn writes_through_views_reach_the_gradient() -> Result<()> {
    let w = counted(&[3, 3]).requires_grad_(true)?;
    let gradient = |write: &dyn Fn(&Tensor) -> Result<()>| -> Result<Vec<f64>> {
        w.set_grad(None)?;
        let y = w.mul(1.0)?;
        write(&y)?;
        y.sum((), false)?.backward()?;
        w.grad().map_or(Ok(Vec::new()), |g| g.to_vec::<f64>())
    };
    let g = gradient(&|y| y.diagonal(0, 0, 1)?.mul_(5.0).map(drop))?;
    assert_eq!(g, [5., 1., 1., 1., 5., 1., 1., 1., 5.]);
    let g = gradient(&|y| y.slice(0, None, None, 2)?.select(1, 1)?.fill_(0.0).map(drop))?;
    assert_eq!(g, [1., 0., 1., 1., 1., 1., 1., 0., 1.]);
    let g = gradient(&|y| y.as_strided([2], [4], Some(2))?.mul_(3.0).map(drop))?;
    assert_eq!(g, [1., 1., 3., 1., 1., 1., 3., 1., 1.]);
    let g = gradient(&|y| y.unsqueeze(0)?.permute([2, 0, 1])?.narrow(0, 2, 1)?.mul_(2.0).map(drop))?;
    assert_eq!(g, [1., 1., 2., 1., 1., 2., 1., 1., 2.]);
    let g = gradient(&|y| y.masked_fill_(&y.gt(5.0)?, 0.0).map(drop))?;
    assert_eq!(g, [1., 1., 1., 1., 1., 1., 0., 0., 0.]);
    Ok(())
}

#[test]
fn overlapping_windows_collect_their_gradients() -> Result<()> {
    let w = counted(&[5]).requires_grad_(true)?;
    w.unfold(0, 3, 1)?.sum((), false)?.backward()?;
    assert_eq!(w.grad().map(|g| g.to_vec::<f64>()).transpose()?, Some(vec![1., 2., 3., 2., 1.]));
    w.set_grad(None)?;
    w.as_strided([3, 3], [1, 1], None)?.sum((), false)?.backward()?;
    assert_eq!(w.grad().map(|g| g.to_vec::<f64>()).transpose()?, Some(vec![1., 2., 3., 2., 1.]));
    let stretched = w.mul(1.0)?.narrow(0, 0, 1)?.expand([3])?;
    w.set_grad(None)?;
    // Three elements share the first cell and its gradient; the second cell is none of theirs.
    stretched.as_strided([2], [1], None)?.sum((), false)?.backward()?;
    assert_eq!(w.grad().map(|g| g.to_vec::<f64>()).transpose()?, Some(vec![1., 0., 0., 0., 0.]));
    Ok(())
}

#[test]
fn views_of_a_leaf_are_read_anew_after_a_write() -> Result<()> {
    let w = counted(&[4]).requires_grad_(true)?;
    // It reaches past the view it was made from, which as_strided allows.
    let v = w.select(0, 2)?.as_strided([0usize; 0], [0usize; 0], Some(3))?;
    no_grad(|| v.mul_(0.0))?;
    v.backward()?;
    assert_eq!(w.grad().map(|g| g.to_vec::<f64>()).transpose()?, Some(vec![0., 0., 0., 1.]));
    Ok(())
}

#[test]
fn vectors_of_nothing_join_along_any_dimension() -> Result<()> {
    let nothing = Tensor::zeros(0)?.requires_grad_(true)?;
    let joined = Tensor::cat(&[&nothing, &nothing], -4)?;
    assert_eq!(joined.shape(), [0]);
    joined.sum((), false)?.backward()?;
    assert_eq!(nothing.grad().map(|g| g.shape().to_vec()), Some(vec![0]));
    Ok(())
}

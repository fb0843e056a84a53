//! Several tensors into one, and one several times.

use super::view::{each, one, some};
use crate::exec;
use crate::layout::{channels_last_strides, checked_numel, contiguous_strides, existing_dim};
use crate::op::{OperandRef, Sample, Size, Value, result_type, samples};
use crate::{Layout, Result, Shape, Tensor, bail, ensure};
use smallvec::{SmallVec, smallvec};

ops! { JOIN;
    /// The tensors one after another along `dim`; other sizes must agree, dtypes promote. Vectors
    /// without elements may stand among tensors of any shape.
    fn cat as cat | concat | concatenate [out casts] (tensors: Tensors, dim: Int = 0) -> Tensor {
        run: super::cat(tensors, *dim),
        grad: [reads inputs; outputs] |cx| cut(cx),
        samples: cat_samples,
    }
    /// The tensors, all of one shape, along a new dimension `dim`.
    fn stack [out casts] (tensors: Tensors, dim: Int = 0) -> Tensor {
        run: super::stack(tensors, *dim),
        samples: stack_samples,
    }
    /// The tensors side by side: along dimension 1, or 0 for vectors.
    fn hstack [out casts] (tensors: Tensors) -> Tensor {
        run: joined("hstack", tensors, Tensor::atleast_1d, |first| i64::from(first.dim() > 1)),
        samples: list_samples,
    }
    /// The tensors one above the other; vectors count as rows.
    fn vstack as vstack | row_stack [out casts] (tensors: Tensors) -> Tensor {
        run: joined("vstack", tensors, Tensor::atleast_2d, |_| 0),
        samples: list_samples,
    }
    /// The tensors one behind the other, along dimension 2.
    fn dstack [out casts] (tensors: Tensors) -> Tensor {
        run: joined("dstack", tensors, Tensor::atleast_3d, |_| 2),
        samples: list_samples,
    }
    /// The tensors side by side, as columns: vectors and numbers stand upright.
    fn column_stack [out casts] (tensors: Tensors) -> Tensor {
        run: joined("column_stack", tensors, |t| if t.dim() > 1 { Ok(t.clone()) } else { t.reshape([-1, 1]) }, |_| 1),
        samples: list_samples,
    }
    /// A matrix with the tensors (matrices, rows or numbers) along its diagonal, and zeros elsewhere.
    fn block_diag (tensors: Tensors) -> Tensor {
        run: super::block_diag(tensors),
        samples: block_samples,
    }
    /// The tensor `repeats[d]` times along each dimension; more repeats than dimensions add some in front.
    fn repeat (input: Tensor, repeats: Size) -> Tensor {
        run: super::repeat(input, repeats),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(unrepeat(&cx.grad(0)?, &cx.info(0)?.shape, cx.arg::<Size>(1)?)?)]),
        samples: repeat_samples,
    }
    /// As `repeat`; fewer repeats than dimensions count for the last ones.
    fn tile (input: Tensor, dims: Size) -> Tensor {
        run: super::tile(input, dims),
        samples: tile_samples,
    }
    /// Grids of coordinates: tensor k varies along dimension k. Views. `indexing` is "ij", or "xy"
    /// to swap the first two dimensions.
    fn meshgrid (tensors: Tensors, indexing: Text = "ij") -> Vec<Tensor> {
        run: super::meshgrid(tensors, indexing),
        samples: grid_samples,
    }
}

/// The vector of no elements that torch lets pass among any shapes.
fn skipped(t: &Tensor) -> bool {
    t.shape() == [0]
}

fn cat(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
    let Some(first) = tensors.iter().find(|t| !skipped(t)).or(tensors.first()) else {
        bail!(Value, "cat", "takes at least one tensor")
    };
    ensure!(tensors.iter().all(|t| t.dim() > 0), Runtime, "cat", "0-d tensors cannot be joined; use stack");
    // Among nothing but skipped vectors torch does not look at the dimension.
    let d = if skipped(first) { 0 } else { existing_dim("cat", dim as isize, first.dim())? };
    let mut shape: Shape = first.shape().into();
    shape[d] = 0;
    for t in tensors.iter().filter(|t| !skipped(t)) {
        let fits = t.dim() == first.dim() && (0..t.dim()).all(|k| k == d || t.shape()[k] == first.shape()[k]);
        ensure!(
            fits,
            Runtime,
            "cat",
            "shapes {:?} and {:?} differ in more than dimension {d}",
            first.shape(),
            t.shape()
        );
        shape[d] = shape[d].saturating_add(t.shape()[d]);
    }
    let device = exec::common_device("cat", tensors)?;
    let operands: Vec<OperandRef<'_>> = tensors.iter().map(OperandRef::Tensor).collect();
    let dtype = result_type(&operands).map_err(|e| e.in_op("cat"))?;
    checked_numel("cat", &shape)?;
    let strides = match tensors.iter().all(|t| skipped(t) || prefers_channels_last(t.layout())) {
        true => channels_last_strides(&shape).unwrap_or_else(|| contiguous_strides(&shape)),
        false => contiguous_strides(&shape),
    };
    let out = Tensor::alloc(Layout::new(shape, strides, 0)?, dtype, device)?;
    crate::trace::copying("cat", out.nbytes(), out.shape(), "tensors are joined into new memory")?;
    let mut at = 0isize;
    for t in tensors.iter().filter(|t| t.numel() > 0) {
        let n = t.shape()[d] as isize;
        let place = out.layout().narrow(d as isize, at, n)?;
        exec::copy(&Tensor::assemble(out.storage().clone(), place, dtype, None, None), t)?;
        at += n;
    }
    Ok(out)
}

/// Whether new memory for this layout should keep channels side by side: torch's rule for results
/// of ops that keep only that order.
pub(super) fn prefers_channels_last(layout: &Layout) -> bool {
    let (shape, strides) = layout.parts();
    let order: &[usize] = match shape.len() {
        4 => &[1, 3, 2, 0],
        5 => &[1, 4, 3, 2, 0],
        _ => return false,
    };
    if strides[1] == 0 {
        return false;
    }
    let mut least = 0isize;
    for &d in order {
        // A batch of one image of one pixel could be either; it counts as row-major.
        if shape[d] == 0 || strides[d] < least || (d == 0 && least == strides[1]) {
            return false;
        }
        least = strides[d].saturating_mul(shape[d].max(1) as isize);
    }
    true
}

/// Backward of `cat`: each input's part of the gradient, a view.
fn cut(cx: &crate::grad::GradCx<'_>) -> Result<crate::grad::Grads> {
    let (g, dim) = (cx.grad(0)?, *cx.arg::<i64>(1)?);
    // As forward: of nothing but skipped vectors the dimension is not looked at.
    let d = if skipped(&g) { 0 } else { existing_dim("cat", dim as isize, g.dim())? };
    let mut at = 0;
    let mut grads = crate::grad::Grads::new();
    for (k, info) in cx.infos(0).into_iter().flatten().enumerate() {
        if info.shape.as_slice() == [0] {
            grads.push(if cx.needs(k) { Some(info.zeros()?) } else { None });
            continue;
        }
        let n = info.shape[d] as i64;
        let part = cx.needs(k).then(|| g.narrow(d as i64, at, n)?.to_dtype(info.dtype));
        grads.push(part.transpose()?);
        at += n;
    }
    Ok(grads)
}

fn stack(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
    let first = some("stack", tensors)?;
    let d = existing_dim("stack", dim as isize, first.dim() + 1)?;
    for t in tensors {
        ensure!(
            t.shape() == first.shape(),
            Runtime,
            "stack",
            "all tensors must have one shape, not {:?} and {:?}",
            first.shape(),
            t.shape()
        );
    }
    if d < first.dim() {
        // A dimension can always be split, and joining along an old one keeps the memory order.
        let mut shape: Shape = first.shape().into();
        shape.insert(d, tensors.len());
        return Tensor::cat(&tensors.iter().collect::<Vec<_>>(), d as i64)?.view(shape);
    }
    let raised: Result<Vec<Tensor>> = tensors.iter().map(|t| t.unsqueeze(d as i64)).collect();
    Tensor::cat(&raised?.iter().collect::<Vec<_>>(), d as i64)
}

fn joined(
    op: &'static str,
    tensors: &[Tensor],
    raise: fn(&Tensor) -> Result<Tensor>,
    dim: fn(&Tensor) -> i64,
) -> Result<Tensor> {
    some(op, tensors)?;
    let raised: Result<Vec<Tensor>> = tensors.iter().map(raise).collect();
    let raised = raised?;
    Tensor::cat(&raised.iter().collect::<Vec<_>>(), dim(&raised[0])).map_err(|e| e.in_op(op))
}

fn block_diag(tensors: &[Tensor]) -> Result<Tensor> {
    let op = "block_diag";
    if tensors.is_empty() {
        return Tensor::empty([1, 0]);
    }
    let operands: Vec<OperandRef<'_>> = tensors.iter().map(OperandRef::Tensor).collect();
    let dtype = result_type(&operands).map_err(|e| e.in_op(op))?;
    let mut blocks: Vec<Tensor> = Vec::with_capacity(tensors.len());
    let mut width = 0usize;
    for t in tensors {
        ensure!(t.dim() <= 2, Runtime, op, "takes matrices, rows and numbers, not shape {:?}", t.shape());
        let block = t.to_dtype(dtype)?.atleast_2d()?;
        width = width.saturating_add(block.shape()[1]);
        blocks.push(block);
    }
    // Rows of zeros with one block in each: joining them is the gradient's way back, too.
    let (mut left, mut rows) = (0usize, Vec::with_capacity(blocks.len()));
    for block in &blocks {
        let right = width - left - block.shape()[1];
        rows.push(block.constant_pad_nd([left, right], 0)?);
        left += block.shape()[1];
    }
    Tensor::cat(&rows.iter().collect::<Vec<_>>(), 0).map_err(|e| e.in_op(op))
}

/// Shape of the tensor with an axis of 1 before each own, and of the same repeated.
fn interleaved(shape: &[usize], repeats: &[usize]) -> Result<(Shape, Shape)> {
    let lead = repeats.len() - shape.len();
    let (mut once, mut all) = (Shape::new(), Shape::new());
    for (k, n) in repeats.iter().enumerate() {
        let own = if k < lead { 1 } else { shape[k - lead] };
        once.extend([1, own]);
        all.extend([*n, own]);
    }
    checked_numel("repeat", &all)?;
    Ok((once, all))
}

fn repeat(x: &Tensor, repeats: &Size) -> Result<Tensor> {
    let repeats = repeats.checked("repeat")?;
    ensure!(
        repeats.len() >= x.dim(),
        Runtime,
        "repeat",
        "repeats {repeats:?} must name every dimension of shape {:?}; tile names the last ones",
        x.shape()
    );
    let (once, all) = interleaved(x.shape(), &repeats)?;
    let x = x.detach()?;
    // Axes of size 1 are always a view.
    let wide = x.view(once)?.expand(&all)?;
    let copy =
        exec::copy_as("repeat", &wide, Layout::contiguous(all.clone())?, x.dtype(), "elements are repeated")?;
    let shape: Shape = all.chunks(2).map(|pair| pair[0] * pair[1]).collect();
    Ok(Tensor::assemble(copy.storage().clone(), Layout::contiguous(shape)?, x.dtype(), None, None))
}

fn unrepeat(g: &Tensor, shape: &[usize], repeats: &Size) -> Result<Tensor> {
    let repeats = repeats.checked("repeat")?;
    let (_, all) = interleaved(shape, &repeats)?;
    if all.is_empty() {
        return Ok(g.clone());
    }
    let copies: Vec<usize> = (0..repeats.len()).map(|k| 2 * k).collect();
    g.reshape(all)?.sum(copies, false)?.reshape(shape)
}

fn tile(x: &Tensor, dims: &Size) -> Result<Tensor> {
    let mut repeats: SmallVec<[isize; 6]> = smallvec![1; x.dim().saturating_sub(dims.0.len())];
    repeats.extend_from_slice(&dims.0);
    x.repeat(Size(repeats))
}

fn meshgrid(tensors: &[Tensor], indexing: &str) -> Result<Vec<Tensor>> {
    let first = some("meshgrid", tensors)?;
    ensure!(
        matches!(indexing, "ij" | "xy"),
        Runtime,
        "meshgrid",
        "indexing is \"ij\" or \"xy\", not {indexing:?}"
    );
    let swap = indexing == "xy" && tensors.len() > 1;
    let mut order: Vec<usize> = (0..tensors.len()).collect();
    if swap {
        order.swap(0, 1);
    }
    for t in tensors {
        ensure!(
            t.dim() <= 1 && t.dtype() == first.dtype(),
            Runtime,
            "meshgrid",
            "takes vectors of one dtype, not shape {:?} of {}",
            t.shape(),
            t.dtype()
        );
    }
    let shape: Shape = order.iter().map(|k| tensors[*k].numel()).collect();
    tensors
        .iter()
        .enumerate()
        .map(|(k, t)| {
            let mut own: Shape = smallvec![1; tensors.len()];
            own[order[k]] = t.numel();
            t.view(own)?.expand(&shape)
        })
        .collect()
}

fn lists(shapes: &[&[&[usize]]]) -> Vec<Vec<Tensor>> {
    let list = |l: &&[&[usize]]| {
        l.iter().enumerate().map(|(k, s)| samples::values(s, k)).collect::<Result<Vec<Tensor>>>().ok()
    };
    shapes.iter().filter_map(list).collect()
}

fn with_dims(shapes: &[&[&[usize]]], dims: &[i64]) -> Vec<Sample> {
    let make = |(tensors, d): (Vec<Tensor>, &i64)| Sample {
        args: smallvec![Value::Tensors(tensors), Value::Int(*d)],
        grad: true,
    };
    lists(shapes).into_iter().zip(dims).map(make).collect()
}

fn cat_samples() -> Vec<Sample> {
    with_dims(
        &[
            &[&[2, 3], &[1, 3]],
            &[&[2, 3], &[2, 1], &[2, 0]],
            &[&[0], &[2, 2]],
            &[&[3]],
            &[&[2, 1, 2], &[2, 4, 2]],
        ],
        &[0, -1, 0, 0, 1],
    )
}

fn stack_samples() -> Vec<Sample> {
    with_dims(&[&[&[2, 3], &[2, 3]], &[&[3], &[3], &[3]], &[&[], &[]], &[&[0, 2]]], &[0, -1, 0, 1])
}

fn list_samples() -> Vec<Sample> {
    lists(&[&[&[3], &[3]], &[&[2, 3], &[2, 3]], &[&[], &[]]])
        .into_iter()
        .map(|l| Sample { args: smallvec![Value::Tensors(l)], grad: true })
        .collect()
}

fn block_samples() -> Vec<Sample> {
    lists(&[&[&[2, 3], &[], &[2]], &[&[0, 2], &[1, 1]], &[&[3, 1]]])
        .into_iter()
        .map(|l| Sample { args: smallvec![Value::Tensors(l)], grad: true })
        .collect()
}

fn grid_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for indexing in ["ij", "xy"] {
        all.extend(lists(&[&[&[2], &[3]], &[&[2], &[], &[4]]]).into_iter().map(|l| Sample {
            args: smallvec![Value::Tensors(l), Value::Text(indexing.into())],
            grad: true,
        }));
    }
    all
}

fn repeat_samples() -> Vec<Sample> {
    each([
        (&[2, 3], Value::Size([2, 2].into())),
        (&[2], Value::Size([3, 1, 2].into())),
        (&[2, 3], Value::Size([1, 0].into())),
        (&[], Value::Size([2].into())),
        (&[], Value::Size(().into())),
    ])
}

fn tile_samples() -> Vec<Sample> {
    [(&[2, 3][..], Size::from([2])), (&[2], [2, 2].into())]
        .into_iter()
        .filter_map(|(s, n)| one(s, [Value::Size(n)]))
        .collect()
}

//! From tensors to a backend: one lock plan, one call. Nothing here knows about autograd.

use crate::backend::{Backend, Map, backend};
use crate::layout::{Layout, Overlap, exact_overlap, pair_overlap};
use crate::mem::{Place, Storage, with_fresh, with_plan};
use crate::program::{Program, Sort, trace};
use crate::{CType, DType, Device, Number, Result, Tensor, bail, ensure, err};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The program that hands its input on.
pub(crate) static COPY: LazyLock<Program> = LazyLock::new(|| fixed(trace(&[Sort::Num], 0, |x| vec![x[0]])));
static COPY_TRUTH: LazyLock<Program> = LazyLock::new(|| fixed(trace(&[Sort::Truth], 0, |x| vec![x[0]])));
static FILL: LazyLock<Program> = LazyLock::new(|| fixed(trace(&[], 1, |x| vec![x[0]])));

/// A program of this crate's own; its construction cannot fail, and tests build every one.
pub(crate) fn fixed(program: Result<Program>) -> Program {
    match program {
        Ok(p) => p,
        Err(e) => unreachable!("a built-in formula does not compile: {e}"),
    }
}

/// The device all operands are on.
///
/// # Errors
/// `Runtime` naming both when two differ.
pub(crate) fn common_device<'a>(
    op: &'static str,
    tensors: impl IntoIterator<Item = &'a Tensor>,
) -> Result<Device> {
    let mut device: Option<Device> = None;
    for t in tensors {
        match device {
            Some(d) if d != t.device() => bail!(
                Runtime,
                op,
                "tensors are on different devices, {d} and {}; move one with to_device",
                t.device()
            ),
            _ => device = Some(t.device()),
        }
    }
    Ok(device.unwrap_or(Device::CPU))
}

/// The last check before a backend, which would read any other memory as its own.
fn one_device<'a>(
    op: &'static str,
    device: Device,
    storages: impl IntoIterator<Item = &'a Storage>,
) -> Result<()> {
    match storages.into_iter().find(|s| s.device() != device) {
        Some(s) => bail!(
            Runtime,
            op,
            "tensors are on different devices, {device} and {}; move one with to_device",
            s.device()
        ),
        None => Ok(()),
    }
}

/// Runs a program: operands are broadcast to the outputs' shape. Outputs must have one shape.
pub(crate) fn map(
    op: &'static str,
    program: &Program,
    params: &[Number],
    ctype: CType,
    outs: &[&Tensor],
    ins: &[&Tensor],
) -> Result<()> {
    let Some(first) = outs.first() else { return Ok(()) };
    let device = first.device();
    if device == Device::META || first.numel() == 0 {
        return Ok(());
    }
    one_device(op, device, ins.iter().map(|t| t.storage()))?;
    let shape = first.shape();
    let mut wide: SmallVec<[Layout; 3]> = SmallVec::new();
    for t in ins.iter().filter(|t| t.shape() != shape) {
        wide.push(t.layout().broadcast_to(shape).map_err(|e| e.in_op(op))?);
    }
    let mut widened = wide.iter();
    let places: SmallVec<[Place<'_>; 4]> = ins
        .iter()
        .map(|t| match t.shape() == shape {
            true => t.place(),
            false => Place { layout: widened.next().unwrap_or(t.layout()), ..t.place() },
        })
        .collect();
    let targets: SmallVec<[Place<'_>; 2]> = outs.iter().map(|t| t.place()).collect();
    map_places(op, (program, params, ctype), &targets, &places)
}

/// Runs a program on operands of one shape.
pub(crate) fn map_places(
    op: &'static str,
    (program, params, ctype): (&Program, &[Number], CType),
    outs: &[Place<'_>],
    ins: &[Place<'_>],
) -> Result<()> {
    let device = outs.first().map_or(Device::META, |out| out.storage.device());
    if device == Device::META || outs.iter().any(|out| out.layout.is_empty()) {
        return Ok(());
    }
    let backend = backend(device)?;
    with_plan(op, outs, ins, |outs, ins| backend.map(&Map { program, params, ctype, outs, ins }))
}

/// Runs a program into fresh memory, laid out like this row-major layout; operands have its shape.
#[inline]
pub(crate) fn map_fresh(
    op: &'static str,
    call: (&Program, &[Number], CType),
    (shape, dtype, device): (&Layout, DType, Device),
    ins: &[Place<'_>],
) -> Result<Tensor> {
    let layout = shape.plain_at_origin();
    let numel = layout.numel();
    let Some(bytes) = numel.checked_mul(dtype.size()) else {
        bail!(Runtime, op, "shape {:?} of {dtype} takes more bytes than there are", layout.shape())
    };
    let backend = backend(device)?;
    let mut storage = backend.alloc(bytes, device)?;
    if numel > 0 && device != Device::META {
        let (program, params, ctype) = call;
        with_fresh(op, (&mut storage, &layout, dtype), ins, |outs, ins| {
            backend.map(&Map { program, params, ctype, outs, ins })
        })?;
    }
    Ok(Tensor::assemble(storage, layout, dtype, None, None))
}

/// Runs any backend call on locked operands; does nothing on the meta device.
pub(crate) fn call(
    op: &'static str,
    outs: &[&Tensor],
    ins: &[Place<'_>],
    f: impl FnOnce(&dyn Backend, &[crate::mem::SpanMut<'_>], &[crate::mem::Span<'_>]) -> Result<()>,
) -> Result<()> {
    let Some(first) = outs.first() else { return Ok(()) };
    if first.device() == Device::META {
        return Ok(());
    }
    one_device(op, first.device(), ins.iter().map(|p| p.storage))?;
    let backend = backend(first.device())?;
    let targets: SmallVec<[Place<'_>; 2]> = outs.iter().map(|t| t.place()).collect();
    with_plan(op, &targets, ins, |outs, ins| f(backend, outs, ins))
}

/// `dst = src`, converted to `dst`'s dtype and broadcast to its shape. No overlap check, no trace.
pub(crate) fn copy(dst: &Tensor, src: &Tensor) -> Result<()> {
    if dst.device() != src.device() && dst.device() != Device::META {
        let moved = to_device(src, dst.device(), "it is written to a tensor on another device")?;
        return copy(dst, &moved);
    }
    let (program, ctype) = match src.dtype() {
        DType::Bool => (&*COPY_TRUTH, CType::Bool),
        dtype => (&*COPY, dtype.ctype()),
    };
    map("copy_", program, &[], ctype, &[dst], &[src])
}

/// Every element becomes `value`, converted as a store would.
pub(crate) fn fill(dst: &Tensor, value: Number) -> Result<()> {
    map("fill_", &FILL, &[value.cast(dst.dtype())], dst.dtype().ctype(), &[dst], &[])
}

/// A copy of `src`'s elements with the given layout and dtype; reported to the tracer as `op`.
pub(crate) fn copy_as(
    op: &'static str,
    src: &Tensor,
    layout: Layout,
    dtype: DType,
    reason: &'static str,
) -> Result<Tensor> {
    let bytes = crate::layout::checked_bytes(op, layout.shape(), dtype.size())?;
    crate::trace::copying(op, bytes, layout.shape(), reason)?;
    let out = Tensor::alloc(layout, dtype, src.device())?;
    copy(&out, src)?;
    Ok(out)
}

/// The same elements on another device; a copy, except from and to one and the same.
pub(crate) fn to_device(src: &Tensor, device: Device, reason: &'static str) -> Result<Tensor> {
    crate::trace::copying("to_device", src.nbytes(), src.shape(), reason)?;
    backend(device)?;
    let out = Tensor::alloc(src.like_layout()?, src.dtype(), device)?;
    if device == Device::META {
        return Ok(out);
    }
    ensure!(
        src.device().is_host() && device.is_host(),
        Runtime,
        "to_device",
        "no transfer from {} to {device} is known",
        src.device()
    );
    // Host memory on both sides: lay the elements out on the source's own device, then move bytes.
    let dense = Tensor::alloc(out.layout().clone(), src.dtype(), src.device())?;
    copy(&dense, src)?;
    move_bytes(dense.storage(), out.storage())?;
    Ok(out)
}

fn move_bytes(from: &Storage, to: &Storage) -> Result<()> {
    let bytes = crate::mem::with_bytes("to_device", from, <[u8]>::to_vec)?;
    crate::mem::with_bytes_mut("to_device", to, |b| b.copy_from_slice(&bytes))
}

/// `input` as it may be read while `out` is written: itself, or a copy of it where the two share
/// cells in a way that torch does not judge, and leaves to the order of its loop (contract 1h).
///
/// # Errors
/// `Runtime` for what torch refuses: `out` covers a cell twice by expansion, or both are dense and
/// meet in part.
pub(crate) fn apart<'a>(op: &'static str, out: &Tensor, input: &'a Tensor) -> Result<Cow<'a, Tensor>> {
    check_self_overlap(op, out)?;
    match meeting(out, input) {
        Overlap::No | Overlap::Full => Ok(Cow::Borrowed(input)),
        Overlap::Partial => Err(met(op, out, input)),
        Overlap::Recast | Overlap::TooHard => beside(op, input).map(Cow::Owned),
    }
}

/// As [`apart`] for the operands of a formula, where it would be no mistake only by luck to read
/// what is being written: that is refused. `None` when all may be read as they are.
pub(crate) fn all_apart(op: &'static str, out: &Tensor, ins: &[&Tensor]) -> Result<Option<Vec<Tensor>>> {
    check_self_overlap(op, out)?;
    if ins.iter().all(|t| t.is(out) || !t.shares_storage(out)) {
        return Ok(None);
    }
    let read = |t: &&Tensor| match meeting(out, t) {
        Overlap::No | Overlap::Full => Ok((*t).clone()),
        Overlap::Partial | Overlap::TooHard => Err(met(op, out, t)),
        Overlap::Recast => beside(op, t),
    };
    ins.iter().map(read).collect::<Result<_>>().map(Some)
}

/// How two tensors meet; `TooHard` only where they do.
fn meeting(out: &Tensor, input: &Tensor) -> Overlap {
    if input.is(out) {
        return Overlap::Full;
    }
    if !input.shares_storage(out) {
        return Overlap::No;
    }
    let (a, a_size) = (out.layout(), out.element_size());
    let (b, b_size) = (input.layout(), input.element_size());
    match pair_overlap(a, a_size, b, b_size) {
        Overlap::TooHard if exact_overlap(a, a_size, b, b_size) == Some(false) => Overlap::No,
        known => known,
    }
}

fn met(op: &'static str, out: &Tensor, input: &Tensor) -> crate::Error {
    let (a, b) = (out.layout(), input.layout());
    err!(
        Runtime,
        op,
        "the written tensor (shape {:?}, strides {:?}, offset {}) and an input (shape {:?}, strides {:?}, offset {}) share some cells but not all; clone() the input first",
        a.shape(),
        a.strides(),
        a.offset(),
        b.shape(),
        b.strides(),
        b.offset()
    )
}

fn beside(op: &'static str, input: &Tensor) -> Result<Tensor> {
    let reason = "it is read while a tensor that shares its cells is written";
    copy_as(op, &input.detach()?, input.like_layout()?, input.dtype(), reason)
}

/// Refuses to write to an expanded tensor.
pub(crate) fn check_self_overlap(op: &'static str, out: &Tensor) -> Result<()> {
    ensure!(
        out.layout().internal_overlap() != crate::layout::InternalOverlap::Yes,
        Runtime,
        op,
        "several elements of the written tensor (shape {:?}, strides {:?}) are one memory cell; clone() it first",
        out.shape(),
        out.strides()
    );
    Ok(())
}

/// Calls `f(row-major position, element offset from the first element)` for every element.
pub(crate) fn each_offset(layout: &Layout, mut f: impl FnMut(usize, isize)) {
    let (shape, strides) = layout.parts();
    let mut index: SmallVec<[usize; 6]> = SmallVec::from_elem(0, shape.len());
    let mut offset = 0isize;
    for at in 0..layout.numel() {
        f(at, offset);
        for d in (0..shape.len()).rev() {
            index[d] += 1;
            offset += strides[d];
            if index[d] < shape[d] {
                break;
            }
            offset -= strides[d] * shape[d] as isize;
            index[d] = 0;
        }
    }
}

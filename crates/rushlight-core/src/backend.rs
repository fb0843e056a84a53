//! What a device must be able to do: about a dozen methods over spans of locked memory.
//!
//! Views never reach a backend. Shapes are already broadcast, dtypes promoted, overlaps refused and
//! sizes checked when a call arrives; a kernel only walks memory.

pub use crate::algebra::{Algebra, AlgebraTask};
use crate::mem::{Span, SpanMut, Storage};
use crate::program::Program;
use crate::{CType, Device, DeviceKind, Number, Result, bail};
use std::sync::OnceLock;

/// A pointwise computation. All spans have one shape.
pub struct Map<'a> {
    /// What to compute.
    pub program: &'a Program,
    /// Values of the program's parameters.
    pub params: &'a [Number],
    /// The type numbers are computed in. Inputs are converted to it, outputs from it.
    pub ctype: CType,
    /// Where results go. An output may be the very same memory as an input (in place).
    pub outs: &'a [SpanMut<'a>],
    /// Operands; broadcast axes have stride 0.
    pub ins: &'a [Span<'a>],
}

/// How a reduction combines numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    /// Sum; floats as accurate as pairwise summation.
    Sum,
    /// Product.
    Prod,
    /// Largest; NaN wins.
    Max,
    /// Smallest; NaN wins.
    Min,
    /// Flat position (over the reduced axes, row-major) of the first largest; a NaN is largest. Output is int64.
    ArgMax,
    /// Flat position of the first smallest; a NaN is smallest. Output is int64.
    ArgMin,
    /// Whether any is not zero.
    Any,
    /// Whether none is zero.
    All,
}

/// A program with the values of its parameters.
#[derive(Clone, Copy)]
pub struct Stage<'a> {
    /// The program; one output.
    pub program: &'a Program,
    /// Its parameters.
    pub params: &'a [Number],
}

/// A reduction of `pre(ins)` over `axes`, then `post`.
///
/// An empty reduction gives the identity of `op` (0, 1, -inf or the lowest integer ...); ops refuse
/// empty extrema before they get here.
pub struct Reduce<'a> {
    /// How to combine.
    pub op: ReduceOp,
    /// The type to compute and accumulate in.
    pub ctype: CType,
    /// Applied to the inputs first; `None` means the single input as it is. Not given for ArgMax and ArgMin.
    pub pre: Option<Stage<'a>>,
    /// Applied to each combined value; one input. Not given for ArgMax and ArgMin.
    pub post: Option<Stage<'a>>,
    /// Same rank as the inputs, size 1 on every reduced axis.
    pub out: SpanMut<'a>,
    /// Operands, all of one shape.
    pub ins: &'a [Span<'a>],
    /// Bit `d` is set when axis `d` is reduced.
    pub axes: u64,
}

/// A running reduction along one axis; `out` and `input` have one shape.
pub struct Scan<'a> {
    /// `Sum`, `Prod`, `Max` or `Min`.
    pub op: ReduceOp,
    /// The type to accumulate in.
    pub ctype: CType,
    /// Result.
    pub out: SpanMut<'a>,
    /// Operand.
    pub input: Span<'a>,
    /// The axis.
    pub axis: usize,
}

/// `out = beta * out + alpha * (a @ b)`, batched: `[.., m, k] @ [.., k, n] -> [.., m, n]`.
///
/// All three have one dtype and the same rank; batch axes are broadcast (stride 0). With `beta`
/// zero, `out` is not read. Any strides. Halves accumulate in f32, small integers wrap.
pub struct Matmul<'a> {
    /// Result.
    pub out: SpanMut<'a>,
    /// Left operand.
    pub a: Span<'a>,
    /// Right operand.
    pub b: Span<'a>,
    /// Factor of the product.
    pub alpha: Number,
    /// Factor of what `out` holds.
    pub beta: Number,
}

/// One index tensor and the axis it walks.
pub struct Indexed<'a> {
    /// int64 positions, shaped like the call's elements.
    pub index: Span<'a>,
    /// Stride of the axis, in elements of the indexed tensor.
    pub stride: isize,
    /// Length of the axis; every position must be below it.
    pub size: usize,
    /// The axis, for messages.
    pub axis: usize,
}

/// `out[i] = src[i + sum(index_k[i] * stride_k)]`.
pub struct Gather<'a> {
    /// Result; same dtype as `src`.
    pub out: SpanMut<'a>,
    /// Shaped like `out`, stride 0 on the axes that the indices walk.
    pub src: Span<'a>,
    /// The index tensors.
    pub indices: &'a [Indexed<'a>],
    /// Whether negative positions count from the end.
    pub wrap: bool,
}

/// How [`Scatter`] combines a value with what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScatterOp {
    /// Replace; of several values for one place the last in row-major order stays.
    Set,
    /// Add; bool means or.
    Add,
    /// Multiply.
    Mul,
    /// Larger; NaN wins.
    Max,
    /// Smaller; NaN wins.
    Min,
}

/// `dst[i + sum(index_k[i] * stride_k)] op= src[i]`, in row-major order of `i`.
///
/// Every position is checked before the first write, so that a bad one leaves `dst` as it was.
pub struct Scatter<'a> {
    /// Shaped like `src`, stride 0 on the axes that the indices walk.
    pub dst: SpanMut<'a>,
    /// Values; same dtype as `dst`.
    pub src: Span<'a>,
    /// The index tensors.
    pub indices: &'a [Indexed<'a>],
    /// How to combine.
    pub op: ScatterOp,
    /// Whether negative positions count from the end.
    pub wrap: bool,
}

/// The discrete Fourier transform of each line along the last axis, times `scale`. Both operands are
/// row-major, of one shape and one complex dtype.
pub struct Fft<'a> {
    /// Result.
    pub out: SpanMut<'a>,
    /// Operand.
    pub input: Span<'a>,
    /// With `exp(+2 pi i j k / n)` instead of `-`.
    pub inverse: bool,
    /// Factor of every result.
    pub scale: f64,
}

/// Sorts along one axis, NaN as the largest. With fewer places than the input has along the axis,
/// only so many of the order are wanted: its first ones (topk), or those that `from` says (median).
pub struct Sort<'a> {
    /// Sorted values.
    pub values: SpanMut<'a>,
    /// Their int64 positions along the axis.
    pub indices: SpanMut<'a>,
    /// Operand.
    pub input: Span<'a>,
    /// The axis.
    pub axis: usize,
    /// Largest first.
    pub descending: bool,
    /// Equal values keep their order.
    pub stable: bool,
    /// Where in the order each line's places begin: int64, shaped like `values`, stride 0 along the
    /// axis. Without it at 0. What reaches past the end of a line is an error.
    pub from: Option<Span<'a>>,
}

/// Work that a backend may do in one go; the op falls back to primitives where it declines.
pub enum Fused<'a> {
    /// `out = softmax(input)` (or its logarithm) along one axis; floats of one dtype and shape.
    Softmax {
        /// Result.
        out: SpanMut<'a>,
        /// Operand.
        input: Span<'a>,
        /// The axis.
        axis: usize,
        /// Logarithm of the softmax instead.
        log: bool,
    },
}

/// A device's kernels. `Err` only for what data decides (an index out of range, memory).
pub trait Backend: Send + Sync {
    /// The kind of device it serves.
    fn kind(&self) -> DeviceKind;
    /// How many such devices there are.
    fn device_count(&self) -> usize {
        1
    }
    /// Memory for `bytes` bytes, contents arbitrary.
    fn alloc(&self, bytes: usize, device: Device) -> Result<Storage>;
    /// Runs a program over every element.
    fn map(&self, call: &Map<'_>) -> Result<()>;
    /// Combines along axes.
    fn reduce(&self, call: &Reduce<'_>) -> Result<()>;
    /// Combines step by step along an axis.
    fn scan(&self, call: &Scan<'_>) -> Result<()>;
    /// Multiplies matrices.
    fn matmul(&self, call: &Matmul<'_>) -> Result<()>;
    /// Reads at computed places.
    fn gather(&self, call: &Gather<'_>) -> Result<()>;
    /// Writes at computed places.
    fn scatter(&self, call: &Scatter<'_>) -> Result<()>;
    /// Sorts.
    fn sort(&self, call: &Sort<'_>) -> Result<()>;
    /// Transforms lines.
    ///
    /// # Errors
    /// `NotImplemented` for a backend without Fourier transforms.
    fn fft(&self, _call: &Fft<'_>) -> Result<()> {
        bail!(NotImplemented, "fft", "this device has no Fourier transforms; move the tensor to cpu")
    }
    /// Positions of the elements that are not zero, row-major: all of axis 0 first, then axis 1 ...
    fn nonzero(&self, input: &Span<'_>) -> Result<Vec<i64>>;
    /// Decomposes matrices.
    ///
    /// # Errors
    /// `NotImplemented` for a backend without linear algebra; `Runtime` when memory cannot be had.
    fn algebra(&self, _call: &Algebra<'_>) -> Result<()> {
        bail!(
            NotImplemented,
            "linalg",
            "the backend of {:?} has no decompositions; move the tensor to the cpu",
            self.kind()
        )
    }
    /// Does `call` and says `true`, or leaves it to primitives.
    fn fused(&self, _call: &Fused<'_>) -> Result<bool> {
        Ok(false)
    }
    /// Waits until everything asked for is done.
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }
}

/// A backend's entry in the registry; a backend crate submits one with `inventory::submit!`.
pub struct Registration(pub &'static dyn Backend);
inventory::collect!(Registration);

/// The backend that serves `device`.
///
/// # Errors
/// `Runtime` when no linked crate serves this kind, or the index is past its devices.
pub fn backend(device: Device) -> Result<&'static dyn Backend> {
    static TABLE: OnceLock<[Option<&'static dyn Backend>; DeviceKind::ALL.len()]> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut table = [None; DeviceKind::ALL.len()];
        for Registration(b) in inventory::iter::<Registration> {
            table[b.kind() as usize] = Some(*b);
        }
        table
    });
    match table[device.kind as usize] {
        Some(b) if usize::from(device.index) < b.device_count() => Ok(b),
        Some(b) => {
            bail!(Runtime, "device", "{device} does not exist; there are {} of its kind", b.device_count())
        }
        None => bail!(
            Runtime,
            "device",
            "no backend for {device} is linked in; depend on the crate `rushlight` (or on a backend crate) and name it in your program"
        ),
    }
}

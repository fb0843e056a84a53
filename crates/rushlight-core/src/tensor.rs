//! The handle: a pointer to storage joined with a layout and a dtype.

use crate::grad::{Meta, ViewOf};
use crate::layout::{Layout, Shape, Strides, checked_bytes};
use crate::mem::{Place, Storage, Version, with_bytes, with_bytes_mut, with_plan};
use crate::{DType, Device, Element, Number, Result, backend, ensure};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

/// An n-dimensional array of one dtype: torch's tensor.
///
/// Eight bytes; cloning gives another handle of the same tensor for one atomic increment. Views
/// share storage and see each other's writes.
///
/// ```
/// use rushlight::Tensor;
/// let x = Tensor::from_vec(vec![1f32, 2., 3., 4., 5., 6.], [2, 3])?;
/// let y = x.t()?;                                    // a view: no data moves
/// assert_eq!(y.shape(), [3, 2]);
/// assert_eq!(y.data_ptr(), x.data_ptr());
/// let z = ((&y * 2.0)? + 1.0)?;
/// assert_eq!(z.to_vec::<f32>()?, [3., 9., 5., 11., 7., 13.]);
/// # Ok::<(), rushlight::Error>(())
/// ```
#[derive(Clone)]
pub struct Tensor(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    bytes: Bytes,
    pub(crate) layout: Layout,
    pub(crate) dtype: DType,
    /// Made in inference mode: no version, never in a graph.
    pub(crate) inference: bool,
    /// Absent until autograd touches the tensor.
    pub(crate) meta: OnceLock<Arc<Meta>>,
    /// See [`Tensor::binding`].
    pub(crate) binding: AtomicUsize,
}

/// Where a tensor has its bytes from. A view asks its root, so that making one costs one handle.
enum Bytes {
    /// A root. Without a version of its own it counts in the storage; `.data` has one.
    Own(Storage, Option<Version>),
    /// A view of this root.
    Of(ViewOf),
}

impl Inner {
    #[inline]
    pub(crate) fn storage(&self) -> &Storage {
        let mut inner = self;
        loop {
            match &inner.bytes {
                Bytes::Own(storage, _) => return storage,
                Bytes::Of(view) => inner = &view.base.0,
            }
        }
    }

    /// The counter of writes that is not the storage's.
    pub(crate) fn own_version(&self) -> Option<&Version> {
        let mut inner = self;
        loop {
            match &inner.bytes {
                Bytes::Own(_, version) => return version.as_ref(),
                Bytes::Of(view) => inner = &view.base.0,
            }
        }
    }

    /// The tensor this one is a view of, if it is one: always the root.
    #[inline]
    pub(crate) fn view(&self) -> Option<&ViewOf> {
        match &self.bytes {
            Bytes::Own(..) => None,
            Bytes::Of(view) => Some(view),
        }
    }
}

impl Tensor {
    /// A root, or with `view` a view of one, whose storage and version it shares then.
    pub(crate) fn assemble(
        storage: Storage,
        layout: Layout,
        dtype: DType,
        version: Option<Version>,
        view: Option<ViewOf>,
    ) -> Tensor {
        match view {
            Some(view) => Tensor::viewing(view, layout, dtype),
            None => {
                let inference = crate::grad::is_inference_mode_enabled();
                Tensor::root(storage, layout, dtype, version, inference)
            }
        }
    }

    /// A root that is an inference tensor or not, whatever the mode.
    #[inline]
    pub(crate) fn root(
        storage: Storage,
        layout: Layout,
        dtype: DType,
        version: Option<Version>,
        inference: bool,
    ) -> Tensor {
        Tensor::join(Bytes::Own(storage, version), layout, dtype, inference)
    }

    /// A view of a root. It is an inference tensor if the root is one, wherever it is made.
    #[inline]
    pub(crate) fn viewing(view: ViewOf, layout: Layout, dtype: DType) -> Tensor {
        let inference = view.base.0.inference;
        Tensor::join(Bytes::Of(view), layout, dtype, inference)
    }

    #[inline]
    fn join(bytes: Bytes, layout: Layout, dtype: DType, inference: bool) -> Tensor {
        Tensor(Arc::new(Inner {
            bytes,
            layout,
            dtype,
            inference,
            meta: OnceLock::new(),
            binding: AtomicUsize::new(0),
        }))
    }

    /// A tensor over a storage that exists. It is a root: no view of anything, version shared with
    /// every other tensor made from this storage.
    ///
    /// # Errors
    /// `Runtime` when the layout reaches past the storage's bytes.
    pub fn from_storage(storage: Storage, layout: Layout, dtype: DType) -> Result<Tensor> {
        let need = layout.storage_elements().checked_mul(dtype.size());
        ensure!(
            need.is_some_and(|n| n <= storage.nbytes()),
            Runtime,
            "from_storage",
            "shape {:?} with strides {:?} and offset {} of {dtype} reaches past the {} bytes of the storage",
            layout.shape(),
            layout.strides(),
            layout.offset(),
            storage.nbytes()
        );
        Ok(Tensor::assemble(storage, layout, dtype, None, None))
    }

    /// A contiguous tensor that takes over the vector's memory: nothing is copied.
    ///
    /// # Errors
    /// `Runtime` when the shape does not hold exactly `data.len()` elements.
    pub fn from_vec<T: Element>(data: Vec<T>, shape: impl Into<crate::op::Size>) -> Result<Tensor> {
        let layout = Layout::contiguous(shape.into().checked("from_vec")?)?;
        ensure!(
            layout.numel() == data.len(),
            Runtime,
            "from_vec",
            "{} values do not fill shape {:?}, which has {}",
            data.len(),
            layout.shape(),
            layout.numel()
        );
        Ok(Tensor::assemble(Storage::from_vec(data), layout, T::DTYPE, None, None))
    }

    /// A contiguous copy of a slice.
    ///
    /// # Errors
    /// As [`Tensor::from_vec`].
    pub fn from_slice<T: Element>(data: &[T], shape: impl Into<crate::op::Size>) -> Result<Tensor> {
        Tensor::from_vec(data.to_vec(), shape)
    }

    /// A 0-d tensor holding one number, of the dtype torch would give it.
    ///
    /// # Errors
    /// `Runtime` when memory cannot be had.
    pub fn scalar(value: impl Into<Number>) -> Result<Tensor> {
        let value = value.into();
        Tensor::scalar_of(value, value.default_dtype(crate::default_dtype()), Device::CPU)
    }

    pub(crate) fn scalar_of(value: Number, dtype: DType, device: Device) -> Result<Tensor> {
        let t = Tensor::alloc(Layout::scalar(), dtype, device)?;
        crate::exec::fill(&t, value)?;
        Ok(t)
    }

    /// Memory for a dense layout whose offset is 0; contents arbitrary.
    pub(crate) fn alloc(layout: Layout, dtype: DType, device: Device) -> Result<Tensor> {
        let bytes = layout.storage_elements().checked_mul(dtype.size());
        let bytes = match bytes {
            Some(b) => b,
            None => checked_bytes("empty", layout.shape(), dtype.size())?,
        };
        let storage = backend::backend(device)?.alloc(bytes, device)?;
        Ok(Tensor::assemble(storage, layout, dtype, None, None))
    }

    /// Sizes, outermost first.
    pub fn shape(&self) -> &[usize] {
        self.0.layout.shape()
    }
    /// Elements to step for one place along each dimension.
    pub fn strides(&self) -> &[isize] {
        self.0.layout.strides()
    }
    /// The element of the storage where this tensor starts.
    pub fn storage_offset(&self) -> usize {
        self.0.layout.offset()
    }
    /// Shape, strides and offset together.
    pub fn layout(&self) -> &Layout {
        &self.0.layout
    }
    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }
    /// Where the memory is.
    pub fn device(&self) -> Device {
        self.storage().device()
    }
    /// The bytes underneath, shared with every view.
    pub fn storage(&self) -> &Storage {
        self.0.storage()
    }
    /// Number of dimensions.
    pub fn dim(&self) -> usize {
        self.0.layout.rank()
    }
    /// Length of dimension `dim`; negative counts from the end.
    ///
    /// # Errors
    /// `Index` when there is no such dimension.
    pub fn size(&self, dim: isize) -> Result<usize> {
        self.0.layout.size(dim)
    }
    /// Number of elements.
    pub fn numel(&self) -> usize {
        self.0.layout.numel()
    }
    /// Bytes of one element.
    pub fn element_size(&self) -> usize {
        self.0.dtype.size()
    }
    /// Bytes of all elements, were they stored densely; `usize::MAX` when an expanded tensor has more.
    pub fn nbytes(&self) -> usize {
        self.numel().saturating_mul(self.element_size())
    }
    /// Whether elements lie in row-major order without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.0.layout.is_contiguous()
    }
    /// Address of the first element; 0 for a tensor without elements or out of the host's reach.
    pub fn data_ptr(&self) -> usize {
        let base = self.storage().data_ptr();
        if base == 0 || self.numel() == 0 { 0 } else { base + self.storage_offset() * self.element_size() }
    }
    /// The counter of in-place writes, shared by a tensor, its views and its `detach()`.
    pub fn version(&self) -> u64 {
        self.0.own_version().map_or_else(|| self.storage().version(), Version::get)
    }
    /// Counts one in-place write, for writes that were made behind rushlight's back.
    pub fn increment_version(&self) {
        self.bump_version();
    }
    /// Whether it was made in inference mode: it can never be part of a graph.
    pub fn is_inference(&self) -> bool {
        self.0.inference
    }
    /// Whether both handles are of the very same tensor.
    pub fn is(&self, other: &Tensor) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
    /// A number that no other living tensor has.
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
    /// Whether it shares its storage with `other`.
    pub fn shares_storage(&self, other: &Tensor) -> bool {
        self.storage().same(other.storage())
    }
    /// The root tensor this one is a view of, if it is a view.
    pub fn base(&self) -> Option<&Tensor> {
        self.0.view().map(|v| &v.base)
    }

    pub(crate) fn version_counter(&self) -> Version {
        self.0.own_version().cloned().unwrap_or_else(|| Version::of(self.storage()))
    }
    /// Counts a write.
    pub(crate) fn bump_version(&self) {
        match self.0.own_version() {
            Some(version) => version.bump(),
            None => self.storage().bump_version(),
        }
    }

    #[inline]
    pub(crate) fn place(&self) -> Place<'_> {
        Place { storage: self.storage(), layout: &self.0.layout, dtype: self.0.dtype }
    }

    /// All elements in row-major order.
    ///
    /// # Errors
    /// `Type` when `T` is not the tensor's dtype (convert with `to_dtype` first); `Runtime` for a
    /// tensor without memory, or one expanded to more elements than memory holds.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        ensure!(
            T::DTYPE == self.dtype(),
            Type,
            "to_vec",
            "the tensor holds {}, not {}; convert it with to_dtype(DType::...)",
            self.dtype(),
            T::DTYPE
        );
        let host = self.host("to_vec")?;
        let mut values = Vec::new();
        crate::mem::reserve("to_vec", &mut values, host.numel())?;
        values.resize(host.numel(), T::default());
        with_plan("to_vec", &[], &[host.place()], |_, ins| {
            let span = &ins[0];
            crate::exec::each_offset(host.layout(), |i, offset| values[i] = span.get(offset));
            Ok(())
        })?;
        Ok(values)
    }

    /// The one element of a one-element tensor, converted to `T`'s dtype like `to_dtype` would.
    ///
    /// # Errors
    /// `Runtime` when there is not exactly one element.
    pub fn item(&self) -> Result<Number> {
        ensure!(
            self.numel() == 1,
            Runtime,
            "item",
            "a tensor of shape {:?} has {} elements, not one; index it first",
            self.shape(),
            self.numel()
        );
        let host = self.host("item")?;
        with_plan("item", &[], &[host.place()], |_, ins| Ok(ins[0].load(0)))
    }

    /// This tensor if the host can read it, else a copy there.
    pub(crate) fn host(&self, op: &'static str) -> Result<Tensor> {
        ensure!(self.device() != Device::META, Runtime, op, "a tensor on the meta device has no data");
        if self.device().is_host() {
            Ok(self.clone())
        } else {
            crate::exec::to_device(self, Device::CPU, "the host reads it")
        }
    }

    /// Runs `f` on the elements in memory order, without a copy.
    ///
    /// # Errors
    /// `Type` when `T` is not the dtype, `Runtime` when the tensor is not contiguous, and for any
    /// rushlight call inside `f` on this thread (it would wait for itself).
    pub fn with_slice<T: Element + bytemuck::Pod, R>(&self, f: impl FnOnce(&[T]) -> R) -> Result<R> {
        let range = self.slice_range::<T>("with_slice")?;
        with_bytes("with_slice", self.storage(), |bytes| {
            let bytes = bytes.get(range).unwrap_or(&[]);
            bytemuck::try_cast_slice(bytes).map(f).map_err(misaligned)
        })?
    }

    /// Runs `f` on the elements in memory order and counts as one in-place write.
    ///
    /// # Errors
    /// As [`Tensor::with_slice`]; `Runtime` too for read-only memory and, outside `no_grad`, for a
    /// tensor that requires grad.
    pub fn with_slice_mut<T: Element + bytemuck::Pod, R>(&self, f: impl FnOnce(&mut [T]) -> R) -> Result<R> {
        let range = self.slice_range::<T>("with_slice_mut")?;
        crate::grad::check_inplace("with_slice_mut", self)?;
        ensure!(
            !(crate::grad::is_grad_enabled() && self.requires_grad()),
            Runtime,
            "with_slice_mut",
            "the tensor is part of a graph, which cannot see what is written here; use an op, or no_grad"
        );
        let result = with_bytes_mut("with_slice_mut", self.storage(), |bytes| {
            let bytes = bytes.get_mut(range).unwrap_or(&mut []);
            bytemuck::try_cast_slice_mut(bytes).map(f).map_err(misaligned)
        })?;
        if result.is_ok() {
            self.bump_version();
        }
        result
    }

    fn slice_range<T: Element>(&self, op: &'static str) -> Result<std::ops::Range<usize>> {
        ensure!(T::DTYPE == self.dtype(), Type, op, "the tensor holds {}, not {}", self.dtype(), T::DTYPE);
        ensure!(
            self.is_contiguous(),
            Runtime,
            op,
            "strides {:?} of shape {:?} are not contiguous; call contiguous() first",
            self.strides(),
            self.shape()
        );
        let start = self.storage_offset() * self.element_size();
        Ok(if self.numel() == 0 { 0..0 } else { start..start + self.nbytes() })
    }

    /// Elements in row-major order as little-endian bytes.
    ///
    /// # Errors
    /// `Runtime` for a tensor without memory.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let dense = self.host("to_bytes")?.detach()?.contiguous()?;
        let start = dense.storage_offset() * dense.element_size();
        with_bytes("to_bytes", dense.storage(), |b| {
            b.get(start..start + dense.nbytes()).unwrap_or(&[]).to_vec()
        })
    }

    /// Shape and strides for a new dense tensor that keeps this one's order of dimensions.
    pub(crate) fn like_layout(&self) -> Result<Layout> {
        let shape: Shape = self.shape().into();
        let strides: Strides = self.0.layout.preserve_strides();
        Layout::new(shape, strides, 0)
    }
}

fn misaligned(e: bytemuck::PodCastError) -> crate::Error {
    crate::err!(
        Runtime,
        "with_slice",
        "the memory does not start at a multiple of the element's size ({e}); clone() the tensor first"
    )
}

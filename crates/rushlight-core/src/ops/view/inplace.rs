//! Calls that change a tensor's own layout: they put another tensor into the caller's handle.
//!
//! They obey the rules of in-place writes and count as one, because what was kept for backward no
//! longer looks like the tensor.

use crate::grad::{self, check_inplace};
use crate::layout::{checked_bytes, checked_shape};
use crate::mem::Storage;
use crate::op::{Dims, Size};
use crate::trace::SiteGuard;
use crate::{Layout, Result, Tensor, ensure};
use std::sync::Arc;

impl Tensor {
    /// Swaps the two dimensions of this matrix.
    ///
    /// # Errors
    /// As [`Tensor::t`]; `Runtime` for a leaf that requires grad.
    #[track_caller]
    pub fn t_(&mut self) -> Result<&mut Tensor> {
        self.relayout("t_", Tensor::t)
    }

    /// Swaps two dimensions.
    ///
    /// # Errors
    /// As [`Tensor::transpose`]; `Runtime` for a leaf that requires grad.
    #[track_caller]
    pub fn transpose_(&mut self, dim0: impl Into<i64>, dim1: impl Into<i64>) -> Result<&mut Tensor> {
        let (a, b) = (dim0.into(), dim1.into());
        self.relayout("transpose_", |x| x.transpose(a, b))
    }

    /// Drops dimensions of size 1.
    ///
    /// # Errors
    /// As [`Tensor::squeeze`]; `Runtime` for a leaf that requires grad.
    #[track_caller]
    pub fn squeeze_(&mut self, dim: impl Into<Dims>) -> Result<&mut Tensor> {
        let dim = dim.into();
        self.relayout("squeeze_", |x| x.squeeze(dim))
    }

    /// Inserts a dimension of size 1 before `dim`.
    ///
    /// # Errors
    /// As [`Tensor::unsqueeze`]; `Runtime` for a leaf that requires grad.
    #[track_caller]
    pub fn unsqueeze_(&mut self, dim: impl Into<i64>) -> Result<&mut Tensor> {
        let dim = dim.into();
        self.relayout("unsqueeze_", |x| x.unsqueeze(dim))
    }

    /// Takes exactly these sizes and strides over its storage.
    ///
    /// # Errors
    /// As [`Tensor::as_strided`]; `Runtime` for a leaf that requires grad.
    #[track_caller]
    pub fn as_strided_(
        &mut self,
        size: impl Into<Size>,
        stride: impl Into<Size>,
        storage_offset: Option<i64>,
    ) -> Result<&mut Tensor> {
        let (size, stride) = (size.into(), stride.into());
        self.relayout("as_strided_", |x| x.as_strided(size, stride, storage_offset))
    }

    /// Changes the shape and, where it needs more elements, grows the storage; it never shrinks one.
    /// Elements keep their place in memory, new ones are zero, and strides become row-major. The
    /// same shape changes nothing.
    ///
    /// # Errors
    /// `Runtime` for a negative size, for a tensor that requires grad, and when the storage must
    /// grow but may not.
    #[track_caller]
    pub fn resize_(&mut self, size: impl Into<Size>) -> Result<&mut Tensor> {
        let _site = SiteGuard::enter("resize_");
        ensure!(!self.requires_grad(), Runtime, "resize_", "a tensor that requires grad cannot be resized");
        let shape = checked_shape("resize_", &size.into().0)?;
        if shape.as_slice() == self.shape() {
            return Ok(self);
        }
        checked_bytes("resize_", &shape, self.element_size())?;
        let layout = Layout::contiguous(shape)?.with_offset(self.storage_offset())?;
        let bytes = layout.storage_elements().checked_mul(self.element_size());
        let bytes = bytes.ok_or_else(|| {
            crate::err!(Runtime, "resize_", "shape {:?} does not fit into memory", layout.shape())
        })?;
        if bytes > self.storage().nbytes() {
            self.storage().resize(bytes)?;
        }
        let mut view = self.0.view().cloned();
        if let Some(v) = &mut view {
            v.origin = grad::Origin::Plain;
        }
        *self = Tensor::assemble(
            self.storage().clone(),
            layout,
            self.dtype(),
            self.0.own_version().cloned(),
            view,
        );
        self.bump_version();
        Ok(self)
    }

    /// Takes over the storage, shape, strides and offset of `source`.
    ///
    /// # Errors
    /// `Runtime` when dtypes or devices differ, and for a leaf that requires grad.
    #[track_caller]
    pub fn set_(&mut self, source: &Tensor) -> Result<&mut Tensor> {
        let layout = source.layout().clone();
        ensure!(
            source.dtype() == self.dtype() && source.device() == self.device(),
            Runtime,
            "set_",
            "the source holds {} on {}, the tensor {} on {}; both must be equal",
            source.dtype(),
            source.device(),
            self.dtype(),
            self.device()
        );
        self.take_storage(source.storage().clone(), layout)
    }

    /// Takes over a storage, of which it is the given part (contiguous where no strides are given).
    /// A storage that is too small grows.
    ///
    /// # Errors
    /// `Runtime` when devices differ, for negative numbers, for a leaf that requires grad, and when
    /// the storage must grow but may not.
    #[track_caller]
    pub fn set_storage_(
        &mut self,
        storage: &Storage,
        storage_offset: usize,
        size: impl Into<Size>,
        stride: Option<Size>,
    ) -> Result<&mut Tensor> {
        ensure!(
            storage.device() == self.device(),
            Runtime,
            "set_",
            "the storage is on {}, the tensor on {}",
            storage.device(),
            self.device()
        );
        let (size, start) = (size.into(), Layout::scalar().with_offset(storage_offset)?);
        let layout = match stride {
            Some(stride) => start.as_strided(&size.0, &stride.0, None)?,
            None => Layout::contiguous(size.checked("set_")?)?.with_offset(storage_offset)?,
        };
        self.take_storage(storage.clone(), layout)
    }

    fn take_storage(&mut self, storage: Storage, layout: Layout) -> Result<&mut Tensor> {
        check_inplace("set_", self)?;
        let bytes = layout.storage_elements().checked_mul(self.element_size());
        let bytes = bytes.ok_or_else(|| {
            crate::err!(Runtime, "set_", "shape {:?} does not fit into memory", layout.shape())
        })?;
        if bytes > storage.nbytes() {
            storage.resize(bytes)?;
        }
        *self = Tensor::assemble(storage, layout, self.dtype(), None, None);
        self.bump_version();
        Ok(self)
    }

    /// Puts a view of this tensor into its handle.
    #[track_caller]
    fn relayout(
        &mut self,
        op: &'static str,
        make: impl FnOnce(&Tensor) -> Result<Tensor>,
    ) -> Result<&mut Tensor> {
        let _site = SiteGuard::enter(op);
        check_inplace(op, self)?;
        // While nothing else knows a root, the new tensor can be a root too. Views of it that exist
        // (or other handles) write to the old one, so that the new one must follow it as a view.
        let alone = self.0.view().is_none() && Arc::strong_count(&self.0) == 1;
        let view = make(self)?;
        let next = if alone { self.as_root(&view)? } else { view };
        next.succeed(self);
        *self = next;
        Ok(self)
    }

    /// Counts the change of layout that makes `old` this tensor; the history it has stays true.
    pub(crate) fn succeed(&self, old: &Tensor) {
        old.bump_version();
        if self.meta().is_some() {
            self.state().made_at = self.version();
        }
    }

    /// `view`, a view of this tensor alone, as a root with the same history.
    fn as_root(&self, view: &Tensor) -> Result<Tensor> {
        let layout = view.layout().clone();
        let root = Tensor::assemble(
            self.storage().clone(),
            layout,
            self.dtype(),
            self.0.own_version().cloned(),
            None,
        );
        match view.grad_fn()? {
            Some(edge) => root.state().grad_fn = Some(edge),
            // Only inside no_grad does a leaf get here; it stays one.
            None if self.requires_grad() => root.state().requires_grad = true,
            None => {}
        }
        Ok(root)
    }
}

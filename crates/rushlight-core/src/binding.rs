//! What bindings to languages with objects of their own need: one object per tensor, whose data can
//! be exchanged.

use crate::{Result, Tensor, ensure};
use std::sync::Weak;
use std::sync::atomic::AtomicUsize;

impl Tensor {
    /// A word that belongs to a language binding: it can remember its object of this tensor there,
    /// so that one tensor has one object. 0 at first; rushlight itself never looks at it.
    pub fn binding(&self) -> &AtomicUsize {
        &self.0.binding
    }

    /// What this leaf becomes when `data` takes the place of its memory and layout (torch: `x.data = y`).
    /// The result has this tensor's version counter, and shares its gradient, hooks and flags.
    ///
    /// # Errors
    /// `Runtime` when this tensor requires grad and `data` is no float.
    pub fn with_data(&self, data: &Tensor) -> Result<Tensor> {
        ensure!(
            !self.requires_grad() || data.dtype().is_differentiable(),
            Runtime,
            "data",
            "the tensor requires grad, which {} cannot have",
            data.dtype()
        );
        let version = self.version_counter();
        let new = Tensor::assemble(
            data.storage().clone(),
            data.layout().clone(),
            data.dtype(),
            Some(version),
            None,
        );
        if let Some(meta) = self.0.meta.get() {
            // Its graphs so far were of the old shape.
            self.state().accumulator = Weak::new();
            let _ = new.0.meta.set(meta.clone());
        }
        Ok(new)
    }

    /// What this tensor becomes in another layout (torch: `resize_`): the same storage, grown if need
    /// be, version and gradient. Elements keep their places in memory.
    ///
    /// # Errors
    /// `Runtime` when the storage must grow and cannot, and for a tensor that requires grad.
    pub fn with_layout(&self, layout: crate::Layout) -> Result<Tensor> {
        ensure!(
            !self.requires_grad(),
            Runtime,
            "resize_",
            "a tensor that requires grad cannot be resized; detach() it first"
        );
        let need = layout.storage_elements().checked_mul(self.element_size());
        let Some(need) = need else {
            crate::bail!(Runtime, "resize_", "shape {:?} is larger than any memory", layout.shape())
        };
        if need > self.storage().nbytes() {
            self.storage().resize(need)?;
        }
        let version = self.version_counter();
        let (storage, view) = (self.storage().clone(), self.0.view().cloned());
        let new = Tensor::assemble(storage, layout, self.dtype(), Some(version), view);
        if let Some(meta) = self.0.meta.get() {
            let _ = new.0.meta.set(meta.clone());
        }
        Ok(new)
    }

    /// Checks that this tensor may become a view of itself in place (`t_`, `squeeze_`), and counts that
    /// as a write.
    ///
    /// # Errors
    /// `Runtime` for a leaf that requires grad, as for any in-place op.
    pub fn restride_in_place(&self, view: &Tensor) -> Result<()> {
        crate::grad::check_inplace("restride", self)?;
        view.succeed(self);
        Ok(())
    }

    /// All elements in row-major order as numbers.
    ///
    /// # Errors
    /// `Runtime` for a tensor without memory, or one expanded to more elements than memory holds.
    pub fn to_numbers(&self) -> Result<Vec<crate::Number>> {
        let host = self.host("tolist")?;
        let mut values = Vec::new();
        crate::mem::reserve("tolist", &mut values, host.numel())?;
        crate::mem::with_plan("tolist", &[], &[host.place()], |_, ins| {
            crate::exec::each_offset(host.layout(), |_, offset| values.push(ins[0].load(offset)));
            Ok(())
        })?;
        Ok(values)
    }
}

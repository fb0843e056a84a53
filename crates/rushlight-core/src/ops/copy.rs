//! Copies, casts and moves: the ops whose purpose is new memory, and writes of whole tensors.

use crate::exec;
use crate::op::{Operand, Sample, Value, samples};
use crate::trace::SiteGuard;
use crate::{DType, Device, Layout, Number, Result, Tensor, ensure};
use smallvec::smallvec;

ops! { COPY;
    /// A copy of the tensor's own elements, in the same order of dimensions.
    fn clone_of as clone (input: Tensor) -> Tensor {
        run: duplicate(input),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?)]),
        samples: unary_samples,
    }
    /// Writes `src`, converted and broadcast, over the tensor.
    fn copy_ (input: Tensor, src: Tensor) -> Tensor {
        mutates: write(input, src),
        grad: [reads inputs; outputs] |cx| {
            let g = cx.grad(0)?;
            let src = crate::grad::sum_to(&g, &cx.info(1)?.shape)?;
            Ok(smallvec![cx.needs(0).then(|| Tensor::full_as(&g, Number::Int(0))).transpose()?, cx.needs(1).then_some(src)])
        },
        samples: copy_samples,
    }
    /// Every element becomes `value`, a number or a tensor of no dimensions.
    fn fill_ (input: Tensor, value: Operand) -> Tensor {
        mutates: fill(input, value),
        grad: [reads inputs; outputs] |cx| {
            let g = cx.grad(0)?;
            let value = cx.needs(1).then(|| g.sum((), false)).transpose()?;
            Ok(smallvec![Some(Tensor::full_as(&g, Number::Int(0))?), value])
        },
        samples: fill_samples,
    }
    /// Every element becomes 0.
    fn zero_ (input: Tensor) -> Tensor {
        mutates: exec::fill(input, Number::Int(0)).map(|()| input.clone()),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(Tensor::full_as(&cx.grad(0)?, Number::Int(0))?)]),
        samples: unary_samples,
    }
    /// Converts to another dtype; gives the same tensor back when it has it already.
    fn cast as internal (input: Tensor, dtype: DType) -> Tensor {
        run: exec::copy_as("to_dtype", input, input.like_layout()?, *dtype, "the dtype changes"),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.to_dtype(cx.info(0)?.dtype)?)]),
        samples: cast_samples,
    }
    /// A copy on another device, in the same order of dimensions.
    fn transfer as internal (input: Tensor, device: OptDevice) -> Tensor {
        run: exec::to_device(input, device.unwrap_or(Device::CPU), "the device changes"),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.to_device(cx.info(0)?.device)?)]),
        samples: transfer_samples,
    }
    /// A row-major copy for a form that is not in place to write to.
    fn writable as internal (input: Tensor) -> Tensor {
        run: exec::copy_as("copy", input, Layout::contiguous(input.shape())?, input.dtype(), "a form that is not in place writes to a copy"),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?)]),
        samples: unary_samples,
    }
    /// A row-major copy.
    fn pack as internal (input: Tensor) -> Tensor {
        run: exec::copy_as("contiguous", input, Layout::contiguous(input.shape())?, input.dtype(), "the strides are not row-major"),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?)]),
        samples: unary_samples,
    }
}

fn fill(x: &Tensor, value: &Operand) -> Result<Tensor> {
    match value {
        Operand::Number(n) => exec::fill(x, n.checked_cast("fill_", x.dtype())?)?,
        Operand::Tensor(t) => {
            ensure!(
                t.dim() == 0,
                Runtime,
                "fill_",
                "the value must be one number or a tensor of no dimensions, not of shape {:?}",
                t.shape()
            );
            exec::check_self_overlap("fill_", x)?;
            // Read before anything is written, whatever memory it lies in.
            let one = t.detach()?.to_dtype(x.dtype())?.to_device(x.device())?;
            let one = if one.shares_storage(x) { one.copy()? } else { one };
            exec::copy(x, &one)?;
        }
    }
    Ok(x.clone())
}

fn duplicate(x: &Tensor) -> Result<Tensor> {
    exec::copy_as("copy", x, x.like_layout()?, x.dtype(), "a copy was asked for")
}

fn write(x: &Tensor, src: &Tensor) -> Result<Tensor> {
    ensure!(
        crate::layout::broadcast_shapes("copy_", &[x.shape(), src.shape()])
            .is_ok_and(|s| s.as_slice() == x.shape()),
        Runtime,
        "copy_",
        "a source of shape {:?} cannot fill a tensor of shape {:?}",
        src.shape(),
        x.shape()
    );
    // The same cells already, also where elements share memory: nothing would change.
    if x.shares_storage(src) && x.layout() == src.layout() && x.dtype() == src.dtype() {
        return Ok(x.clone());
    }
    exec::copy(x, &*exec::apart("copy_", x, src)?)?;
    Ok(x.clone())
}

impl Tensor {
    /// A copy that owns its own elements and nothing else (torch: `clone`; Rust's `clone` copies
    /// the handle).
    ///
    /// # Errors
    /// `Runtime` when memory cannot be had.
    #[track_caller]
    pub fn copy(&self) -> Result<Tensor> {
        self.clone_of()
    }

    /// This tensor if its elements lie in row-major order, else a copy that does.
    ///
    /// # Errors
    /// `Runtime` when memory cannot be had.
    #[track_caller]
    pub fn contiguous(&self) -> Result<Tensor> {
        if self.is_contiguous() {
            return Ok(self.clone());
        }
        let _site = SiteGuard::enter("contiguous"); // the name users know
        self.pack()
    }

    /// This tensor if it has that dtype, else a converted copy in the same order of dimensions.
    ///
    /// # Errors
    /// `Runtime` when memory cannot be had.
    #[track_caller]
    pub fn to_dtype(&self, dtype: DType) -> Result<Tensor> {
        if self.dtype() == dtype { Ok(self.clone()) } else { self.cast(dtype) }
    }

    /// This tensor if it is on that device, else a copy there.
    ///
    /// # Errors
    /// `Runtime` when the device does not exist or memory cannot be had.
    #[track_caller]
    pub fn to_device(&self, device: Device) -> Result<Tensor> {
        if self.device() == device { Ok(self.clone()) } else { self.transfer(Some(device)) }
    }
}

pub(crate) fn unary_samples() -> Vec<Sample> {
    [&[3, 4][..], &[], &[0, 2], &[2, 1, 3]]
        .iter()
        .filter_map(|s| {
            Some(Sample { args: smallvec![Value::Tensor(samples::values(s, 3).ok()?)], grad: true })
        })
        .collect()
}

/// As [`unary_samples`], for rows that take a dtype and a device besides.
pub(crate) fn unary_samples_flat() -> Vec<Sample> {
    unary_samples()
        .into_iter()
        .map(|mut s| {
            s.args.extend([Value::OptDType(None), Value::OptDevice(None)]);
            s.grad = false;
            s
        })
        .collect()
}

fn transfer_samples() -> Vec<Sample> {
    let home = |mut s: Sample| {
        s.args.push(Value::OptDevice(Some(Device::CPU)));
        s
    };
    unary_samples().into_iter().map(home).collect()
}

fn copy_samples() -> Vec<Sample> {
    let pairs: [(&[usize], &[usize]); 4] = [(&[3, 4], &[3, 4]), (&[2, 3], &[3]), (&[2, 2], &[]), (&[], &[])];
    pairs
        .iter()
        .filter_map(|(a, b)| {
            Some(Sample {
                args: smallvec![
                    Value::Tensor(samples::values(a, 1).ok()?),
                    Value::Tensor(samples::values(b, 2).ok()?)
                ],
                grad: true,
            })
        })
        .collect()
}

fn fill_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for value in
        [Some(Operand::Number(Number::Float(2.5))), samples::values(&[], 5).ok().map(Operand::Tensor)]
    {
        let Some(value) = value else { continue };
        all.extend(unary_samples().into_iter().map(|mut s| {
            s.args.push(Value::Operand(value.clone()));
            s
        }));
    }
    all
}

fn cast_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for dtype in DType::ALL {
        all.extend(unary_samples().into_iter().map(|mut s| {
            s.args.push(Value::DType(*dtype));
            s.grad = *dtype == DType::F64;
            s
        }));
    }
    all
}

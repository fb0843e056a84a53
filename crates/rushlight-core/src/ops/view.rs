//! Views: a new layout over the same storage, never a copy.

use crate::op::{Sample, Size, Value, samples};
use crate::{Result, Tensor};
use smallvec::{SmallVec, smallvec};

ops! { VIEW;
    /// The tensor's elements in a new shape, without a copy; one size may be -1. Refused where
    /// strides cannot express it: `reshape` copies then.
    fn view (input: Tensor, shape: Size) -> Tensor {
        view: input.view(&shape.0),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.reshape(&cx.info(0)?.shape)?)]),
        samples: view_samples,
    }
    /// Size-1 dimensions stretched to `size`, with stride 0; -1 keeps a size, new dimensions go in front.
    fn expand (input: Tensor, size: Size) -> Tensor {
        view: input.expand(&size.0),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(crate::grad::sum_to(&cx.grad(0)?, &cx.info(0)?.shape)?)]),
        samples: expand_samples,
    }
    /// A dimension of size 1 inserted before `dim`.
    fn unsqueeze (input: Tensor, dim: Int) -> Tensor {
        view: input.unsqueeze(*dim as isize),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.reshape(&cx.info(0)?.shape)?)]),
        samples: dim_samples,
    }
    /// `length` places of dimension `dim` from `start` on; a negative start counts from the end.
    fn narrow (input: Tensor, dim: Int, start: Int, length: Int) -> Tensor {
        view: input.narrow(*dim as isize, *start as isize, *length as isize),
        samples: narrow_samples,
    }
    /// A matrix with its two dimensions swapped; vectors and numbers as they are.
    fn t (input: Tensor) -> Tensor {
        view: input.t(),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.t()?)]),
        samples: t_samples,
    }
}

impl Tensor {
    /// The elements in a new shape: a view where strides allow, else a copy. One size may be -1.
    ///
    /// # Errors
    /// `Runtime` when the number of elements differs.
    #[track_caller]
    pub fn reshape(&self, shape: impl Into<Size>) -> Result<Tensor> {
        let _site = crate::trace::SiteGuard::enter("reshape");
        let size: Size = shape.into();
        let target = crate::layout::infer_shape("reshape", &size.0, self.numel())?;
        if self.layout().try_view(&target).is_some() {
            return self.view(target);
        }
        self.pack()?.view(target)
    }
}

fn one(shape: &[usize], rest: impl IntoIterator<Item = Value>) -> Option<Sample> {
    let mut args: SmallVec<[Value; 4]> = smallvec![Value::Tensor(samples::values(shape, 4).ok()?)];
    args.extend(rest);
    Some(Sample { args, grad: true })
}

fn view_samples() -> Vec<Sample> {
    let cases: [(&[usize], Size); 5] = [
        (&[2, 6], [3, 4].into()),
        (&[2, 6], [-1].into()),
        (&[4], [2, 1, 2].into()),
        (&[], [1, 1].into()),
        (&[0, 3], [3, 0].into()),
    ];
    cases.into_iter().filter_map(|(s, t)| one(s, [Value::Size(t)])).collect()
}

fn expand_samples() -> Vec<Sample> {
    let cases: [(&[usize], Size); 4] =
        [(&[3, 1], [2, 3, 4].into()), (&[1], [5].into()), (&[], [2, 2].into()), (&[2, 3], [-1, 3].into())];
    cases.into_iter().filter_map(|(s, t)| one(s, [Value::Size(t)])).collect()
}

fn dim_samples() -> Vec<Sample> {
    [(&[2, 3][..], 1), (&[2, 3], -1), (&[], 0)]
        .into_iter()
        .filter_map(|(s, d)| one(s, [Value::Int(d)]))
        .collect()
}

fn narrow_samples() -> Vec<Sample> {
    [(&[4, 3][..], 0, 1, 2), (&[4, 3], -1, 0, 3), (&[4], 0, -2, 2), (&[4], 0, 4, 0)]
        .into_iter()
        .filter_map(|(s, d, a, n)| one(s, [Value::Int(d), Value::Int(a), Value::Int(n)]))
        .collect()
}

fn t_samples() -> Vec<Sample> {
    [&[2, 3][..], &[4], &[], &[0, 2]].into_iter().filter_map(|s| one(s, [])).collect()
}

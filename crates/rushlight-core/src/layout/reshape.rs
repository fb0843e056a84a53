//! Views that some strides allow and others do not: reshapes and changes of element size.

use super::{Layout, Shape, Strides, checked_numel, contiguous_strides, dim_index, existing_dim};
use crate::{Result, bail, ensure, err};
use smallvec::smallvec;

/// `sizes` with its -1, if any, resolved so that the shape holds `numel` elements.
///
/// # Errors
/// Runtime for two -1, another negative size, a -1 that could be anything (next to a size 0), and a
/// shape that does not hold `numel` elements.
pub fn infer_shape(op: &'static str, sizes: &[isize], numel: usize) -> Result<Shape> {
    let mut known = 1usize;
    let mut free = None;
    for (k, &size) in sizes.iter().enumerate() {
        match size {
            -1 => {
                ensure!(free.is_none(), Runtime, op, "shape {sizes:?} has more than one -1");
                free = Some(k);
            }
            _ if size < 0 => bail!(Runtime, op, "shape {sizes:?} has a negative size {size}"),
            // A product beyond usize matches no number of elements, unless a size 0 follows.
            _ => known = known.saturating_mul(size as usize),
        }
    }
    let mut shape = Shape::with_capacity(sizes.len());
    sizes.iter().for_each(|&size| shape.push(size.max(0) as usize));
    match free {
        Some(_) if known == 0 && numel == 0 => {
            bail!(Runtime, op, "the -1 in {sizes:?} could be any size, for there are 0 elements")
        }
        Some(k) if known > 0 && numel.is_multiple_of(known) => shape[k] = numel / known,
        None if known == numel => {}
        _ => bail!(Runtime, op, "shape {sizes:?} does not hold {numel} elements"),
    }
    // Without a size 0 the product is `numel`.
    if numel == 0 || isize::try_from(numel).is_err() {
        checked_numel(op, &shape)?;
    }
    Ok(shape)
}

impl Layout {
    /// The same elements in C order under other sizes; one size may be -1.
    ///
    /// # Errors
    /// Runtime when the sizes do not fit (see [`infer_shape`]), and when no strides reproduce the
    /// order of elements: reshape then copies.
    pub fn view(&self, sizes: &[isize]) -> Result<Layout> {
        let numel = self.numel();
        let shape = infer_shape("view", sizes, numel)?;
        match self.strides_of_view(&shape, numel) {
            Some(strides) => Ok(Layout { shape, strides, offset: self.offset }),
            None => Err(self.view_error(&shape)),
        }
    }

    /// [`Layout::view`] in the name of `op`, or `None` where no strides reproduce the order.
    ///
    /// # Errors
    /// Runtime when the sizes do not fit (see [`infer_shape`]).
    pub fn viewed(&self, op: &'static str, sizes: &[isize]) -> Result<Option<Layout>> {
        let numel = self.numel();
        let shape = infer_shape(op, sizes, numel)?;
        let strides = self.strides_of_view(&shape, numel);
        Ok(strides.map(|strides| Layout { shape, strides, offset: self.offset }))
    }

    /// The strides of a view with this shape, or `None` when there is none.
    pub fn try_view(&self, new: &[usize]) -> Option<Strides> {
        let numel = self.numel();
        if checked_numel("view", new).ok()? != numel {
            return None;
        }
        self.strides_of_view(new, numel)
    }

    /// As [`Layout::try_view`], for a shape of `numel` elements, as many as there are.
    fn strides_of_view(&self, new: &[usize], numel: usize) -> Option<Strides> {
        if numel == 0 && new == self.shape() {
            return Some(self.strides.clone());
        }
        if numel == 0 || (self.rank() > 0 && self.is_plain()) {
            return Some(contiguous_strides(new));
        }
        if self.rank() == 0 {
            return Some(smallvec![1; new.len()]);
        }
        let mut strides: Strides = smallvec![0; new.len()];
        let mut v = new.len();
        for (elements, base) in self.blocks() {
            let mut seen = 1;
            while v > 0 && (seen < elements || new[v - 1] == 1) {
                v -= 1;
                strides[v] = base.saturating_mul(seen as isize);
                seen = seen.saturating_mul(new[v]);
            }
            if seen != elements {
                return None;
            }
        }
        (v == 0).then_some(strides)
    }

    /// Contiguous strides in every dim, those of size 1 included.
    pub(crate) fn is_plain(&self) -> bool {
        let mut want = 1isize;
        self.shape.iter().zip(&self.strides).rev().all(|(&size, &stride)| {
            let fits = stride == want;
            want = want.saturating_mul(size.max(1) as isize);
            fits
        })
    }

    /// Maximal groups of neighbouring dims that act as one, from the last to the first: number of
    /// elements and stride of the innermost. A group ends where the dim to its left does not go on in
    /// memory; a size of 1 never ends one. For layouts with elements.
    fn blocks(&self) -> impl Iterator<Item = (usize, isize)> + '_ {
        let mut next = self.rank();
        std::iter::from_fn(move || {
            next = next.checked_sub(1)?;
            let (mut elements, base) = (self.shape[next], self.strides[next]);
            while next > 0 {
                let left = next - 1;
                let goes_on = base.saturating_mul(elements as isize) == self.strides[left];
                if self.shape[left] != 1 && !goes_on {
                    break;
                }
                elements *= self.shape[left];
                next = left;
            }
            Some((elements, base))
        })
    }

    /// Says which groups of elements a view must keep apart.
    #[cold]
    fn view_error(&self, new: &[usize]) -> crate::Error {
        let mut blocks: Vec<usize> = self.blocks().map(|(elements, _)| elements).collect();
        blocks.reverse();
        err!(
            Runtime,
            "view",
            "shape {:?} with strides {:?} has no view of shape {new:?}: its memory runs in blocks of \
             {blocks:?} elements, and a size of the view would span two of them; reshape copies",
            self.shape(),
            self.strides()
        )
    }

    /// The shape of `flatten(start, end)`: those dims as one, both ends included. Rank 0 gives `[1]`.
    ///
    /// # Errors
    /// Index when a dim is out of range, Runtime when `end` comes before `start`.
    pub fn flatten_shape(&self, start: isize, end: isize) -> Result<Shape> {
        let from = dim_index("flatten", start, self.rank())?;
        let to = dim_index("flatten", end, self.rank())?;
        ensure!(from <= to, Runtime, "flatten", "start_dim {start} comes after end_dim {end}");
        if self.rank() == 0 {
            return Ok(smallvec![1]);
        }
        let mut shape = Shape::from_slice(&self.shape[..from]);
        shape.push(self.shape[from..=to].iter().product());
        shape.extend_from_slice(&self.shape[to + 1..]);
        Ok(shape)
    }

    /// Splits dimension `dim` into `sizes`; one of them may be -1.
    ///
    /// # Errors
    /// Index when `dim` is out of range; Runtime for rank 0, when `sizes` is empty or does not multiply to the
    /// size of the dimension.
    pub fn unflatten(&self, dim: isize, sizes: &[isize]) -> Result<Layout> {
        ensure!(
            self.rank() > 0 || !matches!(dim, 0 | -1),
            Runtime,
            "unflatten",
            "a 0-d tensor has no dimension to split; use view"
        );
        let d = existing_dim("unflatten", dim, self.rank())?;
        ensure!(!sizes.is_empty(), Runtime, "unflatten", "there must be at least one size");
        let parts = infer_shape("unflatten", sizes, self.shape[d])?;
        let mut shape = self.shape.clone();
        shape.remove(d);
        shape.insert_many(d, parts);
        checked_numel("unflatten", &shape)?;
        match self.try_view(&shape) {
            Some(strides) => Ok(Layout { shape, strides, offset: self.offset }),
            None => Err(self.view_error(&shape).in_op("unflatten")),
        }
    }

    /// The same bytes read as elements of `to` bytes instead of `from`: the last size scales, and
    /// with it the other strides and the offset.
    ///
    /// # Errors
    /// Runtime, when the sizes in bytes differ, for rank 0, for a last stride other than 1, and when a
    /// larger element does not divide the last size, another stride or the offset.
    pub fn view_dtype(&self, from: usize, to: usize) -> Result<Layout> {
        let op = "view";
        if from == to {
            return Ok(self.clone());
        }
        ensure!(from > 0 && to > 0, Runtime, op, "elements of {from} and {to} bytes do not compare");
        let Some(last) = self.rank().checked_sub(1) else {
            bail!(Runtime, op, "a 0-d tensor has no last dim to hold elements of another size")
        };
        ensure!(
            self.strides[last] == 1,
            Runtime,
            op,
            "the last stride is {}, and only 1 allows elements of another size; use contiguous()",
            self.strides[last]
        );
        if to < from && from.is_multiple_of(to) {
            return self.finer(op, from / to);
        }
        let ratio = to / from;
        ensure!(
            to.is_multiple_of(from) && self.shape[last].is_multiple_of(ratio),
            Runtime,
            op,
            "a last dim of {} elements of {from} bytes does not divide into elements of {to} bytes",
            self.shape[last]
        );
        let others = &self.strides[..last];
        ensure!(
            self.offset.is_multiple_of(ratio) && others.iter().all(|s| s % ratio as isize == 0),
            Runtime,
            op,
            "offset {} and strides {others:?} must be multiples of {ratio}; use contiguous()",
            self.offset
        );
        let mut out = self.clone();
        out.shape[last] /= ratio;
        out.offset /= ratio;
        out.strides[..last].iter_mut().for_each(|s| *s /= ratio as isize);
        Ok(out)
    }

    /// The real (`part` 0) or imaginary (`part` 1) numbers of a complex layout, in elements of half
    /// the size.
    ///
    /// # Errors
    /// Runtime when an index would overflow.
    pub fn complex_part(&self, part: usize) -> Result<Layout> {
        let op = if part == 0 { "real" } else { "imag" };
        let mut out = self.scaled(op, 2)?;
        out.offset += part.min(1);
        Ok(out)
    }

    /// A complex layout as pairs of real numbers: a new last dimension of size 2.
    ///
    /// # Errors
    /// Runtime when an index would overflow.
    pub fn view_as_real(&self) -> Result<Layout> {
        let mut out = self.scaled("view_as_real", 2)?;
        out.shape.push(2);
        out.strides.push(1);
        out.check("view_as_real")?;
        Ok(out)
    }

    /// Pairs of real numbers in the last dimension as complex numbers.
    ///
    /// # Errors
    /// Runtime unless the last dimension has size 2 and stride 1, and the other strides and the offset
    /// are even.
    pub fn view_as_complex(&self) -> Result<Layout> {
        let op = "view_as_complex";
        let Some(last) = self.rank().checked_sub(1) else {
            bail!(Runtime, op, "a 0-d tensor has no last dim of size 2")
        };
        ensure!(
            self.shape[last] == 2 && self.strides[last] == 1,
            Runtime,
            op,
            "the last dim must have size 2 and stride 1, not size {} and stride {}",
            self.shape[last],
            self.strides[last]
        );
        let mut out = self.clone();
        out.shape.truncate(last);
        out.strides.truncate(last);
        ensure!(
            self.offset.is_multiple_of(2) && out.strides.iter().all(|s| s % 2 == 0),
            Runtime,
            op,
            "offset {} and strides {:?} must be even; use contiguous()",
            self.offset,
            out.strides
        );
        out.offset /= 2;
        out.strides.iter_mut().for_each(|s| *s /= 2);
        Ok(out)
    }

    /// Elements `ratio` times smaller: the last dim holds more of them.
    fn finer(&self, op: &'static str, ratio: usize) -> Result<Layout> {
        let mut out = self.scaled(op, ratio)?;
        if let (Some(size), Some(stride)) = (out.shape.last_mut(), out.strides.last_mut()) {
            *size = size.saturating_mul(ratio);
            *stride = 1;
        }
        out.check(op)?;
        Ok(out)
    }

    /// Offset and strides times `factor`.
    fn scaled(&self, op: &'static str, factor: usize) -> Result<Layout> {
        let mut out = self.clone();
        out.strides.iter_mut().for_each(|s| *s = s.saturating_mul(factor as isize));
        out.offset = self
            .offset
            .checked_mul(factor)
            .filter(|&o| o < isize::MAX as usize)
            .ok_or_else(|| err!(Runtime, op, "offset {} times {factor} does not fit", self.offset))?;
        out.check(op)?;
        Ok(out)
    }
}

//! Reading at computed places.

use crate::index::{each, offset};
use rushlight_core::backend::{Gather, Indexed};
use rushlight_core::{Result, ensure, with_dtype};

pub(crate) fn run(call: &Gather<'_>) -> Result<()> {
    let shape = call.out.layout().shape();
    each(shape, |index| displacement(call.indices, call.wrap, index).map(drop))?;
    each(shape, |index| {
        let from = offset(call.src.layout(), index) + displacement(call.indices, call.wrap, index)?;
        let to = offset(call.out.layout(), index);
        with_dtype!(call.out.dtype(), |T| call.out.set::<T>(to, call.src.get::<T>(from)));
        Ok(())
    })
}

/// Steps that the index tensors add for the element at `index`.
///
/// # Errors
/// `Index` for a position outside its axis.
pub(crate) fn displacement(indices: &[Indexed<'_>], wrap: bool, index: &[usize]) -> Result<isize> {
    let mut steps = 0;
    for walk in indices {
        let given = walk.index.load(offset(walk.index.layout(), index)).to_i64();
        let size = walk.size as i64;
        let place = if wrap && given < 0 { given.wrapping_add(size) } else { given };
        ensure!(
            (0..size).contains(&place),
            Index,
            "index",
            "index {given} is out of range for dimension {} of size {size}",
            walk.axis
        );
        steps += place as isize * walk.stride;
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use crate::RefBackend;
    use crate::testing::{Operand, dense, layout, run};
    use rushlight_core::backend::{Backend, Gather, Indexed};
    use rushlight_core::{Kind, Result};

    /// `out = src[rows]` for a `[3, 2]` source.
    fn rows(out: &Operand, src: &Operand, rows: &Operand, wrap: bool) -> Result<()> {
        run(&[out], &[src, rows], |outs, ins| {
            let indices = [Indexed { index: ins[1], stride: 2, size: 3, axis: 0 }];
            RefBackend.gather(&Gather { out: outs[0], src: ins[0], indices: &indices, wrap })
        })
    }

    fn operands(places: &[i64]) -> (Operand, Operand, Operand) {
        let src = Operand::of(&[0u64, 1, 10, 11, 20, u64::MAX], layout(&[2, 2], &[0, 1], 0));
        let index = Operand::of(places, layout(&[2, 2], &[1, 0], 0));
        (dense(&[2, 2], &[7u64; 4]), src, index)
    }

    #[test]
    fn whole_rows() {
        let (out, src, index) = operands(&[2, -3]);
        rows(&out, &src, &index, true).unwrap();
        assert_eq!(out.raw::<u64>(), [20, u64::MAX, 0, 1]);
    }

    #[test]
    fn a_bad_position_writes_nothing() {
        for (places, wrap) in [([0, 3], true), ([0, -4], true), ([0, -1], false)] {
            let (out, src, index) = operands(&places);
            let error = rows(&out, &src, &index, wrap).unwrap_err();
            assert_eq!((error.kind(), error.op()), (Kind::Index, "index"));
            assert_eq!(
                error.text(),
                format!("index {} is out of range for dimension 0 of size 3", places[1])
            );
            assert_eq!(out.raw::<u64>(), [7; 4]);
        }
    }
}

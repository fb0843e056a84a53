//! Matrix products, one element of the result at a time.

use crate::eval::eval;
use crate::index::{each, offset};
use crate::total::Total;
use crate::value::{Val, wide};
use rushlight_core::backend::{Matmul, ReduceOp};
use rushlight_core::program::Opcode;
use rushlight_core::{DType, Result, Shape, ensure};

pub(crate) fn run(call: &Matmul<'_>) -> Result<()> {
    let dtype = call.out.dtype();
    ensure!(
        dtype != DType::Bool,
        NotImplemented,
        "matmul",
        "bool matrices have no product; convert them first"
    );
    let ctype = wide(dtype.ctype());
    let rank = call.out.layout().rank();
    let inner = call.a.layout().shape()[rank - 1];
    // Scalars count as elements of the matrices, then as wide as the sum.
    let factor = |n| Val::of(n, dtype.ctype()).to(ctype);
    let (alpha, beta) = (factor(call.alpha), factor(call.beta));
    each(call.out.layout().shape(), |index| {
        let (row, column) = (index[rank - 2], index[rank - 1]);
        let mut total = Total::new(ReduceOp::Sum, ctype)?;
        for k in 0..inner {
            let (mut at_a, mut at_b) = (Shape::from_slice(index), Shape::from_slice(index));
            (at_a[rank - 2], at_a[rank - 1]) = (row, k);
            (at_b[rank - 2], at_b[rank - 1]) = (k, column);
            let a = Val::of(call.a.load(offset(call.a.layout(), &at_a)), ctype);
            let b = Val::of(call.b.load(offset(call.b.layout(), &at_b)), ctype);
            total.add(eval(Opcode::Mul, ctype, &[a, b])?)?;
        }
        let at = offset(call.out.layout(), index);
        let mut result = eval(Opcode::Mul, ctype, &[alpha, total.wide()])?;
        // What is not asked for is not read: it may be NaN.
        if beta.truth() {
            let old = eval(Opcode::Mul, ctype, &[beta, Val::of(call.out.load(at), ctype)])?;
            result = eval(Opcode::Add, ctype, &[old, result])?;
        }
        call.out.store(at, result.number());
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RefBackend;
    use crate::testing::{Operand, dense, layout, run as with};
    use rushlight_core::Number;
    use rushlight_core::backend::Backend;

    fn matmul(out: &Operand, a: &Operand, b: &Operand, alpha: f64, beta: f64) -> Result<()> {
        with(&[out], &[a, b], |outs, ins| {
            let (alpha, beta) = (Number::Float(alpha), Number::Float(beta));
            RefBackend.matmul(&Matmul { out: outs[0], a: ins[0], b: ins[1], alpha, beta })
        })
    }

    #[test]
    fn rectangles_and_factors() {
        let a = dense(&[2, 3], &[1f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let b = Operand::of(&[1f32, 0.0, 1.0, 2.0, 1.0, 0.0], layout(&[3, 2], &[1, 3], 0));
        let out = dense(&[2, 2], &[f32::NAN; 4]);
        matmul(&out, &a, &b, 1.0, 0.0).unwrap();
        assert_eq!(out.raw::<f32>(), [4.0, 4.0, 10.0, 13.0]);
        matmul(&out, &a, &b, 2.0, -1.0).unwrap();
        assert_eq!(out.raw::<f32>(), [4.0, 4.0, 10.0, 13.0]);
    }

    #[test]
    fn batches_and_nothing_to_sum() {
        let a = dense(&[2, 1, 1], &[3u8, 100]);
        let b = Operand::of(&[5u8], layout(&[2, 1, 1], &[0, 1, 1], 0));
        let out = dense(&[2, 1, 1], &[0u8; 2]);
        matmul(&out, &a, &b, 1.0, 0.0).unwrap();
        assert_eq!(out.raw::<u8>(), [15, 244]);
        let (a, b, out) = (dense::<f32>(&[1, 0], &[]), dense::<f32>(&[0, 1], &[]), dense(&[1, 1], &[3f32]));
        matmul(&out, &a, &b, 1.0, 0.5).unwrap();
        assert_eq!(out.raw::<f32>(), [1.5]);
    }

    #[test]
    fn bool_is_refused() {
        let m = || dense(&[1, 1], &[true]);
        assert!(matmul(&m(), &m(), &m(), 1.0, 0.0).is_err());
    }
}

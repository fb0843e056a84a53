//! Sorting, the first few of an order, and the places of what is not zero.

use crate::operand::{Operand, agree, contiguous, layouts, special};
use rushlight_core::backend::{Backend, Sort};
use rushlight_core::mem::with_plan;
use rushlight_core::{DType, Number};
use rushlight_cpu::CpuBackend;
use rushlight_ref::RefBackend;

fn check(input: &Operand, axis: usize, k: usize, descending: bool, out: usize) {
    let mut shape = input.layout.shape().to_vec();
    if let Some(n) = shape.get_mut(axis) {
        *n = k;
    }
    let values = Operand::new(layouts(&shape, false)[out].clone(), input.dtype, |_| Number::Int(1));
    let indices =
        Operand::new(layouts(&shape, false)[(out + 1) % 3].clone(), DType::I64, |_| Number::Int(-9));
    let name = format!("{k} of {} along {axis}, descending: {descending}", input.dtype);
    agree(&name, &[values, indices], &[input], &|b, outs, ins| {
        let (values, indices, input) = (outs[0], outs[1], ins[0]);
        b.sort(&Sort { values, indices, input, axis, descending, stable: true, from: None })
    });
}

#[test]
fn every_dtype_axis_and_layout() {
    for dtype in DType::ALL.iter().filter(|d| !d.is_complex()) {
        for shape in [&[3, 40, 2][..], &[25], &[1, 5], &[0, 3], &[]] {
            for (i, layout) in layouts(shape, true).into_iter().enumerate() {
                let input = Operand::new(layout, *dtype, special(*dtype, 2));
                for axis in 0..shape.len().max(1) {
                    let n = shape.get(axis).copied().unwrap_or(1);
                    for k in [n, n / 2, n.min(1)] {
                        check(&input, axis, k, i % 2 == 0, i % 3);
                        check(&input, axis, k, i % 2 == 1, i % 3);
                    }
                }
            }
        }
    }
}

#[test]
fn long_rows_are_sorted_by_digits() {
    for dtype in [DType::F32, DType::F64, DType::I64, DType::I16, DType::BF16, DType::U8] {
        let input = Operand::new(contiguous(&[2, 5000]), dtype, special(dtype, 2));
        for (k, descending) in [(5000, false), (5000, true), (4500, false), (3, true)] {
            check(&input, 1, k, descending, 0);
        }
    }
}

#[test]
fn places_of_what_is_not_zero() {
    for dtype in DType::ALL {
        for shape in [&[4, 5, 6][..], &[50], &[0, 3], &[1, 1]] {
            for layout in layouts(shape, true) {
                let input = Operand::new(layout, *dtype, special(*dtype, 6));
                let on =
                    |b: &dyn Backend| with_plan("test", &[], &[input.place()], |_, ins| b.nonzero(&ins[0]));
                assert_eq!(on(&CpuBackend).unwrap(), on(&RefBackend).unwrap(), "{dtype} {:?}", input.layout);
            }
        }
    }
}

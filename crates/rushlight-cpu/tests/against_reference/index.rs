//! Gathers and scatters through one and two index tensors.

use crate::operand::{Operand, agree, contiguous, exact, layouts, noise, special};
use rushlight_core::backend::{Backend, Gather, Indexed, Scatter, ScatterOp};
use rushlight_core::mem::with_plan;
use rushlight_core::{DType, Kind, Layout, Number};
use rushlight_cpu::CpuBackend;

/// Positions 0..n, some of them counted from the end.
fn positions(layout: Layout, n: usize, wrap: bool) -> Operand {
    Operand::new(layout, DType::I64, |i| {
        let x = (noise(i) % n as u64) as i64;
        Number::Int(if wrap && i % 3 == 0 { x - n as i64 } else { x })
    })
}

/// A layout over `shape` whose strides are those of the axes that the indices leave alone.
fn still(shape: &[usize], strides: &[isize]) -> Layout {
    Layout::new(shape, strides, 0).unwrap()
}

/// `(shape of the elements, shape of the indexed tensor, axis, strides of the index)`
type Case = ([usize; 2], [usize; 2], usize, [isize; 2]);
const CASES: [Case; 6] = [
    ([6, 40], [9, 40], 0, [1, 0]),    // rows
    ([40, 6], [40, 9], 1, [0, 1]),    // columns
    ([6, 5], [9, 5], 0, [5, 1]),      // elements
    ([6, 5], [6, 9], 1, [5, 1]),      // elements along rows
    ([0, 5], [9, 5], 0, [5, 1]),      // nothing
    ([700, 90], [20, 90], 0, [1, 0]), // enough for threads
];

#[test]
fn gathers() {
    for dtype in DType::ALL {
        for (shape, base, axis, index) in CASES.iter().take(if *dtype == DType::F32 { 6 } else { 5 }) {
            for (k, source) in layouts(base, true).into_iter().enumerate() {
                let mut strides = [source.strides()[0], source.strides()[1]];
                let stride = std::mem::replace(&mut strides[*axis], 0);
                // The whole storage stays in reach; the view says where elements start.
                let mut src = Operand::new(source.clone(), *dtype, special(*dtype, 4));
                src.layout = Layout::new(&shape[..], &strides[..], source.offset()).unwrap();
                for wrap in [false, true] {
                    let index = positions(still(shape, index), base[*axis], wrap);
                    let out = Operand::new(layouts(shape, false)[k % 3].clone(), *dtype, |_| Number::Int(1));
                    agree(&format!("gather of {dtype}"), &[out], &[&src, &index], &|b, outs, ins| {
                        let (size, axis) = (base[*axis], *axis);
                        let indices = [Indexed { index: ins[1], stride, size, axis }];
                        b.gather(&Gather { out: outs[0], src: ins[0], indices: &indices, wrap })
                    });
                }
            }
        }
    }
}

#[test]
fn scatters() {
    use ScatterOp::{Add, Max, Min, Mul, Set};
    for dtype in DType::ALL {
        for op in [Set, Add, Mul, Max, Min] {
            if dtype.is_complex() && matches!(op, Max | Min) {
                continue;
            }
            for (shape, base, axis, index) in CASES.iter().take(5) {
                for (k, target) in layouts(base, false).into_iter().enumerate() {
                    let mut strides = [target.strides()[0], target.strides()[1]];
                    let stride = std::mem::replace(&mut strides[*axis], 0);
                    let mut dst = Operand::new(target.clone(), *dtype, exact(*dtype, 4));
                    dst.layout = Layout::new(&shape[..], &strides[..], target.offset()).unwrap();
                    let source = layouts(shape, true);
                    let src = Operand::new(source[k % source.len()].clone(), *dtype, exact(*dtype, 8));
                    let index = positions(still(shape, index), base[*axis], true);
                    agree(&format!("{op:?} of {dtype}"), &[dst], &[&src, &index], &|b, outs, ins| {
                        let (size, axis) = (base[*axis], *axis);
                        let indices = [Indexed { index: ins[1], stride, size, axis }];
                        b.scatter(&Scatter { dst: outs[0], src: ins[0], indices: &indices, op, wrap: true })
                    });
                }
            }
        }
    }
}

#[test]
fn two_indices() {
    let src = Operand::new(contiguous(&[5, 7]), DType::I32, exact(DType::I32, 1));
    let base = Operand { layout: Layout::new(&[30][..], &[0isize][..], 0).unwrap(), ..src };
    let (rows, columns) = (positions(contiguous(&[30]), 5, false), positions(contiguous(&[33]), 7, false));
    let columns = Operand { layout: Layout::new(&[30][..], &[1isize][..], 3).unwrap(), ..columns };
    let out = Operand::new(contiguous(&[30]), DType::I32, |_| Number::Int(0));
    agree("two indices", &[out], &[&base, &rows, &columns], &|b, outs, ins| {
        let indices = [
            Indexed { index: ins[1], stride: 7, size: 5, axis: 0 },
            Indexed { index: ins[2], stride: 1, size: 7, axis: 1 },
        ];
        b.gather(&Gather { out: outs[0], src: ins[0], indices: &indices, wrap: false })
    });
}

#[test]
fn positions_out_of_range_are_named_and_nothing_is_written() {
    for (bad, wrap, legal) in [(7, false, false), (-1, false, false), (-5, true, true), (-6, true, false)] {
        let src = Operand::new(contiguous(&[5]), DType::F32, exact(DType::F32, 1));
        let still = Layout::new(&[3][..], &[0isize][..], 0).unwrap();
        let base = Operand { layout: still, ..src };
        let index = Operand::new(contiguous(&[3]), DType::I64, |i| Number::Int(if i == 2 { bad } else { 1 }));
        let other = Operand::new(contiguous(&[3]), DType::F32, |_| Number::Int(9));
        let before = (base.numbers(), other.numbers());
        let gather = with_plan("test", &[other.place()], &[base.place(), index.place()], |outs, ins| {
            let indices = [Indexed { index: ins[1], stride: 1, size: 5, axis: 0 }];
            CpuBackend.gather(&Gather { out: outs[0], src: ins[0], indices: &indices, wrap })
        });
        assert_eq!(gather.is_ok(), legal);
        let Err(error) = gather else { continue };
        assert_eq!((error.kind(), error.op()), (Kind::Index, "index"));
        assert_eq!(error.text(), format!("index {bad} is out of range for dimension 0 of size 5"));
        let scatter = with_plan("test", &[base.place()], &[other.place(), index.place()], |outs, ins| {
            let indices = [Indexed { index: ins[1], stride: 1, size: 5, axis: 0 }];
            let op = ScatterOp::Set;
            CpuBackend.scatter(&Scatter { dst: outs[0], src: ins[0], indices: &indices, op, wrap })
        });
        assert!(scatter.is_err());
        assert_eq!((base.numbers(), other.numbers()), before);
    }
}

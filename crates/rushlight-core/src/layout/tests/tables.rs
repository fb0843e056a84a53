//! Rows observed in torch, one by one.

use super::*;
use crate::Kind;

/// shape, strides, offset of a result.
fn parts(l: &Layout) -> (Vec<usize>, Vec<isize>, usize) {
    (l.shape().to_vec(), l.strides().to_vec(), l.offset())
}

fn base() -> Layout {
    c_order(&[2, 3, 4])
}

#[test]
fn view_exists() {
    type Row = (&'static [usize], &'static [isize], &'static [usize], Option<&'static [isize]>);
    let rows: [Row; 16] = [
        (&[2, 3, 4], &[12, 4, 1], &[6, 4], Some(&[4, 1])),
        (&[3, 2, 4], &[4, 12, 1], &[6, 4], None),
        (&[3, 2, 4], &[4, 12, 1], &[3, 2, 2, 2], Some(&[4, 12, 2, 1])),
        (&[4, 3], &[1, 4], &[12], None),
        (&[6], &[2], &[2, 3], Some(&[6, 2])),
        (&[2, 2, 4], &[12, 8, 1], &[2, 8], None),
        (&[3, 4], &[0, 1], &[3, 2, 2], Some(&[0, 2, 1])),
        (&[3, 4], &[0, 0], &[12], Some(&[0])),
        (&[1, 3, 4, 5], &[60, 1, 15, 3], &[1, 3, 20], Some(&[3, 1, 3])),
        (&[2, 1, 3], &[3, 99, 1], &[6], Some(&[1])),
        (&[2, 3], &[3, 1], &[1, 2, 1, 3, 1], Some(&[6, 3, 3, 1, 1])),
        (&[0, 3], &[3, 1], &[3, 0], Some(&[1, 1])),
        (&[0, 3], &[7, 9], &[0, 3], Some(&[7, 9])),
        (&[], &[], &[1, 1], Some(&[1, 1])),
        (&[4, 5], &[10, 2], &[20], Some(&[2])),
        (&[4, 5], &[10, 2], &[2, 2, 5], Some(&[20, 10, 2])),
    ];
    for (k, (shape, strides, new, want)) in rows.into_iter().enumerate() {
        let got = layout(shape, strides, 0).try_view(new);
        assert_eq!(got.as_deref(), want, "row {}", k + 1);
    }
}

#[test]
fn view_errors_say_what_does_not_merge() {
    let e = layout(&[4, 3], &[1, 4], 0).view(&[12]).unwrap_err();
    assert_eq!((e.kind(), e.op()), (Kind::Runtime, "view"));
    assert!(e.text().contains("[4, 3]") && e.text().contains("reshape"), "{e}");
    for sizes in [&[-1, -1][..], &[5, -1], &[-2, 12], &[7], &[0, -1], &[isize::MAX, isize::MAX]] {
        assert_eq!(base().view(sizes).unwrap_err().kind(), Kind::Runtime, "{sizes:?}");
    }
    assert_eq!(c_order(&[0, 3]).view(&[0, -1]).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(c_order(&[0, 3]).view(&[3, -1]).unwrap().shape(), [3, 0]);
    assert_eq!(base().view(&[4, -1]).unwrap().shape(), [4, 6]);
    assert_eq!(Layout::scalar().view(&[-1]).unwrap().shape(), [1]);
}

#[test]
fn contiguity() {
    assert_eq!(c_order(&[2, 0, 3]).strides(), [3, 3, 1]);
    assert_eq!(c_order(&[0]).strides(), [1]);
    assert!(Layout::scalar().is_contiguous());
    assert!(layout(&[2, 0], &[7, 9], 0).is_contiguous());
    assert!(layout(&[2, 1, 3], &[3, 99, 1], 0).is_contiguous());
    assert!(!layout(&[4, 3], &[1, 4], 0).is_contiguous());
    assert!(layout(&[4, 3, 1, 1], &[3, 1, 1, 1], 0).is_contiguous());
    assert!(layout(&[4, 3, 1, 1], &[3, 1, 1, 1], 0).is_channels_last());
    assert!(layout(&[2, 3, 4, 5], &[60, 1, 15, 3], 0).is_channels_last());
    assert!(!layout(&[0, 3, 4, 5], &[60, 20, 5, 1], 0).is_channels_last());
    assert!(!layout(&[4, 3], &[1, 4], 0).is_channels_last());
    assert_eq!(channels_last_strides(&[2, 3, 4, 5]).as_deref(), Some(&[60, 1, 15, 3][..]));
    assert_eq!(channels_last_strides(&[2, 3, 4]), None);
}

#[test]
fn copies_that_preserve_strides() {
    let preserved =
        |shape: &[usize], strides: &[isize]| layout(shape, strides, 0).preserve_strides().into_vec();
    assert_eq!(preserved(&[4, 3], &[1, 4]), [1, 4]);
    assert_eq!(preserved(&[2, 1, 3], &[3, 99, 1]), [3, 99, 1]);
    assert_eq!(preserved(&[0, 3], &[7, 9]), [7, 9]);
    assert_eq!(preserved(&[3, 4], &[1, 0]), [4, 1]);
    assert_eq!(preserved(&[4, 3], &[2, 8]), [1, 4]);
}

#[test]
fn elementwise() {
    type Operand = (&'static [usize], &'static [isize]);
    const NUMBER: Operand = (&[], &[]);
    const T34: Operand = (&[4, 3], &[1, 4]);
    const CL: Operand = (&[2, 3, 4, 5], &[60, 1, 15, 3]);
    const CF: Operand = (&[2, 3, 4, 5], &[60, 20, 5, 1]);
    let rows: &[(&[Operand], &[isize])] = &[
        (&[T34, T34], &[1, 4]),
        (&[T34, (&[4, 3], &[3, 1])], &[1, 4]),
        (&[(&[4, 3], &[3, 1]), T34], &[3, 1]),
        (&[T34, NUMBER], &[1, 4]),
        (&[(&[2, 3, 4], &[1, 12, 4]), NUMBER], &[1, 8, 2]),
        (&[(&[4, 2, 3], &[1, 12, 4]), NUMBER], &[1, 12, 4]),
        (&[(&[3, 4], &[1, 0]), NUMBER], &[4, 1]),
        (&[(&[3, 2], &[4, 2]), NUMBER], &[2, 1]),
        (&[(&[4, 3], &[2, 8]), NUMBER], &[1, 4]),
        (&[CL, CF], CL.1),
        (&[CF, CL], CF.1),
        (&[CL, (&[3, 1, 1], &[1, 1, 1])], CL.1),
        (&[(&[1, 4], &[4, 1]), (&[3, 1], &[1, 3])], &[4, 1]),
        (&[(&[0, 3], &[7, 9]), NUMBER], &[1, 0]),
        (&[(&[3, 0], &[0, 0]), NUMBER], &[1, 1]),
        (&[NUMBER, NUMBER], &[]),
        (&[], &[]),
    ];
    for (operands, want) in rows {
        let shapes: Vec<&[usize]> = operands.iter().map(|o| o.0).collect();
        let out = broadcast_shapes("add", &shapes).unwrap();
        assert_eq!(elementwise_strides(operands, &out).as_slice(), *want, "{operands:?}");
    }
}

#[test]
fn select_slice_narrow() {
    assert_eq!(parts(&base().select(1, -1).unwrap()), (vec![2, 4], vec![12, 1], 8));
    assert_eq!(parts(&base().slice(1, Some(2), Some(1), 1).unwrap()), (vec![2, 0, 4], vec![12, 4, 1], 8));
    assert_eq!(parts(&base().slice(0, Some(5), None, 1).unwrap()), (vec![0, 3, 4], vec![12, 4, 1], 24));
    assert_eq!(parts(&base().slice(2, None, None, 3).unwrap()), (vec![2, 3, 2], vec![12, 4, 3], 0));
    assert_eq!(parts(&base().slice(2, Some(-3), Some(-1), 1).unwrap()), (vec![2, 3, 2], vec![12, 4, 1], 1));
    assert_eq!(base().slice(2, None, None, isize::MAX).unwrap().shape(), [2, 3, 1]);
    assert_eq!(parts(&base().narrow(2, -2, 2).unwrap()), (vec![2, 3, 2], vec![12, 4, 1], 2));
    assert_eq!(base().narrow(0, 2, 0).unwrap().shape(), [0, 3, 4]);

    let kind = |r: Result<Layout>| r.unwrap_err().kind();
    assert_eq!(kind(base().select(0, 2)), Kind::Index);
    assert_eq!(kind(base().select(0, -3)), Kind::Index);
    assert_eq!(kind(base().select(3, 0)), Kind::Index);
    assert_eq!(kind(Layout::scalar().select(0, 0)), Kind::Index);
    assert_eq!(kind(Layout::scalar().slice(0, None, None, 1)), Kind::Index);
    assert_eq!(kind(base().slice(0, None, None, 0)), Kind::Value);
    assert_eq!(kind(base().slice(0, None, None, -1)), Kind::Value);
    assert_eq!(kind(base().narrow(0, 3, 0)), Kind::Index);
    assert_eq!(kind(base().narrow(0, 1, 2)), Kind::Runtime);
    assert_eq!(kind(base().narrow(0, 0, -1)), Kind::Runtime);
    assert_eq!(kind(base().narrow(0, 0, isize::MAX)), Kind::Runtime);
    assert_eq!(kind(Layout::scalar().narrow(0, 0, 0)), Kind::Runtime);
}

#[test]
fn dims_come_and_go() {
    assert_eq!(c_order(&[0, 3]).unsqueeze(0).unwrap().strides(), [0, 3, 1]);
    assert_eq!(c_order(&[2, 0]).unsqueeze(1).unwrap().strides(), [1, 0, 1]);
    assert_eq!(base().unsqueeze(-1).unwrap().strides(), [12, 4, 1, 1]);
    assert_eq!(base().unsqueeze(4).unwrap_err().kind(), Kind::Index);
    assert_eq!(base().unsqueeze(-5).unwrap_err().kind(), Kind::Index);
    let ones = c_order(&[1, 3, 1]);
    assert_eq!(ones.squeeze_all().shape(), [3]);
    assert_eq!(ones.squeeze(&[0, 1]).unwrap().shape(), [3, 1]);
    assert_eq!(ones.squeeze(&[]).unwrap().shape(), [1, 3, 1]);
    assert_eq!(ones.squeeze(&[0, -3]).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(ones.squeeze(&[3]).unwrap_err().kind(), Kind::Index);
    assert!(Layout::scalar().squeeze(&[-1]).is_ok());
    assert!(Layout::scalar().transpose(0, -1).is_ok());
    assert_eq!(Layout::scalar().transpose(0, 1).unwrap_err().kind(), Kind::Index);
    assert_eq!(base().t().unwrap_err().kind(), Kind::Runtime);
    assert_eq!(c_order(&[3]).matrix_transpose().unwrap_err().kind(), Kind::Runtime);
    assert_eq!(base().permute(&[0, 1]).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(base().permute(&[0, 1, -2]).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(base().permute(&[0, 1, 3]).unwrap_err().kind(), Kind::Index);
    assert_eq!(base().permute(&[2, 0, -2]).unwrap().strides(), [1, 12, 4]);
    assert_eq!(base().movedim(&[0], &[-1]).unwrap().shape(), [3, 4, 2]);
    assert_eq!(base().movedim(&[2, 0], &[0, 1]).unwrap().shape(), [4, 2, 3]);
    assert_eq!(base().movedim(&[0, 0], &[0, 1]).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(Layout::scalar().movedim(&[0], &[0]).unwrap(), Layout::scalar());
}

#[test]
fn expanding() {
    let column = c_order(&[3, 1]);
    assert_eq!(column.expand(&[-1, 4]).unwrap().strides(), [1, 0]);
    assert_eq!(column.expand(&[1, 3, 1]).unwrap().strides(), [3, 1, 1]);
    assert_eq!(column.expand(&[2, 3, 1]).unwrap().strides(), [0, 1, 1]);
    assert_eq!(column.expand(&[3, 0]).unwrap().strides(), [1, 0]);
    assert_eq!(Layout::scalar().expand(&[1, 2]).unwrap().strides(), [0, 0]);
    for sizes in [&[3][..], &[-1, 3, 1], &[2, 1], &[3, -2], &[1 << 40, 1 << 40, 3, 1]] {
        assert_eq!(column.expand(sizes).unwrap_err().kind(), Kind::Runtime, "{sizes:?}");
    }
    assert!(Layout::scalar().expand(&[-1]).is_err());
    assert!(c_order(&[0]).expand(&[1]).is_err());
    let e = broadcast_shapes("add", &[&[2, 3], &[4]]).unwrap_err();
    assert_eq!(e.kind(), Kind::Runtime);
    assert!(e.text().contains("[2, 3]") && e.text().contains("[4]") && e.text().contains("-1"), "{e}");
    assert_eq!(broadcast_shapes("add", &[&[0], &[1]]).unwrap().as_slice(), [0]);
    assert!(broadcast_shapes("add", &[&[0], &[2]]).is_err());
    assert!(broadcast_shapes("add", &[&[1 << 40, 1], &[1, 1 << 40]]).is_err());
}

#[test]
fn diagonals_and_windows() {
    let m = c_order(&[3, 4]);
    assert_eq!(parts(&m.diagonal(1, 0, 1).unwrap()), (vec![3], vec![5], 1));
    assert_eq!(parts(&m.diagonal(-1, 0, 1).unwrap()), (vec![2], vec![5], 4));
    assert_eq!(parts(&m.diagonal(9, 0, 1).unwrap()), (vec![0], vec![5], 0));
    assert_eq!(parts(&m.diagonal(isize::MIN, 0, 1).unwrap()), (vec![0], vec![5], 0));
    assert_eq!(m.diagonal(0, 1, -1).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(c_order(&[3]).diagonal(0, 0, 1).unwrap_err().kind(), Kind::Index);
    let v = c_order(&[8]);
    assert_eq!(parts(&v.unfold(0, 3, 2).unwrap()), (vec![3, 3], vec![2, 1], 0));
    assert_eq!(v.unfold(0, 0, 3).unwrap().shape(), [3, 0]);
    assert_eq!(parts(&Layout::scalar().unfold(-1, 1, 1).unwrap()), (vec![1], vec![1], 0));
    for (size, step) in [(9, 1), (-1, 1), (1, 0), (1, -1)] {
        assert_eq!(v.unfold(0, size, step).unwrap_err().kind(), Kind::Runtime);
    }
}

#[test]
fn strided_and_other_element_sizes() {
    let row = base().select(0, 1).unwrap();
    assert_eq!(row.as_strided(&[2], &[3], None).unwrap().offset(), 12);
    assert_eq!(row.as_strided(&[2], &[3], Some(1)).unwrap().storage_elements(), 5);
    assert_eq!(row.as_strided(&[0], &[3], Some(1000)).unwrap().storage_elements(), 0);
    for bad in [
        row.as_strided(&[2], &[-1], None),
        row.as_strided(&[-2], &[1], None),
        row.as_strided(&[2], &[1], Some(-1)),
        row.as_strided(&[2], &[1, 1], None),
        row.as_strided(&[2], &[isize::MAX], Some(isize::MAX)),
        row.as_strided(&[isize::MAX], &[isize::MAX], None),
    ] {
        assert_eq!(bad.unwrap_err().kind(), Kind::Runtime);
    }
    assert_eq!(parts(&row.view_dtype(4, 8).unwrap()), (vec![3, 2], vec![2, 1], 6));
    assert_eq!(parts(&row.view_dtype(4, 2).unwrap()), (vec![3, 8], vec![8, 1], 24));
    assert_eq!(Layout::scalar().view_dtype(4, 4).unwrap(), Layout::scalar());
    for bad in [
        Layout::scalar().view_dtype(4, 8),
        Layout::scalar().view_dtype(8, 4),
        c_order(&[2, 3]).view_dtype(4, 8),
        c_order(&[2, 0]).view_dtype(4, 8),
        layout(&[2, 2], &[3, 1], 0).view_dtype(4, 8),
        layout(&[2], &[1], 1).view_dtype(4, 8),
        layout(&[2], &[2], 0).view_dtype(8, 4),
    ] {
        assert_eq!(bad.unwrap_err().kind(), Kind::Runtime);
    }
    let z = layout(&[2, 3], &[3, 1], 1);
    assert_eq!(parts(&z.complex_part(1).unwrap()), (vec![2, 3], vec![6, 2], 3));
    let r = z.view_as_real().unwrap();
    assert_eq!(parts(&r), (vec![2, 3, 2], vec![6, 2, 1], 2));
    assert_eq!(r.view_as_complex().unwrap(), z);
    for bad in [c_order(&[3]), layout(&[2, 2], &[3, 1], 0), layout(&[2], &[1], 1), Layout::scalar()] {
        assert_eq!(bad.view_as_complex().unwrap_err().kind(), Kind::Runtime);
    }
}

#[test]
fn flatten_and_unflatten() {
    assert_eq!(base().flatten_shape(0, -1).unwrap().as_slice(), [24]);
    assert_eq!(base().flatten_shape(1, 2).unwrap().as_slice(), [2, 12]);
    assert_eq!(Layout::scalar().flatten_shape(0, -1).unwrap().as_slice(), [1]);
    assert_eq!(base().flatten_shape(2, 1).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(base().flatten_shape(0, 3).unwrap_err().kind(), Kind::Index);
    let turned = base().transpose(0, 2).unwrap();
    assert_eq!(turned.unflatten(0, &[2, -1]).unwrap().strides(), [2, 1, 4, 12]);
    assert_eq!(base().unflatten(0, &[]).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(base().unflatten(0, &[3, -1]).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(base().unflatten(5, &[2]).unwrap_err().kind(), Kind::Index);
}

#[test]
fn pieces() {
    let lens = |r: Result<Vec<std::ops::Range<usize>>>| -> Vec<usize> {
        r.unwrap().into_iter().map(|p| p.len()).collect()
    };
    assert_eq!(split_ranges(5, 2).unwrap(), [0..2, 2..4, 4..5]);
    assert_eq!(split_ranges(5, isize::MAX).unwrap(), vec![0..5]);
    assert_eq!(lens(split_ranges(0, 3)), [0]);
    assert_eq!(lens(split_ranges(0, 0)), [0]);
    assert_eq!(split_ranges(3, 0).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(split_ranges(3, -1).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(lens(chunk_ranges(4, 3)), [2, 2]);
    assert_eq!(lens(chunk_ranges(0, 4)), [0, 0, 0, 0]);
    assert_eq!(chunk_ranges(3, 0).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(lens(tensor_split_ranges(5, 3)), [2, 2, 1]);
    assert_eq!(lens(tensor_split_ranges(1, 3)), [1, 0, 0]);
    assert_eq!(tensor_split_ranges(1, isize::MAX).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(lens(tensor_split_at_ranges(3, &[2, 1])), [2, 0, 2]);
    assert_eq!(tensor_split_at_ranges(4, &[-1, 9]).unwrap(), [0..3, 3..4, 4..4]);
    assert_eq!(split_with_sizes_ranges(3, &[1, 0, 2]).unwrap(), [0..1, 1..1, 1..3]);
    assert_eq!(split_with_sizes_ranges(3, &[1, 1]).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(split_with_sizes_ranges(3, &[4, -1]).unwrap_err().kind(), Kind::Runtime);
}

#[test]
fn sizes_that_cannot_be_counted() {
    let huge = Shape::from_slice(&[1 << 40, 1 << 40]);
    assert_eq!(Layout::contiguous(huge).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(checked_numel("zeros", &[3, 0, 2]).unwrap(), 0);
    assert!(checked_bytes("zeros", &[1 << 61], 8).is_err());
    assert_eq!(checked_bytes("zeros", &[3], 8).unwrap(), 24);
    assert!(checked_shape("zeros", &[2, -1]).is_err());
    assert!(Layout::new(Shape::from_slice(&[2]), Strides::from_slice(&[-1]), 0).is_err());
    assert_eq!(layout(&[3], &[-1], 2).extent(), Some((0, 3)));
    assert_eq!(layout(&[1], &[isize::MIN], 2).extent(), Some((2, 3)));
    assert!(base().with_offset(usize::MAX).is_err());
}

//! Rows for random layouts, in `golden.txt`, from a separate model whose rules were compared with
//! torch 2.15: the op, its lists, the result.
use super::*;
use std::fmt::Debug;
use std::str::FromStr;

/// `[1,2]` as a list; `none` as nothing.
fn list<T: FromStr<Err: Debug>>(text: &str) -> Option<Vec<T>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']').unwrap();
    Some(inner.split(',').filter(|s| !s.is_empty()).map(|s| s.parse().unwrap()).collect())
}

fn at(shape: &str, strides: &str, offset: usize) -> Layout {
    layout(&list(shape).unwrap(), &list(strides).unwrap(), offset)
}

fn check(row: &str) {
    let words: Vec<&str> = row.split(' ').collect();
    match words[..] {
        ["flags", shape, strides, want] => {
            let l = at(shape, strides, 0);
            let overlap = match l.internal_overlap() {
                InternalOverlap::No => 0,
                InternalOverlap::Yes => 1,
                InternalOverlap::TooHard => 2,
            };
            let flags = [l.is_contiguous(), l.is_channels_last(), l.is_dense()];
            let got: String = flags.iter().map(|f| if *f { '1' } else { '0' }).collect();
            assert_eq!(format!("{got}{overlap}"), want, "{row}");
        }
        ["keep", shape, strides, want] => {
            let got = at(shape, strides, 0).preserve_strides();
            assert_eq!(Some(got.into_vec()), list(want), "{row}");
        }
        ["view", shape, strides, new, want] => {
            let got = at(shape, strides, 0).try_view(&list::<usize>(new).unwrap());
            assert_eq!(got.map(|s| s.into_vec()), list(want), "{row}");
        }
        ["expand", shape, strides, sizes, want_shape, want_strides] => {
            let got = at(shape, strides, 0).expand(&list::<isize>(sizes).unwrap()).ok();
            assert_eq!(got.as_ref().map(|l| l.shape().to_vec()), list(want_shape), "{row}");
            assert_eq!(got.map(|l| l.strides().to_vec()), list(want_strides), "{row}");
        }
        ["elementwise", ref operands @ .., want] => {
            let operands: Vec<Layout> = operands.chunks(2).map(|o| at(o[0], o[1], 0)).collect();
            let shapes: Vec<&[usize]> = operands.iter().map(|l| l.shape()).collect();
            let out = broadcast_shapes("add", &shapes).unwrap();
            let parts: Vec<_> = operands.iter().map(|l| l.parts()).collect();
            assert_eq!(Some(elementwise_strides(&parts, &out).into_vec()), list(want), "{row}");
        }
        ["pair", a_shape, a_strides, a_offset, b_shape, b_strides, b_offset, want] => {
            let a = at(a_shape, a_strides, a_offset.parse().unwrap());
            let b = at(b_shape, b_strides, b_offset.parse().unwrap());
            let got = format!("{:?}", pair_overlap(&a, 4, &b, 4)).to_lowercase();
            assert_eq!(got, want, "{row}");
        }
        _ => panic!("unreadable row: {row}"),
    }
}

#[test]
fn rows_of_the_model() {
    let rows: Vec<&str> = include_str!("golden.txt").lines().collect();
    assert!(rows.len() > 500, "golden.txt is cut short");
    rows.into_iter().for_each(check);
}

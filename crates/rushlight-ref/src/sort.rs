//! Order along an axis, and the places of what is not zero.

use crate::index::{each, each_line, offset};
use rushlight_core::backend::Sort;
use rushlight_core::mem::Span;
use rushlight_core::{Number, Result, Shape, bail, ensure};
use std::cmp::Ordering;

/// Always stable: a legal order for calls that do not ask for it too.
pub(crate) fn run(call: &Sort<'_>) -> Result<()> {
    ensure!(
        !call.input.dtype().is_complex(),
        NotImplemented,
        "sort",
        "complex numbers have no order; sort their abs()"
    );
    let shape = call.input.layout().shape();
    let length = |shape: &[usize]| shape.get(call.axis).copied().unwrap_or(1);
    each_line(shape, call.axis, |start| {
        let at = |i: usize| {
            let mut index = Shape::from_slice(start);
            if let Some(at) = index.get_mut(call.axis) {
                *at = i;
            }
            index
        };
        let load = |i| call.input.load(offset(call.input.layout(), &at(i)));
        let mut line: Vec<(Number, usize)> = (0..length(shape)).map(|i| (load(i), i)).collect();
        line.sort_by(|(a, _), (b, _)| if call.descending { order(*b, *a) } else { order(*a, *b) });
        let k = length(call.values.layout().shape());
        let skip = match &call.from {
            Some(from) if k > 0 => from.get::<i64>(offset(from.layout(), &at(0))),
            _ => 0,
        };
        let skip =
            usize::try_from(skip).ok().filter(|s| s.checked_add(k).is_some_and(|end| end <= line.len()));
        let Some(skip) = skip else {
            bail!(Index, "sort", "the {k} places wanted do not lie in an order of {}", line.len())
        };
        for (i, (value, from)) in line.into_iter().skip(skip).take(k).enumerate() {
            call.values.store(offset(call.values.layout(), &at(i)), value);
            call.indices.set(offset(call.indices.layout(), &at(i)), from as i64);
        }
        Ok(())
    })
}

/// NaN is the largest, and equal to NaN; -0 is equal to 0.
fn order(a: Number, b: Number) -> Ordering {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => a.cmp(&b),
        (Number::UInt(a), Number::UInt(b)) => a.cmp(&b),
        (a, b) => {
            let (a, b) = (a.to_f64(), b.to_f64());
            a.partial_cmp(&b).unwrap_or(a.is_nan().cmp(&b.is_nan()))
        }
    }
}

/// All positions on axis 0 in row-major order, then all on axis 1, and so on.
pub(crate) fn nonzero(input: &Span<'_>) -> Vec<i64> {
    let mut places: Vec<Shape> = Vec::new();
    // The closure never fails.
    let _ = each(input.layout().shape(), |index| {
        if input.load(offset(input.layout(), index)).to_bool() {
            places.push(Shape::from_slice(index));
        }
        Ok(())
    });
    (0..input.layout().rank()).flat_map(|d| places.iter().map(move |p| p[d] as i64)).collect()
}

#[cfg(test)]
mod tests {
    use crate::RefBackend;
    use crate::testing::{dense, run};
    use rushlight_core::backend::{Backend, Sort};

    fn sorted(x: &[f32], k: usize, descending: bool) -> (Vec<f32>, Vec<i64>) {
        let (input, values, indices) =
            (dense(&[x.len()], x), dense(&[k], &vec![0f32; k]), dense(&[k], &vec![0i64; k]));
        run(&[&values, &indices], &[&input], |outs, ins| {
            RefBackend.sort(&Sort {
                values: outs[0],
                indices: outs[1],
                input: ins[0],
                axis: 0,
                descending,
                stable: true,
                from: None,
            })
        })
        .unwrap();
        (values.raw(), indices.raw())
    }

    #[test]
    fn nan_is_the_largest_and_ties_keep_their_order() {
        let x = [2.0, f32::NAN, 0.0, 1.0, -0.0, 2.0];
        assert_eq!(sorted(&x, 6, false).1, [2, 4, 3, 0, 5, 1]);
        assert_eq!(sorted(&x, 6, true).1, [1, 0, 5, 3, 2, 4]);
        assert_eq!(sorted(&x, 2, false), (vec![0.0, -0.0], vec![2, 4]));
    }

    #[test]
    fn along_an_outer_axis() {
        let (input, values, indices) =
            (dense(&[2, 2], &[3u64, 1, u64::MAX, 0]), dense(&[2, 2], &[0u64; 4]), dense(&[2, 2], &[0i64; 4]));
        run(&[&values, &indices], &[&input], |outs, ins| {
            let (values, indices, input) = (outs[0], outs[1], ins[0]);
            RefBackend.sort(&Sort {
                values,
                indices,
                input,
                axis: 0,
                descending: true,
                stable: true,
                from: None,
            })
        })
        .unwrap();
        assert_eq!(values.raw::<u64>(), [u64::MAX, 1, 3, 0]);
        assert_eq!(indices.raw::<i64>(), [1, 0, 0, 1]);
    }

    #[test]
    fn places_of_what_is_not_zero() {
        let x = dense(&[2, 3], &[0f32, 1.0, f32::NAN, -0.0, 0.0, 5.0]);
        let places = run(&[], &[&x], |_, ins| RefBackend.nonzero(&ins[0])).unwrap();
        assert_eq!(places, [0, 0, 1, 1, 2, 2]);
    }
}

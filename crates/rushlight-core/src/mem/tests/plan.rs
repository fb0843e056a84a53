use super::*;
use crate::Kind;
use std::sync::{Arc, Barrier};

/// `out[i] += other[i]`, element by element, through any layouts of rank 1.
fn add(op: &'static str, out: Place<'_>, other: Place<'_>) -> crate::Result<()> {
    with_plan(op, &[out], &[out, other], |outs, ins| {
        let step = |layout: &Layout| layout.strides()[0];
        for i in 0..outs[0].numel() as isize {
            let sum =
                ins[0].get::<i64>(i * step(ins[0].layout())) + ins[1].get::<i64>(i * step(ins[1].layout()));
            outs[0].set(i * step(outs[0].layout()), sum);
        }
        Ok(())
    })
}

#[test]
fn one_storage_may_be_output_and_input() {
    let storage = of(&[1i64, 2, 3, 4]);
    let layout = row(4);
    let all = place(&storage, &layout, DType::I64);
    add("add_", all, all).unwrap();
    assert_eq!(read::<i64>(&storage), [2, 4, 6, 8]);
}

#[test]
fn two_views_of_one_storage_work_together() {
    let storage = of(&[1i64, 2, 3, 4]);
    let (front, back, flipped) = (strided(&[2], &[1], 0), strided(&[2], &[1], 2), strided(&[2], &[-1], 3));
    add("add_", place(&storage, &front, DType::I64), place(&storage, &back, DType::I64)).unwrap();
    assert_eq!(read::<i64>(&storage), [4, 6, 3, 4]);
    add("add_", place(&storage, &front, DType::I64), place(&storage, &flipped, DType::I64)).unwrap();
    assert_eq!(read::<i64>(&storage), [8, 9, 3, 4]);
}

#[test]
fn operands_come_in_the_order_given() {
    let storages: Vec<Storage> = (0..20u8).map(|i| of(&[i])).collect();
    let layout = row(1);
    // Both orders of address occur, whatever the allocator gave; every other one twice.
    for step in [1usize, 7, 13, 19] {
        let order: Vec<usize> = (0..40).map(|i| i * step % 20).collect();
        let ins: Vec<Place<'_>> = order.iter().map(|i| place(&storages[*i], &layout, DType::U8)).collect();
        let seen = with_plan("cat", &[ins[3]], &ins, |outs, ins| {
            assert_eq!(outs[0].get::<u8>(0), order[3] as u8);
            Ok(ins.iter().map(|s| s.get::<u8>(0) as usize).collect::<Vec<_>>())
        });
        assert_eq!(seen.unwrap(), order);
    }
    assert!(with_plan("none", &[], &[], |outs, ins| Ok(outs.is_empty() && ins.is_empty())).unwrap());
}

#[test]
fn adding_each_to_the_other_on_two_threads_does_not_deadlock() {
    within(20, || {
        let (a, b) = (of(&[1i64]), of(&[1i64]));
        let start = Arc::new(Barrier::new(2));
        let run = |x: Storage, y: Storage, start: Arc<Barrier>| {
            move || {
                let layout = row(1);
                start.wait();
                for _ in 0..20_000 {
                    with_plan(
                        "swap",
                        &[place(&x, &layout, DType::I64)],
                        &[place(&y, &layout, DType::I64)],
                        |outs, ins| {
                            let next = outs[0].get::<i64>(0).wrapping_add(ins[0].get::<i64>(0)) | 1;
                            outs[0].set(0, next);
                            Ok(())
                        },
                    )
                    .unwrap();
                }
            }
        };
        let other = std::thread::spawn(run(b.clone(), a.clone(), start.clone()));
        run(a, b, start)();
        other.join().unwrap();
    });
}

#[test]
fn a_layout_that_no_longer_fits_is_an_error() {
    let storage = of(&[1f32, 2.0, 3.0, 4.0]);
    let (all, two) = (row(4), row(2));
    let use_it =
        |layout: &Layout| with_plan("neg", &[], &[place(&storage, layout, DType::F32)], |_, _| Ok(()));
    use_it(&all).unwrap();
    storage.resize(8).unwrap();
    let error = use_it(&all).unwrap_err();
    assert_eq!((error.kind(), error.op()), (Kind::Runtime, "neg"));
    assert!(error.text().contains("16 bytes") && error.text().contains("has 8"), "{error}");
    use_it(&two).unwrap();
    storage.resize(0).unwrap();
    assert!(use_it(&two).is_err());
    use_it(&row(0)).unwrap();
    // An error leaves nothing locked.
    storage.resize(16).unwrap();
    assert_eq!(read::<f32>(&storage), [0.0; 4]);
}

#[test]
fn bounds_are_those_of_the_elements_reached() {
    let storage = of(&[0u16; 10]);
    let table: &[(&[usize], &[isize], usize, bool)] = &[
        (&[], &[], 9, true),
        (&[], &[], 10, false),
        (&[10], &[1], 0, true),
        (&[10], &[1], 1, false),
        (&[10], &[-1], 9, true),
        (&[1, 5], &[isize::MAX, 2], 1, true),
        (&[1, 5], &[-7, 2], 2, false),
        (&[2, 5], &[5, 1], 0, true),
        (&[5, 2], &[1, 5], 0, true),
        (&[1000], &[0], 9, true),
        (&[3, 4], &[-4, 1], 8, false),
        (&[3, 2], &[-4, 1], 8, true),
        (&[0, 4], &[1, 1], 500, true),
        (&[2, 0], &[1 << 40, 1], 0, true),
        (&[2], &[1 << 40], 0, false),
    ];
    for &(shape, strides, offset, fits) in table {
        let layout = strided(shape, strides, offset);
        let result = with_plan("check", &[], &[place(&storage, &layout, DType::U16)], |_, _| Ok(()));
        assert_eq!(result.is_ok(), fits, "{shape:?} {strides:?} {offset}: {result:?}");
    }
}

#[test]
fn bounds_agree_with_listing_every_element() {
    let mut state = 1u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let (mut inside, mut outside) = (0, 0);
    for _ in 0..20_000 {
        let rank = below(4) as usize;
        let shape: Vec<usize> = (0..rank).map(|_| below(5) as usize).collect();
        let strides: Vec<isize> = (0..rank).map(|_| below(13) as isize - 4).collect();
        let offset = below(20) as usize;
        let mut reached = vec![offset as isize];
        for (n, stride) in shape.iter().zip(&strides) {
            reached = reached.iter().flat_map(|at| (0..*n as isize).map(move |i| at + i * stride)).collect();
        }
        let Ok(layout) = Layout::new(&shape[..], &strides[..], offset) else {
            assert!(reached.iter().any(|at| *at < 0));
            continue;
        };
        let elements = below(40) as usize;
        let expect = reached.iter().all(|at| (0..elements as isize).contains(at));
        assert_eq!(bounds::fits(&layout, DType::I32, elements * 4), expect, "{layout:?} in {elements}");
        assert_eq!(bounds::fits(&layout, DType::I32, elements * 4 + 3), expect);
        *(if expect { &mut inside } else { &mut outside }) += 1;
    }
    assert!(inside > 2000 && outside > 2000, "{inside} {outside}");
}

#[test]
fn a_plan_inside_a_plan_is_an_error() {
    let (a, b) = (of(&[1u8]), of(&[2u8]));
    let layout = row(1);
    let inner = with_plan("outer", &[place(&a, &layout, DType::U8)], &[], |_, _| {
        with_plan("inner", &[], &[place(&b, &layout, DType::U8)], |_, _| Ok(()))
    });
    let error = inner.unwrap_err();
    assert_eq!((error.kind(), error.op()), (Kind::Runtime, "inner"));
    assert!(error.text().contains("outer"), "{error}");
    assert_eq!(read::<u8>(&b), [2]);
}

#[test]
fn readers_share() {
    within(20, || {
        let storage = of(&[7u8]);
        let both_inside = Arc::new(Barrier::new(2));
        let reader = |storage: Storage, both: Arc<Barrier>| {
            move || {
                let layout = row(1);
                with_plan("read", &[], &[place(&storage, &layout, DType::U8)], |_, _| {
                    both.wait(); // returns only when the other reader is inside as well
                    Ok(())
                })
                .unwrap();
            }
        };
        let other = std::thread::spawn(reader(storage.clone(), both_inside.clone()));
        reader(storage, both_inside)();
        other.join().unwrap();
    });
}

use super::*;
use crate::Kind;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn sum(out: &mut Storage, ins: &[Place<'_>]) -> crate::Result<()> {
    let layout = row(out.nbytes() / 8);
    with_fresh("add", (out, &layout, DType::I64), ins, |outs, ins| {
        for i in 0..layout.numel() as isize {
            outs[0].set(i, ins.iter().map(|s| s.get::<i64>(i)).sum::<i64>());
        }
        Ok(())
    })
}

#[test]
fn any_number_of_inputs_in_any_order() {
    let (a, b, c, layout) = (of(&[1i64, 2]), of(&[10i64, 20]), of(&[100i64, 200]), row(2));
    let [a, b, c] = [&a, &b, &c].map(|s| place(s, &layout, DType::I64));
    let cases: [(&[Place<'_>], [i64; 2]); 6] = [
        (&[], [0, 0]),
        (&[a], [1, 2]),
        (&[a, a], [2, 4]),
        (&[a, b], [11, 22]),
        (&[b, a], [11, 22]),
        (&[c, a, b], [111, 222]),
    ];
    for (ins, want) in cases {
        let mut out = of(&[7i64, 7]);
        sum(&mut out, ins).unwrap();
        assert_eq!(read::<i64>(&out), want);
    }
}

#[test]
fn a_storage_with_other_handles_is_locked_as_usual() {
    let mut out = of(&[0i64]);
    let (other, layout) = (out.clone(), row(1));
    // It is an input too: only the plan knows that both are one lock.
    sum(&mut out, &[place(&other, &layout, DType::I64)]).unwrap();
    let mut readonly = Storage::from_owner(vec![0u8], "test");
    let error = with_fresh("add", (&mut readonly, &row(1), DType::U8), &[], |_, _| Ok(())).unwrap_err();
    assert_eq!(error.kind(), Kind::Runtime);
}

#[test]
fn bounds_are_checked_and_no_plan_opens_inside() {
    let mut out = of(&[0i64]);
    let layout = row(2);
    assert!(with_fresh("add", (&mut out, &layout, DType::I64), &[], |_, _| Ok(())).is_err());
    let (short, fits) = (of(&[1i64]), row(1));
    let ins = [place(&short, &layout, DType::I64)];
    assert!(with_fresh("add", (&mut out, &fits, DType::I64), &ins, |_, _| Ok(())).is_err());
    let inside = with_fresh("add", (&mut out, &fits, DType::I64), &[], |_, _| {
        with_plan("inner", &[], &[place(&short, &fits, DType::I64)], |_, _| Ok(()))
    });
    assert_eq!(inside.unwrap_err().kind(), Kind::Runtime);
}

#[test]
fn a_handle_cloned_inside_waits_for_the_end() {
    let mut out = of(&[0i64]);
    let layout = row(1);
    let reader = with_fresh("fill", (&mut out, &layout, DType::I64), &[], |outs, _| {
        let clone = outs[0].storage().clone();
        let reader = std::thread::spawn(move || read::<i64>(&clone));
        std::thread::sleep(std::time::Duration::from_millis(20));
        outs[0].set(0, 5i64);
        Ok(reader)
    });
    assert_eq!(reader.unwrap().join().unwrap(), [5]);
}

#[test]
fn a_panic_ends_the_claim() {
    let mut out = of(&[3i64]);
    let layout = row(1);
    let panics = AssertUnwindSafe(|| {
        with_fresh::<()>("boom", (&mut out, &layout, DType::I64), &[], |_, _| panic!("kernel"))
    });
    assert!(catch_unwind(panics).is_err());
    assert_eq!(read::<i64>(&out), [3]);
}

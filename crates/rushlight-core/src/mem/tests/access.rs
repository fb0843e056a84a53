use super::*;
use crate::Kind;

#[test]
fn a_closure_sees_and_changes_the_bytes() {
    let storage = of(&[1u8, 2, 3]);
    assert_eq!(with_bytes("sum", &storage, |all| all.iter().sum::<u8>()).unwrap(), 6);
    with_bytes_mut("rev", &storage, <[u8]>::reverse).unwrap();
    assert_eq!(read::<u8>(&storage), [3, 2, 1]);
}

#[test]
fn ops_inside_a_closure_are_errors_and_not_hangs() {
    within(20, || {
        let (storage, other) = (of(&[1u8, 2]), of(&[3u8]));
        let layout = row(1);
        let try_all = || {
            for target in [&storage, &other] {
                let at = place(target, &layout, DType::U8);
                let results = [
                    with_plan("add", &[at], &[], |_, _| Ok(())),
                    with_plan("add", &[], &[at], |_, _| Ok(())),
                    with_bytes("add", target, |_| ()),
                    with_bytes_mut("add", target, |_| ()),
                ];
                for result in results {
                    let error = result.unwrap_err();
                    assert_eq!((error.kind(), error.op()), (Kind::Runtime, "add"));
                    assert!(error.text().contains("peek"), "{error}");
                }
                assert_eq!(target.resize(9).unwrap_err().kind(), Kind::Runtime);
                // What needs no lock works.
                assert!(target.nbytes() > 0 && target.owner_kind() == OwnerKind::Heap);
                target.set_resizable(true);
            }
        };
        with_bytes("peek", &storage, |_| try_all()).unwrap();
        with_bytes_mut("peek", &storage, |_| try_all()).unwrap();
        assert_eq!(read::<u8>(&storage), [1, 2]);
    });
}

#[test]
fn a_panic_in_a_closure_releases_lock_and_mark() {
    let storage = of(&[1u8, 2]);
    for mutable in [false, true] {
        let result = std::panic::catch_unwind(|| match mutable {
            false => with_bytes("peek", &storage, |_| panic!("mine")),
            true => with_bytes_mut("poke", &storage, |_| panic!("mine")),
        });
        assert!(result.is_err());
        assert_eq!(read::<u8>(&storage), [1, 2]);
        let elsewhere = storage.clone();
        within(20, move || with_bytes_mut("poke", &elsewhere, |all| all[0] = 1).unwrap());
    }
}

use super::*;

#[test]
fn handles_of_one_storage_share_a_count_and_others_do_not() {
    let storage = of(&[1u8]);
    let (tensor, view) = (Version::of(&storage), Version::of(&storage.clone()));
    let (data, other) = (Version::fresh(), Version::of(&of(&[1u8])));
    assert_eq!(tensor.get(), 0);
    view.bump();
    tensor.clone().bump();
    assert_eq!((tensor.get(), view.get(), data.get(), other.get()), (2, 2, 0, 0));
    data.clone().bump();
    assert_eq!((tensor.get(), data.get()), (2, 1));
    assert!(tensor.same(&view) && data.same(&data.clone()));
    assert!(!tensor.same(&data) && !tensor.same(&other) && !data.same(&Version::fresh()));
}

#[test]
fn concurrent_writes_are_all_counted() {
    let version = Version::of(&of(&[1u8]));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..1000).for_each(|_| version.bump()));
        }
    });
    assert_eq!(version.get(), 4000);
}

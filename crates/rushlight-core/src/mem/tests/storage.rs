use super::*;
use crate::Kind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

#[test]
fn a_handle_is_one_pointer_and_may_cross_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Storage>();
    shared::<Version>();
    assert_eq!(size_of::<Storage>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Storage>>(), size_of::<usize>());
}

#[test]
fn heap_storages_are_aligned_and_as_long_as_asked() {
    for bytes in [1, 2, 63, 64, 65, 1000, 4096, 100_001, 3 << 20] {
        let storage = Storage::heap(bytes, Device::CPU).unwrap();
        assert_eq!(storage.nbytes(), bytes);
        assert_eq!(storage.data_ptr() % 64, 0);
        assert_eq!(storage.owner_kind(), OwnerKind::Heap);
        assert!(storage.is_resizable() && !storage.is_readonly());
        // Every byte is there to be written and read.
        with_bytes_mut("fill", &storage, |all| all.fill(7)).unwrap();
        assert!(
            with_bytes("check", &storage, |all| all.len() == bytes && all.iter().all(|b| *b == 7)).unwrap()
        );
    }
}

#[test]
fn zeroed_storages_hold_zeros_also_when_recycled() {
    for bytes in [5, 4096, 300_000, 5 << 20] {
        for _ in 0..3 {
            let storage = Storage::zeroed(bytes, Device::CPU).unwrap();
            with_bytes_mut("check", &storage, |all| {
                assert!(all.iter().all(|b| *b == 0));
                all.fill(255);
            })
            .unwrap();
        }
    }
}

#[test]
fn zero_bytes_have_no_address() {
    let all = [
        Storage::heap(0, Device::CPU).unwrap(),
        Storage::from_vec(Vec::<f32>::new()),
        Storage::from_owner(Vec::new(), "empty"),
        Storage::from_owner_mut(Vec::new(), "empty"),
    ];
    for storage in &all {
        assert_eq!((storage.nbytes(), storage.data_ptr()), (0, 0));
        assert_eq!(with_bytes("len", storage, <[u8]>::len).unwrap(), 0);
        let layout = row(0);
        let sum = with_plan("sum", &[], &[place(storage, &layout, DType::F32)], |_, ins| {
            assert!(ins[0].ptr().is_null());
            Ok(ins[0].numel())
        });
        assert_eq!(sum.unwrap(), 0);
    }
}

#[test]
fn meta_has_a_length_and_no_memory() {
    let meta = Storage::meta(400);
    assert_eq!((meta.nbytes(), meta.data_ptr(), meta.device()), (400, 0, Device::META));
    assert_eq!(meta.owner_kind(), OwnerKind::Meta);
    let (fits, large) = (row(100), row(101));
    let run = |layout: &Layout| {
        with_plan(
            "run",
            &[place(&meta, layout, DType::F32)],
            &[place(&meta, layout, DType::F32)],
            |outs, ins| {
                assert!(outs[0].ptr().is_null() && ins[0].ptr().is_null());
                Ok(())
            },
        )
    };
    run(&fits).unwrap();
    assert_eq!(run(&large).unwrap_err().kind(), Kind::Runtime);
    meta.resize(404).unwrap();
    run(&large).unwrap();
    assert_eq!(with_bytes("peek", &meta, |_| ()).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(with_bytes_mut("poke", &meta, |_| ()).unwrap_err().kind(), Kind::Runtime);
    // More than any machine has is fine without memory, and not with it.
    assert_eq!(Storage::meta(1 << 60).nbytes(), 1 << 60);
}

#[test]
fn requests_that_cannot_be_met_are_errors_that_name_the_bytes() {
    for bytes in [usize::MAX, isize::MAX as usize, isize::MAX as usize - 63, 1 << 60, 1 << 50] {
        let error = Storage::heap(bytes, Device::CPU).unwrap_err();
        assert_eq!(error.kind(), Kind::Runtime);
        assert!(error.text().contains(&bytes.to_string()), "{error}");
        assert!(Storage::heap(8, Device::CPU).unwrap().resize(bytes).is_err());
    }
    assert_eq!(Storage::heap(8, Device::META).unwrap_err().kind(), Kind::Runtime);
}

#[test]
fn a_vector_is_taken_over_without_a_copy() {
    let vec: Vec<f64> = (0..100).map(f64::from).collect();
    let address = vec.as_ptr().addr();
    let storage = Storage::from_vec(vec.clone());
    assert_ne!(storage.data_ptr(), address);
    let storage_of_it = Storage::from_vec(vec);
    assert_eq!(storage_of_it.data_ptr(), address);
    assert_eq!(storage_of_it.owner_kind(), OwnerKind::Foreign("vec"));
    assert_eq!(read::<f64>(&storage_of_it), read::<f64>(&storage));
    storage_of_it.resize(808).unwrap();
    assert_eq!(storage_of_it.owner_kind(), OwnerKind::Heap);
    assert_eq!(read::<f64>(&storage_of_it)[99..], [99.0, 0.0]);
}

#[test]
fn lent_bytes_are_shared_and_read_only() {
    let bytes: Arc<[u8]> = (0..32).collect();
    let storage = Storage::from_owner(bytes.clone(), "arc");
    assert_eq!(storage.data_ptr(), bytes.as_ptr().addr());
    assert_eq!(storage.owner_kind(), OwnerKind::Foreign("arc"));
    assert!(storage.is_readonly() && !storage.is_resizable());
    assert_eq!(read::<u8>(&storage), bytes.to_vec());

    let layout = row(32);
    let write = with_plan("fill_", &[place(&storage, &layout, DType::U8)], &[], |_, _| Ok(())).unwrap_err();
    assert_eq!((write.kind(), write.op()), (Kind::Runtime, "fill_"));
    assert!(write.text().contains("read-only"), "{write}");
    assert_eq!(with_bytes_mut("poke", &storage, |_| ()).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(storage.resize(64).unwrap_err().kind(), Kind::Runtime);
    assert_eq!(Arc::strong_count(&bytes), 2);
    drop(storage);
    assert_eq!(Arc::strong_count(&bytes), 1);
}

#[test]
fn bytes_that_lie_inside_their_owner_stay_where_they_are() {
    struct Inline([u8; 24]);
    impl AsRef<[u8]> for Inline {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    impl AsMut<[u8]> for Inline {
        fn as_mut(&mut self) -> &mut [u8] {
            &mut self.0
        }
    }
    let moved = Box::new(Storage::from_owner(Inline([3; 24]), "inline"));
    assert_eq!(read::<u8>(&moved), [3; 24]);
    let writable = Storage::from_owner_mut(Inline([3; 24]), "inline");
    with_bytes_mut("poke", &writable, |all| all[23] = 9).unwrap();
    assert_eq!(read::<u8>(&writable)[22..], [3, 9]);
}

#[test]
fn a_foreign_owner_is_dropped_once_and_only_after_the_last_handle() {
    let drops = Arc::new(AtomicUsize::new(0));
    let mut memory = vec![1u8; 16].into_boxed_slice();
    let owner = Box::new(CountDrop(drops.clone()));
    // SAFETY: `memory` outlives the storage, and is not touched while that lives.
    let storage = unsafe { Storage::from_foreign(memory.as_mut_ptr(), 16, false, owner, "test") };
    let (second, version) = (storage.clone(), Version::of(&storage));
    assert!(second.same(&storage) && second.id() == storage.id() && storage.strong_count() == 3);
    drop(storage);
    assert_eq!(drops.load(SeqCst), 0);
    assert_eq!(read::<u8>(&second), [1; 16]);
    std::thread::spawn(move || drop(second)).join().unwrap();
    assert_eq!(drops.load(SeqCst), 0, "the version is a handle too");
    drop(version);
    assert_eq!(drops.load(SeqCst), 1);
    assert_eq!(*memory, [1; 16]);
}

#[test]
fn resizing_away_from_a_foreign_owner_drops_it_without_a_lock_held() {
    /// Its drop uses the storage machinery, as a Python object's may.
    struct Uses(Arc<AtomicUsize>);
    impl Drop for Uses {
        fn drop(&mut self) {
            self.0.store(read::<u8>(&of(&[4u8, 5])).len(), SeqCst);
        }
    }
    let seen = Arc::new(AtomicUsize::new(0));
    let mut memory = [1u8, 2, 3, 4];
    let owner = Box::new(Uses(seen.clone()));
    // SAFETY: `memory` outlives the storage, and is not touched while that lives.
    let storage = unsafe { Storage::from_foreign(memory.as_mut_ptr(), 4, false, owner, "test") };
    assert_eq!(storage.resize(6).unwrap_err().kind(), Kind::Runtime);
    storage.set_resizable(true);
    storage.resize(6).unwrap();
    assert_eq!(seen.load(SeqCst), 2);
    assert_eq!(read::<u8>(&storage), [1, 2, 3, 4, 0, 0]);
}

#[test]
fn resizing_keeps_the_prefix_and_adds_zeros() {
    let values: Vec<u32> = (1..=1000).collect();
    let storage = of(&values);
    for len in [1001, 4000, 1000, 999, 10, 11, 500, 0, 3, 100_000, 1_000_000, 2] {
        let before = read::<u32>(&storage);
        storage.resize(len * 4).unwrap();
        let after = read::<u32>(&storage);
        let kept = before.len().min(len);
        assert_eq!(after.len(), len);
        assert_eq!(after[..kept], before[..kept]);
        assert!(after[kept..].iter().all(|x| *x == 0), "new bytes are zero");
        assert_eq!(storage.data_ptr() == 0, len == 0);
        with_bytes_mut("mark", &storage, |all| all[kept * 4..].fill(1)).unwrap();
    }
    storage.set_resizable(false);
    assert_eq!(storage.resize(64).unwrap_err().kind(), Kind::Runtime);
    storage.resize(8).unwrap(); // nothing to do
}

#[test]
fn device_memory_is_found_through_its_own_type() {
    struct Fake(AtomicUsize);
    impl DeviceMem for Fake {
        fn nbytes(&self) -> usize {
            self.0.load(SeqCst)
        }
        fn resize(&self, bytes: usize) -> crate::Result<()> {
            self.0.store(bytes, SeqCst);
            Ok(())
        }
    }
    let device = Device::new(crate::DeviceKind::Cuda, 1);
    let storage = Storage::on_device(Box::new(Fake(AtomicUsize::new(40))), device);
    assert_eq!((storage.nbytes(), storage.data_ptr(), storage.device()), (40, 0, device));
    assert_eq!(storage.owner_kind(), OwnerKind::Device);
    let mem: &dyn std::any::Any = storage.device_mem().unwrap();
    assert_eq!(mem.downcast_ref::<Fake>().unwrap().nbytes(), 40);
    storage.resize(48).unwrap();
    assert_eq!(storage.nbytes(), 48);
    assert!(with_bytes("peek", &storage, |_| ()).is_err());
    let misplaced = Storage::on_device(Box::new(Fake(AtomicUsize::new(40))), Device::CPU);
    assert!(with_bytes("peek", &misplaced, |_| ()).is_err());
    assert!(with_bytes_mut("poke", &misplaced, |_| ()).is_err());
    assert!(of(&[1u8]).device_mem().is_none());
}

#[test]
fn debug_says_what_it_is() {
    let text = format!("{:?}", Storage::meta(12));
    assert!(text.contains("12") && text.contains("Meta"), "{text}");
}

//! What the examples print is true.

#[path = "../examples/copy.rs"]
mod copy;
#[path = "../examples/lock.rs"]
mod lock;
#[path = "../examples/share.rs"]
mod share;
#[path = "../examples/write_through.rs"]
mod write_through;

use rushlight::{Device, Result};

#[test]
fn share_tells_views_from_copies() -> Result<()> {
    let (base, rows) = share::rows()?;
    let found: Vec<(&str, &str)> = rows.iter().map(|r| (r.call, share::relation(&base, &r.tensor))).collect();
    let view = [
        "x.reshape([4, 3])",
        "x.narrow(0, 1, 2)",
        "x.t()",
        "x.broadcast_to([2, 3, 4])",
        "x.unsqueeze(0)",
        "x.detach()",
    ];
    let same = ["x.clone()", "x.contiguous()", "x.to_dtype(F32)"];
    for (call, relation) in found {
        let expected = if same.contains(&call) {
            "the same tensor"
        } else if view.contains(&call) {
            "shares memory"
        } else {
            "memory of its own"
        };
        assert_eq!(relation, expected, "{call}");
    }
    let narrow = &rows[2].tensor;
    assert_eq!((narrow.storage_offset(), narrow.strides(), narrow.storage().nbytes()), (4, &[4, 1][..], 48));
    assert_eq!(narrow.data_ptr(), base.data_ptr() + 16);
    Ok(())
}

#[test]
fn locks_never_hang() -> Result<()> {
    assert_eq!(lock::onto_itself()?, [2., 4., 6., 8.]);
    assert!(lock::onto_its_transpose()?.contains("share some cells"));
    lock::crosswise(lock::ROUNDS)
}

#[test]
fn copies_own_their_elements_alone() -> Result<()> {
    for device in [Device::CPU, Device::REF] {
        assert_eq!(copy::sizes(device)?, (4_000_000, 8));
        assert_eq!(copy::zeroed_copy(device)?, [1.0; 4]);
    }
    Ok(())
}

#[test]
fn a_view_writes_to_its_own_cells() -> Result<()> {
    let base = write_through::column_zeroed()?;
    assert_eq!(base.to_vec::<f32>()?, [1., 0., 1., 1., 1., 0., 1., 1., 1., 0., 1., 1.]);
    assert_eq!(base.version(), 1);
    Ok(())
}

//! The laws of the op table, over every row and every sample.

use rushlight::op::{OpDef, table};
use rushlight_testkit::laws::{self, Complaints};

fn hold(law: fn(&'static OpDef) -> Complaints) {
    let (mut complaints, mut samples) = (Complaints::new(), 0);
    for def in table() {
        samples += (def.samples)().len();
        complaints.extend(law(def));
    }
    assert!(samples > table().len(), "the table has {} rows but only {samples} samples", table().len());
    assert!(complaints.is_empty(), "{} complaints\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn every_row_runs_and_leaves_its_inputs_alone() {
    hold(laws::runs);
}

#[test]
fn the_meta_device_knows_every_result() {
    hold(laws::meta_equals_run);
}

#[test]
fn the_fast_backend_equals_the_reference() {
    hold(laws::cpu_equals_ref);
}

#[test]
fn layouts_do_not_matter() {
    hold(laws::layouts_agree);
}

#[test]
fn in_place_equals_functional() {
    hold(laws::inplace_equals_functional);
}

#[test]
fn gradients_equal_finite_differences() {
    hold(laws::gradients_hold);
}

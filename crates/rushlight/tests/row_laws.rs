//! Every sample of the rows for views, joining and indexing: both backends agree, gradients meet
//! finite differences, and so do the gradients of gradients.

use rushlight::grad::{GradCheck, gradcheck, gradgradcheck};
use rushlight::op::{Args, OpDef, Run, Sample, Value, dispatch, samples::map_tensors};
use rushlight::{DType, Device, Result, Tensor, ops};

const FAMILIES: &[&[&OpDef]] = &[
    ops::view::basic::BASIC,
    ops::view::part::PART,
    ops::view::place::PLACE,
    ops::view::recast::RECAST,
    ops::view::shape::SHAPE,
    ops::view::split::SPLIT,
    ops::join::JOIN,
    ops::arrange::ARRANGE,
    ops::pad::PAD,
    ops::index::advanced::ADVANCED,
    ops::index::along::ALONG,
    ops::index::combine::COMBINE,
    ops::index::flat::FLAT,
    ops::index::mask::MASK,
    ops::index::pick::PICK,
];

fn rows() -> impl Iterator<Item = (&'static OpDef, usize, Sample)> {
    let all = FAMILIES.iter().flat_map(|f| f.iter().copied());
    all.flat_map(|row| (row.samples)().into_iter().enumerate().map(move |(k, s)| (row, k, s)))
}

/// The arguments with every tensor replaced, so that a row that writes does not change the sample.
fn mapped(args: &[Value], f: &dyn Fn(&Tensor) -> Result<Tensor>) -> Args {
    args.iter().map(|a| map_tensors(a, f).unwrap()).collect()
}

fn bytes(t: &Tensor) -> Vec<u8> {
    t.to_device(Device::CPU).unwrap().contiguous().unwrap().to_bytes().unwrap()
}

#[test]
fn every_row_has_samples_and_words() {
    for row in FAMILIES.iter().flat_map(|f| f.iter()) {
        assert!(!(row.samples)().is_empty(), "{} has no samples", row.name);
        assert!(row.doc.trim().len() > 15, "{} has no documentation", row.name);
    }
}

#[test]
fn backends_agree() {
    let mut ran = 0;
    for (row, k, sample) in rows() {
        let on_cpu = dispatch(row, mapped(&sample.args, &|t| t.copy()));
        let on_ref = dispatch(row, mapped(&sample.args, &|t| t.copy()?.to_device(Device::REF)));
        match (on_cpu, on_ref) {
            (Ok(a), Ok(b)) => {
                assert_eq!(a.len(), b.len(), "{} sample {k}", row.name);
                for (a, b) in a.iter().zip(&b) {
                    assert_eq!((a.layout(), a.dtype()), (b.layout(), b.dtype()), "{} sample {k}", row.name);
                    assert_eq!(bytes(a), bytes(b), "{} sample {k}", row.name);
                    ran += 1;
                }
            }
            (a, b) => panic!("{} sample {k}: cpu {:?}, ref {:?}", row.name, a.err(), b.err()),
        }
    }
    assert!(ran > 200, "only {ran} results");
}

/// The op as a function of its float64 tensors alone.
fn check(row: &'static OpDef, k: usize, sample: &Sample) {
    let mut inputs: Vec<Tensor> = Vec::new();
    for a in &sample.args {
        for t in a.tensors().iter().filter(|t| t.dtype() == DType::F64) {
            inputs.push(t.copy().unwrap().requires_grad_(true).unwrap());
        }
    }
    let f = |given: &[Tensor]| -> Result<Vec<Tensor>> {
        let next = std::cell::Cell::new(0);
        let args: Args = sample
            .args
            .iter()
            .map(|a| {
                map_tensors(a, &|t| {
                    if t.dtype() != DType::F64 {
                        return Ok(t.clone());
                    }
                    let t = given[next.replace(next.get() + 1)].clone();
                    // What a row writes to must not be a leaf.
                    if matches!(row.run, Run::Mutates(_)) || row.name.ends_with('_') {
                        t.copy()
                    } else {
                        Ok(t)
                    }
                })
            })
            .collect::<Result<_>>()?;
        Ok(dispatch(row, args)?.into_vec())
    };
    gradcheck(f, &inputs, GradCheck::default()).unwrap_or_else(|e| panic!("{} sample {k}: {e}", row.name));
    gradgradcheck(f, &inputs, GradCheck::default())
        .unwrap_or_else(|e| panic!("{} sample {k}, second order: {e}", row.name));
}

#[test]
fn gradients_meet_differences() {
    for (row, k, sample) in rows().filter(|(_, _, s)| s.grad) {
        check(row, k, &sample);
    }
}

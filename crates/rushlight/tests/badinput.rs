//! Arguments that do not fit: an error that says what, never a panic, and nothing changed.

mod random;

use random::{Rng, arguments};
use rushlight::op::{Args, OpDef, Value, dispatch, dispatch_inplace, table};
use rushlight::{Device, Tensor};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bytes and versions of all tensors among the arguments.
fn state(args: &Args) -> Vec<(u64, Vec<u8>)> {
    let tensors = args.iter().flat_map(Value::tensors).filter(|t| t.device() != Device::META);
    tensors.map(|t| (t.version(), t.to_bytes().unwrap_or_default())).collect()
}

fn show(args: &Args) -> String {
    let one = |t: &Tensor| format!("{}{:?}/{:?}@{}", t.dtype(), t.shape(), t.strides(), t.device());
    let value = |a: &Value| match a {
        Value::Operand(rushlight::Operand::Number(n)) | Value::Number(n) => format!("{n:?}"),
        Value::Int(i) => format!("{i}"),
        Value::OptInt(i) => format!("{i:?}"),
        Value::Float(i) => format!("{i}"),
        Value::Bool(b) => format!("{b}"),
        Value::Dims(d) => format!("{d:?}"),
        Value::Size(s) => format!("{s:?}"),
        Value::Text(s) => format!("{s:?}"),
        Value::DType(d) => format!("{d}"),
        _ => a.tensors().into_iter().map(one).collect::<Vec<_>>().join(" & "),
    };
    args.iter().map(value).collect::<Vec<_>>().join(", ")
}

fn attempt(def: &'static OpDef, args: &Args, inplace: bool, seed: u64) -> Result<bool, String> {
    let before = state(args);
    let call = || {
        if inplace {
            dispatch_inplace(def, args.clone()).map(drop)
        } else {
            dispatch(def, args.clone()).map(drop)
        }
    };
    let place = || format!("{}{} (seed {seed}) of {}", def.name, if inplace { "_" } else { "" }, show(args));
    match catch_unwind(AssertUnwindSafe(call)) {
        Err(_) => Err(format!("panic in {}", place())),
        Ok(Ok(())) => Ok(true),
        Ok(Err(e)) if e.text().trim().is_empty() || e.op().is_empty() => {
            Err(format!("empty error {e:?} in {}", place()))
        }
        Ok(Err(e)) => match state(args) == before {
            true => Ok(false),
            false => Err(format!("changed its arguments although it failed ({e}): {}", place())),
        },
    }
}

#[test]
fn random_arguments_never_panic_and_errors_change_nothing() {
    let rounds: u64 = std::env::var("RUSHLIGHT_FUZZ").ok().and_then(|s| s.parse().ok()).unwrap_or(50_000);
    let start: u64 = std::env::var("RUSHLIGHT_FUZZ_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let only = std::env::var("RUSHLIGHT_FUZZ_OP").ok();
    let rows: Vec<(&'static OpDef, Vec<Args>)> = table()
        .iter()
        .filter(|d| only.as_ref().is_none_or(|o| o == d.name))
        .map(|d| (*d, (d.samples)().into_iter().map(|s| s.args).collect()))
        .collect();
    let (mut complaints, mut worked) = (Vec::new(), 0u64);
    let mut seen = std::collections::BTreeMap::<&str, usize>::new();
    for seed in start..start + rounds {
        let mut r = Rng(seed);
        let (def, known) = &rows[seed as usize % rows.len()];
        let args = arguments(&mut r, def, known);
        let inplace = def.inplace.is_some() && r.one_in(2);
        match attempt(def, &args, inplace, seed) {
            Ok(ran) => worked += u64::from(ran),
            Err(c) => {
                let count = seen.entry(def.name).or_default();
                *count += 1;
                if *count <= 3 {
                    complaints.push(c);
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{} rows\n{}", seen.len(), complaints.join("\n"));
    // Arguments that never fit would test the first check of each op alone.
    assert!(worked * 10 > rounds, "only {worked} of {rounds} calls ran");
}

//! One kernel call on two backends.

use crate::operand::Kernel;
use crate::{Operand, Tolerance};
use rushlight_core::backend::{Backend, backend};
use rushlight_core::mem::{Place, Span, SpanMut, Storage, with_bytes, with_plan};
use rushlight_core::{Device, Kind, Number, Result};

/// A backend and the one that defines what is right. Both have memory of the host.
#[derive(Clone, Copy)]
pub struct Pair {
    subject: (Device, &'static dyn Backend),
    definition: (Device, &'static dyn Backend),
}

/// An input of a call.
#[derive(Clone, Copy)]
pub enum Arg<'a> {
    /// Memory of its own.
    Own(&'a Operand),
    /// The very elements of an output: the call works in place.
    Out(usize),
}

/// What a call has left behind.
struct Outcome<R> {
    result: Result<R>,
    outs: Vec<Vec<u8>>,
}

impl Pair {
    /// The backends of two devices.
    ///
    /// # Errors
    /// `Runtime` when one is not linked in.
    pub fn new(subject: Device, definition: Device) -> Result<Pair> {
        Ok(Pair { subject: (subject, backend(subject)?), definition: (definition, backend(definition)?) })
    }

    /// Runs `call` on both, on equal bytes. Outputs must agree within their tolerance, results
    /// must be equal, cells outside the outputs' elements must stay, and errors must be of one
    /// kind and leave the outputs as they were.
    ///
    /// # Errors
    /// What differs, for humans.
    pub fn agree<R: PartialEq + std::fmt::Debug>(
        &self,
        outs: &[&Operand],
        ins: &[Arg<'_>],
        tolerances: &[Tolerance],
        call: impl Fn(&dyn Backend, &[SpanMut<'_>], &[Span<'_>]) -> Result<R>,
    ) -> std::result::Result<Option<Kind>, String> {
        let (got, expected) = self.run_both(outs, ins, call)?;
        match (&got.result, &expected.result) {
            (Ok(a), Ok(b)) if a == b => {
                for (k, out) in outs.iter().enumerate() {
                    compare(out, &got.outs[k], &expected.outs[k], tolerances[k])
                        .map_err(|e| format!("output {k} ({}): {e}", out.name))?;
                }
                Ok(None)
            }
            (Ok(a), Ok(b)) => Err(format!("result {a:?} instead of {b:?}")),
            (Err(a), Err(b)) if a.kind() == b.kind() => {
                let untouched = outs.iter().zip(&got.outs).all(|(out, bytes)| out.bytes == *bytes);
                if untouched { Ok(Some(a.kind())) } else { Err(format!("{a} after an output was written")) }
            }
            (a, b) => Err(format!("{} instead of {}", told(a), told(b))),
        }
    }

    /// Runs `call` on both and gives the operands as they are after, subject first.
    ///
    /// # Errors
    /// When the two do not both succeed.
    pub fn results(
        &self,
        outs: &[&Operand],
        ins: &[Arg<'_>],
        call: impl Fn(&dyn Backend, &[SpanMut<'_>], &[Span<'_>]) -> Result<()>,
    ) -> std::result::Result<[Vec<Operand>; 2], String> {
        let (got, expected) = self.run_both(outs, ins, call)?;
        let after = |outcome: Outcome<()>| -> std::result::Result<Vec<Operand>, String> {
            outcome.result.map_err(|e| e.to_string())?;
            let fresh = outs.iter().zip(outcome.outs);
            Ok(fresh.map(|(out, bytes)| Operand { bytes, ..(*out).clone() }).collect())
        };
        Ok([after(got)?, after(expected)?])
    }

    #[allow(clippy::type_complexity, reason = "said once")]
    fn run_both<R>(
        &self,
        outs: &[&Operand],
        ins: &[Arg<'_>],
        call: impl Fn(&dyn Backend, &[SpanMut<'_>], &[Span<'_>]) -> Result<R>,
    ) -> std::result::Result<(Outcome<R>, Outcome<R>), String> {
        let on = |(device, backend): (Device, &'static dyn Backend)| {
            run(device, backend, outs, ins, &|o, i| call(backend, o, i))
                .map_err(|e| format!("no memory: {e}"))
        };
        Ok((on(self.subject)?, on(self.definition)?))
    }
}

fn told<R: std::fmt::Debug>(result: &Result<R>) -> String {
    match result {
        Ok(value) => format!("success {value:?}"),
        Err(e) => format!("{e:?}"),
    }
}

fn run<R>(
    device: Device,
    backend: &dyn Backend,
    outs: &[&Operand],
    ins: &[Arg<'_>],
    kernel: Kernel<'_, R>,
) -> Result<Outcome<R>> {
    let make = |o: &Operand| o.storage(|bytes| backend.alloc(bytes, device));
    let out_storages = outs.iter().map(|o| make(o)).collect::<Result<Vec<Storage>>>()?;
    let mut storages = Vec::new();
    for arg in ins {
        storages.push(match arg {
            Arg::Own(operand) => make(operand)?,
            Arg::Out(k) => out_storages[*k].clone(),
        });
    }
    let targets: Vec<Place<'_>> = out_storages
        .iter()
        .zip(outs)
        .map(|(storage, o)| Place { storage, layout: &o.layout, dtype: o.dtype })
        .collect();
    let sources: Vec<Place<'_>> = storages
        .iter()
        .zip(ins)
        .map(|(storage, arg)| {
            let operand = match arg {
                Arg::Own(operand) => operand,
                Arg::Out(k) => outs[*k],
            };
            Place { storage, layout: &operand.layout, dtype: operand.dtype }
        })
        .collect();
    let result = with_plan("law", &targets, &sources, kernel);
    let outs = out_storages.iter().map(|s| with_bytes("law", s, <[u8]>::to_vec)).collect::<Result<_>>()?;
    Ok(Outcome { result, outs })
}

/// Every cell: elements by tolerance, all others unchanged.
fn compare(
    out: &Operand,
    got: &[u8],
    expected: &[u8],
    tolerance: Tolerance,
) -> std::result::Result<(), String> {
    let after = |bytes: &[u8]| Operand { bytes: bytes.to_vec(), ..out.clone() };
    let (got_values, expected_values) = (after(got).values(), after(expected).values());
    let mut is_element = vec![false; out.cells()];
    for (flat, at) in out.positions().into_iter().enumerate() {
        is_element[at] = true;
        tolerance
            .check(got_values[at], expected_values[at], out.dtype)
            .map_err(|e| format!("element {flat} of shape {:?} is {e}", out.layout.shape()))?;
    }
    let size = out.dtype.size();
    for cell in (0..out.cells()).filter(|i| !is_element[*i]) {
        let bytes = cell * size..(cell + 1) * size;
        if got[bytes.clone()] != out.bytes[bytes] {
            let value: Number = got_values[cell];
            return Err(format!("cell {cell} is outside the elements and became {value:?}"));
        }
    }
    Ok(())
}

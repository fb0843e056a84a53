//! The laws that every row of the op table obeys, over its own samples.
//!
//! Each law takes a row and gives a list of complaints; an empty list means it holds.

use rushlight_core::grad::{GradCheck, gradcheck, gradgradcheck};
use rushlight_core::op::{
    Args, OpDef, Operand, OptOperand, Outputs, Run, Value, dispatch, dispatch_inplace, samples,
};
use rushlight_core::{DType, Device, Kind, Layout, Result, Tensor, no_grad};

/// Complaints about one law and row.
pub type Complaints = Vec<String>;

fn map(args: &[Value], f: &dyn Fn(&Tensor) -> Result<Tensor>) -> Result<Args> {
    args.iter().map(|a| samples::map_tensors(a, f)).collect()
}

fn on(device: Device, args: &[Value]) -> Result<Args> {
    map(args, &|t| t.to_device(device)).map(|args| {
        args.into_iter()
            .map(|a| if matches!(a, Value::OptDevice(_)) { Value::OptDevice(Some(device)) } else { a })
            .collect()
    })
}

/// Whether the row's purpose is to write to its first argument.
fn writes(def: &OpDef) -> bool {
    matches!(def.run, Run::Mutates(_)) || def.name.ends_with('_')
}

/// Runs a row on fresh copies of its tensors, so that samples stay as they are.
fn run(def: &'static OpDef, args: &[Value]) -> Result<Outputs> {
    dispatch(def, map(args, &|t| t.copy())?)
}

/// Largest difference allowed, relative to the larger of 1 and the value.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 4e-3,
        DType::BF16 => 3e-2,
        DType::F32 | DType::C64 => 2e-5,
        DType::F64 | DType::C128 => 1e-10,
        _ => 0.0,
    }
}

fn numbers(t: &Tensor) -> Result<Vec<(f64, f64)>> {
    let wide = t.detach()?.to_device(Device::CPU)?.to_dtype(DType::C128)?;
    let bytes = wide.to_bytes()?;
    let word = |b: &[u8]| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]);
    Ok(bytes.chunks_exact(16).map(|c| (word(&c[..8]), word(&c[8..]))).collect())
}

/// Whether each result sums all elements, so that the largest of them sets the rounding of all.
fn mixes(def: &OpDef) -> bool {
    def.names.iter().any(|name| name.starts_with("fft_"))
}

/// The largest magnitude, at least 1.
fn largest(t: &Tensor) -> f64 {
    let all = numbers(t).unwrap_or_default().into_iter().flat_map(|(x, y)| [x.abs(), y.abs()]);
    all.filter(|x| x.is_finite()).fold(1.0, f64::max)
}

/// Says how two tensors differ by more than rounding at `scale`, if they do.
fn difference(a: &Tensor, b: &Tensor, scale: f64) -> Result<Option<String>> {
    if a.shape() != b.shape() || a.dtype() != b.dtype() {
        return Ok(Some(format!("{:?} {} against {:?} {}", a.shape(), a.dtype(), b.shape(), b.dtype())));
    }
    let close = |x: f64, y: f64| {
        x == y
            || (x.is_nan() && y.is_nan())
            || (x - y).abs() <= tolerance(a.dtype()) * x.abs().max(y.abs()).max(scale)
    };
    for (i, (x, y)) in numbers(a)?.into_iter().zip(numbers(b)?).enumerate() {
        if !(close(x.0, y.0) && close(x.1, y.1)) {
            return Ok(Some(format!("element {i}: {x:?} against {y:?} ({})", a.dtype())));
        }
    }
    Ok(None)
}

fn compare(
    what: &str,
    def: &OpDef,
    k: usize,
    a: &Result<Outputs>,
    b: &Result<Outputs>,
    complaints: &mut Complaints,
) {
    let place = format!("{}, sample {k}, {what}", def.name);
    match (a, b) {
        (Ok(a), Ok(b)) if a.len() == b.len() => {
            for (x, y) in a.iter().zip(b) {
                let scale = if mixes(def) { largest(y) } else { 1.0 };
                match difference(x, y, scale) {
                    Ok(None) => {}
                    Ok(Some(d)) => complaints.push(format!("{place}: {d}")),
                    Err(e) => complaints.push(format!("{place}: {e}")),
                }
            }
        }
        (Ok(a), Ok(b)) => complaints.push(format!("{place}: {} results against {}", a.len(), b.len())),
        (Err(a), Err(b)) if a.kind() == b.kind() => {}
        (a, b) => complaints.push(format!(
            "{place}: {:?} against {:?}",
            a.as_ref().map(|_| "fine"),
            b.as_ref().map(|_| "fine")
        )),
    }
}

/// Every sample runs, leaves its inputs alone (unless it is their purpose to be written), and the
/// row is documented.
pub fn runs(def: &'static OpDef) -> Complaints {
    let mut complaints = Complaints::new();
    if def.doc.trim().is_empty() {
        complaints.push(format!("{} has no documentation", def.name));
    }
    for (k, s) in (def.samples)().iter().enumerate() {
        let Ok(args) = map(&s.args, &|t| t.copy()) else { continue };
        if let Err(e) = dispatch(def, args.clone()) {
            complaints.push(format!("{}, sample {k}: {e}", def.name));
        }
        if writes(def) {
            continue;
        }
        for (a, b) in args.iter().flat_map(|a| a.tensors()).zip(s.args.iter().flat_map(|a| a.tensors())) {
            if a.version() != 0 || difference(a, b, 1.0).ok().flatten().is_some() {
                complaints.push(format!("{}, sample {k}: changed its input", def.name));
            }
        }
    }
    complaints
}

/// Shapes, dtypes and strides on the meta device are those of a real run.
pub fn meta_equals_run(def: &'static OpDef) -> Complaints {
    let mut complaints = Complaints::new();
    for (k, s) in (def.samples)().iter().enumerate() {
        let (Ok(real), Ok(args)) = (run(def, &s.args), on(Device::META, &s.args)) else { continue };
        match dispatch(def, args) {
            // Values decide the shape: the meta device says so.
            Err(e)
                if e.kind() == Kind::Runtime
                    && (e.text().contains("meta") || e.text().contains("values decide")) => {}
            Err(e) => complaints.push(format!("{}, sample {k}, meta: {e}", def.name)),
            Ok(outs) => {
                for (m, r) in outs.iter().zip(&real) {
                    if m.shape() != r.shape() || m.dtype() != r.dtype() || m.strides() != r.strides() {
                        complaints.push(format!(
                            "{}, sample {k}, meta: {:?} {:?} {} against {:?} {:?} {}",
                            def.name,
                            m.shape(),
                            m.strides(),
                            m.dtype(),
                            r.shape(),
                            r.strides(),
                            r.dtype()
                        ));
                    }
                }
            }
        }
    }
    complaints
}

/// The fast backend equals the reference, for every dtype that the row takes; a dtype it does not
/// take is refused by both, with an error of a known family.
pub fn cpu_equals_ref(def: &'static OpDef) -> Complaints {
    let mut complaints = Complaints::new();
    for (k, s) in (def.samples)().iter().enumerate() {
        for dtype in DType::ALL {
            let Ok(args) = samples::with_dtype(&s.args, *dtype) else { continue };
            let fast = run(def, &args);
            if let Err(e) = &fast
                && !matches!(e.kind(), Kind::NotImplemented | Kind::Runtime | Kind::Type | Kind::Value)
            {
                complaints.push(format!("{}, sample {k}, {dtype}: {e:?}", def.name));
            }
            let slow = on(Device::REF, &args).and_then(|a| dispatch(def, a));
            compare(&format!("{dtype}, cpu against ref"), def, k, &fast, &slow, &mut complaints);
        }
    }
    complaints
}

/// The same tensor in other clothes: reversed order of dimensions, inside a larger storage, every
/// second element, size-1 dimensions with strides of no meaning.
fn variants(t: &Tensor) -> Result<Vec<Tensor>> {
    let mut all = Vec::new();
    let n = t.dim();
    let reversed: Vec<usize> = t.shape().iter().rev().copied().collect();
    let host = Tensor::empty(reversed.as_slice())?.to_dtype(t.dtype())?;
    let mut strides: Vec<isize> = host.strides().to_vec();
    strides.reverse();
    let turned = Tensor::from_storage(
        host.storage().clone(),
        Layout::new(t.shape(), strides.as_slice(), 0)?,
        t.dtype(),
    )?;
    all.push(turned.copy_(t)?);
    let wide: Vec<usize> = t.shape().iter().map(|s| s * 2 + 1).collect();
    let host = Tensor::empty(wide.as_slice())?.to_dtype(t.dtype())?;
    let strides: Vec<isize> = host.strides().iter().map(|s| s * 2).collect();
    let strides: Vec<isize> =
        strides.iter().zip(t.shape()).map(|(s, n)| if *n == 1 { 77 } else { *s }).collect();
    let offset = usize::from(host.numel() > 1 && n > 0);
    let apart = Tensor::from_storage(
        host.storage().clone(),
        Layout::new(t.shape(), strides.as_slice(), offset)?,
        t.dtype(),
    )?;
    all.push(apart.copy_(t)?);
    Ok(all)
}

/// Results do not depend on how the operands lie in memory.
pub fn layouts_agree(def: &'static OpDef) -> Complaints {
    let mut complaints = Complaints::new();
    for (k, s) in (def.samples)().iter().enumerate() {
        let plain = run(def, &s.args);
        for v in 0..2 {
            let Ok(args) = map(&s.args, &|t| Ok(variants(t)?.swap_remove(v))) else { continue };
            let result = dispatch(def, args);
            // Whether a view exists is a matter of layout.
            let view = matches!(def.run, Run::View(_)) || def.name.starts_with("view");
            // And what memory is shown, one of strides.
            if def.name.starts_with("as_strided")
                || (view && matches!(&result, Err(e) if e.kind() == Kind::Runtime))
            {
                continue;
            }
            compare(&format!("layout {v}"), def, k, &result, &plain, &mut complaints);
        }
    }
    complaints
}

/// The in-place form gives the values of the functional one, in the same tensor, one version on.
pub fn inplace_equals_functional(def: &'static OpDef) -> Complaints {
    let mut complaints = Complaints::new();
    if def.inplace.is_none() {
        return complaints;
    }
    for (k, s) in (def.samples)().iter().enumerate() {
        let (Ok(plain), Ok(args)) = (run(def, &s.args), map(&s.args, &|t| t.copy())) else { continue };
        let Some(Value::Tensor(target)) = args.first().cloned() else { continue };
        let result = dispatch_inplace(def, args);
        let fits =
            plain[0].shape() == target.shape() && plain[0].dtype().category() <= target.dtype().category();
        match result {
            Ok(t) if fits => {
                if !t.is(&target) || t.version() != 1 {
                    complaints.push(format!(
                        "{}, sample {k}: in place gave another tensor or version {}",
                        def.name,
                        t.version()
                    ));
                }
                let want = plain[0].to_dtype(t.dtype());
                compare(
                    "in place",
                    def,
                    k,
                    &Ok(smallvec::smallvec![t]),
                    &want.map(|w| smallvec::smallvec![w]),
                    &mut complaints,
                );
            }
            Ok(_) => complaints
                .push(format!("{}, sample {k}: in place accepted a result that does not fit", def.name)),
            Err(e) if fits => complaints.push(format!("{}, sample {k}: in place: {e}", def.name)),
            Err(_) => {}
        }
    }
    complaints
}

fn differentiable(a: &Value) -> bool {
    let float = |t: &Tensor| t.dtype() == DType::F64;
    match a {
        Value::Tensor(t) | Value::OptTensor(Some(t)) | Value::Operand(Operand::Tensor(t)) => float(t),
        Value::OptOperand(OptOperand(Some(Operand::Tensor(t)))) => float(t),
        Value::Tensors(l) => l.iter().any(float),
        Value::OptTensors(l) => l.iter().flatten().any(float),
        _ => false,
    }
}

/// First and second derivatives equal finite differences.
pub fn gradients_hold(def: &'static OpDef) -> Complaints {
    let mut complaints = Complaints::new();
    for (k, s) in
        (def.samples)().iter().enumerate().filter(|(_, s)| s.grad && s.args.iter().any(differentiable))
    {
        let mut leaves: Vec<Tensor> = Vec::new();
        for t in s.args.iter().flat_map(|a| a.tensors()).filter(|t| t.dtype() == DType::F64) {
            match t.copy().and_then(|t| t.requires_grad_(true)) {
                Ok(t) => leaves.push(t),
                Err(e) => complaints.push(format!("{}: {e}", def.name)),
            }
        }
        let f = |inputs: &[Tensor]| -> Result<Vec<Tensor>> {
            let next = std::cell::Cell::new(0);
            let fill = |t: &Tensor| {
                if t.dtype() != DType::F64 {
                    return Ok(t.clone());
                }
                let i = next.replace(next.get() + 1);
                // Ops that write get something they may write to.
                if writes(def) && i == 0 { inputs[i].mul(1.0) } else { Ok(inputs[i].clone()) }
            };
            let args: Result<Args> = s.args.iter().map(|a| samples::map_tensors(a, &fill)).collect();
            Ok(dispatch(def, args?)?.into_vec())
        };
        if no_grad(|| f(&leaves)).is_err() {
            continue; // `runs` complains
        }
        if let Err(e) = gradcheck(f, &leaves, GradCheck::default()) {
            complaints.push(format!("{}, sample {k}: {e}", def.name));
        } else if let Err(e) = gradgradcheck(f, &leaves, GradCheck::default()) {
            complaints.push(format!("{}, sample {k}, second order: {e}", def.name));
        }
    }
    complaints
}

//! Laws of `gather` and `scatter`.

use super::{input, output, shape, told_all};
use crate::{Arg, Operand, Pair, Report, Rng, Tolerance, Values, variants, writable_variants};
use rushlight_core::backend::{Backend, Gather, Indexed, Scatter, ScatterOp};
use rushlight_core::mem::{Span, SpanMut};
use rushlight_core::{DType, Kind, Layout, Number};

/// A random choice of axes and where index tensors lead along them.
struct Walk {
    /// Shape of the indexed tensor.
    indexed: Vec<usize>,
    /// The axes, and how long the indexed tensor is along each.
    axes: Vec<(usize, usize)>,
    indices: Vec<Operand>,
    wrap: bool,
}

impl Walk {
    /// Over elements of `shape`; with `bad`, one position of one index is outside its axis.
    fn new(rng: &mut Rng, shape: &[usize], bad: bool) -> Walk {
        let count = (1 + rng.below(2)).min(shape.len());
        let mut axes: Vec<(usize, usize)> =
            rng.order(shape.len())[..count].iter().map(|d| (*d, 1 + rng.below(9))).collect();
        axes.sort_unstable();
        let mut indexed = shape.to_vec();
        axes.iter().for_each(|(d, len)| indexed[*d] = *len);
        let wrap = rng.one_in(2);
        let mut indices = Vec::new();
        for &(_, len) in &axes {
            let low = if wrap { -(len as i64) } else { 0 };
            let mut index = input(rng, shape, DType::I64, Values::Small);
            index.fill(|_| Number::Int(rng.between(low, len as i64 - 1)));
            indices.push(index);
        }
        if bad {
            let which = rng.below(axes.len());
            spoil(rng, &mut indices[which], axes[which].1, wrap);
        }
        Walk { indexed, axes, indices, wrap }
    }

    /// The layout of the indexed tensor as kernels get it: shaped like the elements, stride 0 along
    /// the axes that indices walk.
    fn flatten(&self, layout: &Layout, shape: &[usize]) -> Layout {
        let mut strides = layout.strides().to_vec();
        self.axes.iter().for_each(|(d, _)| strides[*d] = 0);
        Layout::new(shape, strides, layout.offset()).expect("fewer cells than before")
    }

    fn indexed<'a>(&self, layout: &Layout, spans: &[Span<'a>]) -> Vec<Indexed<'a>> {
        let walks = self.axes.iter().zip(spans);
        walks
            .map(|((d, len), span)| Indexed {
                index: *span,
                stride: layout.strides()[*d],
                size: *len,
                axis: *d,
            })
            .collect()
    }
}

/// One element of the index leads nowhere.
fn spoil(rng: &mut Rng, index: &mut Operand, len: usize, wrap: bool) {
    let positions = index.positions();
    if positions.is_empty() {
        return;
    }
    let bad = *rng.pick(&positions);
    let below = if wrap { -(len as i64) - 1 } else { -1 };
    let position = if rng.one_in(2) { len as i64 } else { below };
    let cells = index.values();
    index.fill(|i| if i == bad { Number::Int(position) } else { cells[i] });
}

/// Reading by one or two index tensors, in any dtype and layout; bad positions are refused.
pub fn gather(pair: &Pair, seed: u64) -> Report {
    let mut report = Report::default();
    for &dtype in DType::ALL {
        let mut rng = Rng::new(seed ^ dtype as u64);
        for _ in 0..24 {
            let shape = shape(&mut rng, 1);
            let bad = rng.one_in(5);
            let walk = Walk::new(&mut rng, &shape, bad);
            let layouts = variants(&walk.indexed, &mut rng);
            let base = Operand::new(rng.pick(&layouts), dtype, Values::Any, &mut rng);
            let src = base.with_layout(walk.flatten(&base.layout, &shape));
            let out = output(&mut rng, &shape, dtype);
            let args: Vec<Arg<'_>> = std::iter::once(&src).chain(&walk.indices).map(Arg::Own).collect();
            let result = pair.agree(&[&out], &args, &[Tolerance::EXACT], |backend, outs, ins| {
                let indices = walk.indexed(&base.layout, &ins[1..]);
                backend.gather(&Gather { out: outs[0], src: ins[0], indices: &indices, wrap: walk.wrap })
            });
            let expected = bad && out.layout.numel() > 0;
            report.case(refused(result, expected), || {
                let (axes, indices) = (&walk.axes, told_all(&walk.indices));
                format!("gather along {axes:?} by {indices}: {} -> {}", told_all([&base]), told_all([&out]))
            });
        }
    }
    report
}

/// Writing by one or two index tensors, repeated positions included.
pub fn scatter(pair: &Pair, seed: u64) -> Report {
    let mut report = Report::default();
    let ops = [ScatterOp::Set, ScatterOp::Add, ScatterOp::Mul, ScatterOp::Max, ScatterOp::Min];
    for &dtype in DType::ALL {
        for op in ops {
            if dtype.is_complex() && matches!(op, ScatterOp::Max | ScatterOp::Min) {
                continue;
            }
            let mut rng = Rng::new(seed ^ (dtype as u64) << 8 ^ op as u64);
            for _ in 0..8 {
                one_scatter(pair, &mut report, &mut rng, op, dtype);
            }
        }
    }
    report
}

fn one_scatter(pair: &Pair, report: &mut Report, rng: &mut Rng, op: ScatterOp, dtype: DType) {
    let shape = shape(rng, 1);
    let bad = rng.one_in(5);
    let walk = Walk::new(rng, &shape, bad);
    let values = match op {
        ScatterOp::Add => Values::Small,
        ScatterOp::Mul => Values::Powers,
        _ => Values::Any,
    };
    let layouts = writable_variants(&walk.indexed, rng);
    let base = Operand::new(rng.pick(&layouts), dtype, values, rng);
    let dst = base.with_layout(walk.flatten(&base.layout, &shape));
    let src = input(rng, &shape, dtype, values);
    let args: Vec<Arg<'_>> = std::iter::once(&src).chain(&walk.indices).map(Arg::Own).collect();
    let tolerance = match op {
        ScatterOp::Set => Tolerance::EXACT,
        ScatterOp::Mul if dtype.is_complex() => Tolerance { absolute: 1e-30, ..Tolerance::ulps(64.0) },
        _ => Tolerance::EXACT.any_zero(),
    };
    let call = |backend: &dyn Backend, outs: &[SpanMut<'_>], ins: &[Span<'_>]| {
        let indices = walk.indexed(&base.layout, &ins[1..]);
        backend.scatter(&Scatter { dst: outs[0], src: ins[0], indices: &indices, op, wrap: walk.wrap })
    };
    let expected = bad && src.layout.numel() > 0;
    let result = match expected {
        true => refused(pair.agree(&[&dst], &args, &[tolerance], call), true),
        false => same_cells(pair, &dst, &base, &args, tolerance, call),
    };
    report.case(result, || {
        let (axes, indices) = (&walk.axes, told_all(&walk.indices));
        format!("scatter {op:?} along {axes:?} by {indices}: {} -> {}", told_all([&src]), told_all([&base]))
    });
}

/// After the call all cells of `base` agree, and those outside are as before. The layout that kernels
/// get does not tell which cells may change.
fn same_cells(
    pair: &Pair,
    dst: &Operand,
    base: &Operand,
    args: &[Arg<'_>],
    tolerance: Tolerance,
    call: impl Fn(&dyn Backend, &[SpanMut<'_>], &[Span<'_>]) -> rushlight_core::Result<()>,
) -> Result<(), String> {
    let [got, expected] = pair.results(&[dst], args, call)?;
    let mut may_change = vec![false; base.cells()];
    base.positions().into_iter().for_each(|at| may_change[at] = true);
    let size = base.dtype.size();
    for (cell, (a, b)) in got[0].values().into_iter().zip(expected[0].values()).enumerate() {
        let bytes = cell * size..(cell + 1) * size;
        if may_change[cell] {
            tolerance.check(a, b, base.dtype).map_err(|e| format!("cell {cell} is {e}"))?;
        } else if got[0].bytes[bytes.clone()] != base.bytes[bytes] {
            return Err(format!("cell {cell} is outside the elements and became {a:?}"));
        }
    }
    Ok(())
}

/// A bad position must be refused as an index error, a good one must not.
fn refused(result: Result<Option<Kind>, String>, expected: bool) -> Result<(), String> {
    match (result?, expected) {
        (None, false) | (Some(Kind::Index), true) => Ok(()),
        (kind, _) => Err(format!("a bad position gave {kind:?}; expected an error: {expected}")),
    }
}

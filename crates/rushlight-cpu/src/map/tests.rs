//! Programs against the reference backend: every opcode, compute type, conversion and layout.

use crate::CpuBackend;
use crate::isa::{self, Level};
use rushlight_core::backend::{Backend, Map};
use rushlight_core::mem::{Place, Storage, with_plan};
use rushlight_core::program::{Opcode, Program, Scalar, Sort, Special, trace};
use rushlight_core::{CType, Category, DType, Device, Kind, Layout, Number, Result};
use rushlight_ref::RefBackend;
use std::sync::{Mutex, PoisonError};

/// Runs `f` at every level of instructions this machine has, one test at a time.
fn at_every_level(mut f: impl FnMut()) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    for level in [Level::Scalar, Level::Avx2, Level::Avx512] {
        if level <= isa::best() {
            isa::set_level(level);
            f();
        }
    }
}

/// A tensor of a test.
#[derive(Clone)]
struct Operand {
    storage: Storage,
    layout: Layout,
    dtype: DType,
}

impl Operand {
    fn place(&self) -> Place<'_> {
        Place { storage: &self.storage, layout: &self.layout, dtype: self.dtype }
    }
    fn new(layout: Layout, dtype: DType) -> Operand {
        let bytes = layout.storage_elements() * dtype.size();
        Operand { storage: Storage::zeroed(bytes, Device::CPU).unwrap(), layout, dtype }
    }
    /// Special values first, then numbers spread over the type, starting with the `seed`-th.
    fn filled(layout: Layout, dtype: DType, seed: usize) -> Operand {
        let operand = Operand::new(layout, dtype);
        let flat = line(operand.storage.nbytes() / dtype.size());
        let place = Place { layout: &flat, ..operand.place() };
        with_plan("test", &[place], &[], |outs, _| {
            (0..flat.numel()).for_each(|i| outs[0].store(i as isize, sample(dtype, i * 7 + seed)));
            Ok(())
        })
        .unwrap();
        operand
    }
    fn copy(&self) -> Operand {
        let bytes = rushlight_core::mem::with_bytes("test", &self.storage, <[u8]>::to_vec).unwrap();
        let storage = Storage::zeroed(bytes.len(), Device::CPU).unwrap();
        rushlight_core::mem::with_bytes_mut("test", &storage, |b| b.copy_from_slice(&bytes)).unwrap();
        Operand { storage, ..self.clone() }
    }
    fn bytes(&self) -> Vec<u8> {
        rushlight_core::mem::with_bytes("test", &self.storage, <[u8]>::to_vec).unwrap()
    }
    /// All bytes of the storage as numbers: what lies between the elements counts as well.
    fn numbers(&self) -> Vec<Number> {
        let flat = line(self.storage.nbytes() / self.dtype.size());
        let place = Place { layout: &flat, ..self.place() };
        with_plan("test", &[], &[place], |_, ins| {
            Ok((0..flat.numel()).map(|i| ins[0].load(i as isize)).collect())
        })
        .unwrap()
    }
}

fn sample(dtype: DType, i: usize) -> Number {
    const FLOATS: [f64; 24] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -3.0,
        7.25,
        1e-3,
        -1e-3,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        100.5,
        -100.5,
        1e30,
        -1e30,
        1e-42,
        6e4,
        7e4,
        3.5,
        2.5,
        65504.0,
    ];
    const INTS: [i64; 16] = [
        0,
        1,
        -1,
        2,
        -2,
        3,
        7,
        -7,
        127,
        -128,
        255,
        1 << 20,
        i32::MIN as i64,
        i32::MAX as i64,
        i64::MIN,
        i64::MAX,
    ];
    let noise = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
    let real =
        |i: usize| FLOATS.get(i % 40).copied().unwrap_or((noise as f64 / (1u64 << 53) as f64 - 0.5) * 20.0);
    match dtype.category() {
        Category::Bool => Number::Bool(noise & 1 == 1),
        Category::Int if dtype == DType::U64 && i.is_multiple_of(5) => Number::UInt(u64::MAX - i as u64 % 3),
        Category::Int => INTS.get(i % 32).map_or(Number::Int(noise as i64 % 50 - 25), |x| Number::Int(*x)),
        Category::Float => Number::Float(real(i)),
        // Infinite parts have no settled results in products; finite ones must agree.
        Category::Complex => {
            let finite = |x: f64| if x.abs() < 1e4 { x } else { 1.5 };
            Number::Complex(finite(real(i)), finite(real(i / 3 + 2)))
        }
    }
}

fn run(
    b: &dyn Backend,
    p: &Program,
    params: &[Number],
    ctype: CType,
    outs: &[&Operand],
    ins: &[&Operand],
) -> Result<()> {
    let (o, i): (Vec<_>, Vec<_>) =
        (outs.iter().map(|x| x.place()).collect(), ins.iter().map(|x| x.place()).collect());
    with_plan("test", &o, &i, |outs, ins| b.map(&Map { program: p, params, ctype, outs, ins }))
}

fn close(dtype: DType, a: Number, b: Number) -> bool {
    let unit = match dtype {
        DType::F64 | DType::C128 => 1e-15,
        DType::F32 | DType::C64 => 4e-7,
        DType::F16 => 1e-3,
        DType::BF16 => 8e-3,
        _ => return a == b,
    };
    let near = |a: f64, b: f64| {
        let size = a.abs().max(b.abs());
        let same_sign = a.is_sign_negative() == b.is_sign_negative();
        (a.is_nan() && b.is_nan())
            || (a == b && (a != 0.0 || same_sign))
            || (a - b).abs() <= unit * size + 1e-44
    };
    match (a, b) {
        (Number::Complex(a, c), Number::Complex(b, d)) => {
            let size = a.hypot(c);
            let part = |x: f64, y: f64| near(x, y) || x == y || (x - y).abs() <= 4.0 * unit * size;
            part(a, b) && part(c, d)
        }
        (Number::Float(a), Number::Float(b)) => near(a, b),
        (a, b) => a == b,
    }
}

/// Runs a program on both backends, from the same state, and compares everything written.
fn agree(what: &str, p: &Program, params: &[Number], ctype: CType, outs: &[&Operand], ins: &[&Operand]) {
    let slow: Vec<Operand> = outs.iter().map(|o| o.copy()).collect();
    let fast: Vec<Operand> = outs.iter().map(|o| o.copy()).collect();
    let want = run(&RefBackend, p, params, ctype, &slow.iter().collect::<Vec<_>>(), ins);
    let got = run(&CpuBackend, p, params, ctype, &fast.iter().collect::<Vec<_>>(), ins);
    match (&got, &want) {
        (Ok(()), Ok(())) => {}
        (Err(e), Err(_)) => {
            assert_eq!(e.kind(), Kind::NotImplemented, "{what}: {e}");
            assert!(
                fast.iter().zip(outs).all(|(f, o)| f.bytes() == o.bytes()),
                "{what} wrote before it failed"
            );
        }
        _ => panic!("{what} at {ctype:?}: cpu gave {got:?}, reference gave {want:?}"),
    }
    for (f, s) in fast.iter().zip(&slow) {
        for (i, (a, b)) in f.numbers().into_iter().zip(s.numbers()).enumerate() {
            assert!(
                close(f.dtype, a, b),
                "{what} at {ctype:?}, {:?}: element {i} is {a:?}, not {b:?}",
                isa::level()
            );
        }
    }
}

fn native(ctype: CType) -> DType {
    match ctype {
        CType::Bool => DType::Bool,
        CType::I32 => DType::I32,
        CType::I64 => DType::I64,
        CType::U64 => DType::U64,
        CType::F32 => DType::F32,
        CType::F64 => DType::F64,
        CType::C64 => DType::C64,
        CType::C128 => DType::C128,
    }
}
const CTYPES: [CType; 7] =
    [CType::I32, CType::I64, CType::U64, CType::F32, CType::F64, CType::C64, CType::C128];

macro_rules! apply {
    ($op:expr, $x:expr; $($one:ident $f:ident)*; $($two:ident $g:ident)*) => {
        match $op {
            $( Opcode::$one => $x[0].$f(), )*
            $( Opcode::$two => $x[0].$g($x[1]), )*
            Opcode::Neg => -$x[0],
            Opcode::Not => !$x[0],
            Opcode::Add => $x[0] + $x[1],
            Opcode::Sub => $x[0] - $x[1],
            Opcode::Mul => $x[0] * $x[1],
            Opcode::Div => $x[0] / $x[1],
            Opcode::Select => $x[0].select($x[1], $x[2]),
            Opcode::Special(f) => Scalar::of(Opcode::Special(f), $x),
        }
    };
}
fn apply(op: Opcode, x: &[Scalar]) -> Scalar {
    apply!(op, x;
        Abs abs Sign sign Recip reciprocal Sqrt sqrt Rsqrt rsqrt Exp exp Exp2 exp2 Expm1 expm1 Log log Log2 log2
        Log10 log10 Log1p log1p Sin sin Cos cos Tan tan Asin asin Acos acos Atan atan Sinh sinh Cosh cosh Tanh tanh
        Asinh asinh Acosh acosh Atanh atanh Sigmoid sigmoid Erf erf Erfc erfc Floor floor Ceil ceil Round round
        Trunc trunc Relu relu BitNot bitwise_not IsNan isnan IsInf isinf ToTruth to_truth FromTruth from_truth;
        FloorDiv floor_divide Rem remainder Fmod fmod Pow pow Atan2 atan2 Max maximum Min minimum Copysign copysign
        BitAnd bitwise_and BitOr bitwise_or BitXor bitwise_xor Shl bitwise_left_shift Shr bitwise_right_shift
        Eq eq Ne ne Lt lt Le le Gt gt Ge ge And logical_and Or logical_or Xor logical_xor)
}

fn line(n: usize) -> Layout {
    Layout::contiguous(vec![n]).unwrap()
}

#[test]
fn every_opcode_means_the_same_on_both_backends() {
    at_every_level(|| {
        let special = Special::ALL.iter().map(|f| Opcode::Special(*f));
        for op in Opcode::ALL.iter().copied().chain(special) {
            let program = trace(op.inputs(), 0, |x| vec![apply(op, x)]).unwrap();
            for ctype in CTYPES {
                let dtype = |sort: Sort| if sort == Sort::Truth { DType::Bool } else { native(ctype) };
                for n in [1, 9, 1500] {
                    let ins: Vec<Operand> = (op.inputs().iter().enumerate())
                        .map(|(k, s)| Operand::filled(line(n), dtype(*s), k * 3))
                        .collect();
                    let out = Operand::new(line(n), dtype(op.output()));
                    agree(op.name(), &program, &[], ctype, &[&out], &ins.iter().collect::<Vec<_>>());
                }
            }
        }
    });
}

#[test]
fn every_dtype_converts_to_every_other() {
    at_every_level(|| {
        for &from in DType::ALL {
            let (sort, ctype) =
                if from == DType::Bool { (Sort::Truth, CType::Bool) } else { (Sort::Num, from.ctype()) };
            let program = trace(&[sort], 0, |x| vec![x[0]]).unwrap();
            for &to in DType::ALL {
                for n in [3, 1100] {
                    let what = format!("{from} to {to}");
                    let input = Operand::filled(line(n), from, 0);
                    agree(&what, &program, &[], ctype, &[&Operand::new(line(n), to)], &[&input]);
                    let spread = |n: usize| Layout::new(vec![n], vec![2], 1).unwrap();
                    let input = Operand::filled(spread(n), from, 0);
                    agree(&what, &program, &[], ctype, &[&Operand::new(spread(n), to)], &[&input]);
                }
            }
        }
    });
}

/// The same shape in memory in different ways; the last ones cannot be written.
fn layouts(shape: &[usize]) -> Vec<(&'static str, Layout)> {
    let strides = |order: &mut dyn Iterator<Item = usize>, step: isize, gap: isize| {
        let (mut strides, mut next) = (vec![0; shape.len()], step);
        for d in order {
            strides[d] = next;
            next *= shape[d].max(1) as isize + gap;
        }
        strides
    };
    let rank = shape.len();
    let dense = strides(&mut (0..rank).rev(), 1, 0);
    let reach: isize = dense.iter().zip(shape).map(|(s, n)| s * (n.max(&1) - 1) as isize).sum();
    let flipped: Vec<isize> = dense.iter().map(|s| -s).collect();
    let odd: Vec<isize> = dense.iter().zip(shape).map(|(s, n)| if *n == 1 { 77 } else { *s }).collect();
    let narrow = strides(&mut (0..rank).rev(), 1, 3);
    let mut all = vec![
        ("contiguous", Layout::new(shape, dense.clone(), 0).unwrap()),
        ("offset", Layout::new(shape, dense.clone(), 5).unwrap()),
        ("transposed", Layout::new(shape, strides(&mut (0..rank), 1, 0), 0).unwrap()),
        ("narrowed", Layout::new(shape, narrow, 3).unwrap()),
        ("spread", Layout::new(shape, strides(&mut (0..rank).rev(), 2, 0), 1).unwrap()),
        ("flipped", Layout::new(shape, flipped, reach as usize).unwrap()),
        ("odd ones", Layout::new(shape, odd, 0).unwrap()),
    ];
    for d in 0..rank {
        let mut s = dense.clone();
        s[d] = 0;
        all.push(("expanded", Layout::new(shape, s, 2).unwrap()));
    }
    all.push(("a number", Layout::new(shape, vec![0; rank], 1).unwrap()));
    all
}
const WRITABLE: usize = 7;

#[test]
fn layouts_do_not_matter() {
    let chain = trace(&[Sort::Num, Sort::Num], 1, |x| vec![x[0] * x[1] + x[2]]).unwrap();
    let add = trace(&[Sort::Num, Sort::Num], 0, |x| vec![x[0] + x[1]]).unwrap();
    let less = trace(&[Sort::Num, Sort::Num], 0, |x| vec![x[0].lt(x[1])]).unwrap();
    let shapes: [&[usize]; 11] = [
        &[],
        &[1],
        &[0],
        &[3, 0, 2],
        &[5],
        &[4, 300],
        &[300, 3],
        &[1, 7, 1],
        &[3, 5, 9],
        &[2, 1, 3, 2, 1, 2, 4],
        &[40, 60],
    ];
    at_every_level(|| {
        for shape in shapes {
            let all = layouts(shape);
            for (k, (out_name, out)) in all.iter().take(WRITABLE).enumerate() {
                for (j, (name, a)) in all.iter().enumerate() {
                    let b = &all[(k + 2 * j + 1) % all.len()].1;
                    let what = format!("{shape:?}: {out_name} from {name}");
                    let (x, y) = (
                        Operand::filled(a.clone(), DType::F32, 3),
                        Operand::filled(b.clone(), DType::F32, 5),
                    );
                    let z = Operand::filled(b.clone(), DType::BF16, 1);
                    let target = |dtype| Operand::filled(out.clone(), dtype, 11);
                    agree(&what, &add, &[], CType::F32, &[&target(DType::F32)], &[&x, &y]);
                    agree(&what, &less, &[], CType::F32, &[&target(DType::Bool)], &[&x, &y]);
                    let param = [Number::Float(0.25)];
                    agree(&what, &chain, &param, CType::F32, &[&target(DType::F32)], &[&x, &z]);
                    agree(&what, &chain, &param, CType::F32, &[&target(DType::F16)], &[&z, &y]);
                }
            }
        }
    });
}

#[test]
fn results_may_replace_operands() {
    let programs = [
        trace(&[Sort::Num, Sort::Num], 0, |x| vec![x[0] + x[1]]).unwrap(),
        trace(&[Sort::Num, Sort::Num], 0, |x| vec![x[1] - x[0] * x[0]]).unwrap(),
        trace(&[Sort::Num, Sort::Num], 0, |x| vec![x[0] * 2.0]).unwrap(),
    ];
    let swap = trace(&[Sort::Num, Sort::Num], 0, |x| vec![x[1], x[0]]).unwrap();
    let turn = trace(&[Sort::Num, Sort::Num], 0, |x| vec![x[0] + x[1], x[0] - x[1]]).unwrap();
    at_every_level(|| {
        for (name, layout) in layouts(&[50, 70]).into_iter().take(WRITABLE) {
            for dtype in [DType::F32, DType::F64, DType::I32, DType::F16] {
                let fresh =
                    || (Operand::filled(layout.clone(), dtype, 1), Operand::filled(layout.clone(), dtype, 2));
                for (k, program) in programs.iter().enumerate() {
                    let ((a, b), (c, d)) = (fresh(), fresh());
                    run(&RefBackend, program, &[], dtype.ctype(), &[&a], &[&a, &b]).unwrap();
                    run(&CpuBackend, program, &[], dtype.ctype(), &[&c], &[&c, &d]).unwrap();
                    for (x, y) in c.numbers().into_iter().zip(a.numbers()) {
                        assert!(
                            close(dtype, x, y),
                            "program {k} in place, {name}, {dtype}: {x:?}, not {y:?}"
                        );
                    }
                }
                for program in [&swap, &turn] {
                    let ((a, b), (c, d)) = (fresh(), fresh());
                    run(&RefBackend, program, &[], dtype.ctype(), &[&a, &b], &[&a, &b]).unwrap();
                    run(&CpuBackend, program, &[], dtype.ctype(), &[&c, &d], &[&c, &d]).unwrap();
                    for (x, y) in [(&c, &a), (&d, &b)] {
                        for (x, y) in x.numbers().into_iter().zip(y.numbers()) {
                            assert!(
                                close(dtype, x, y),
                                "two results in place, {name}, {dtype}: {x:?}, not {y:?}"
                            );
                        }
                    }
                }
            }
        }
    });
}

#[test]
fn threads_do_not_change_a_bit() {
    let program = trace(&[Sort::Num, Sort::Num], 0, |x| vec![(x[0] * x[1]).tanh() + x[0].exp()]).unwrap();
    at_every_level(|| {
        for shape in [vec![400_000], vec![700, 600], vec![100_000, 3]] {
            for (name, layout) in layouts(&shape).into_iter().take(5) {
                let (x, y) =
                    (Operand::filled(layout.clone(), DType::F32, 1), Operand::filled(line(1), DType::F32, 4));
                let y =
                    Operand { layout: Layout::new(shape.as_slice(), vec![0; shape.len()], 0).unwrap(), ..y };
                let results: Vec<Vec<u8>> = [1, 2, 5]
                    .map(|threads| {
                        crate::set_num_threads(threads);
                        let out = Operand::new(layout.clone(), DType::F32);
                        run(&CpuBackend, &program, &[], CType::F32, &[&out], &[&x, &y]).unwrap();
                        out.bytes()
                    })
                    .into();
                assert!(results.windows(2).all(|w| w[0] == w[1]), "{shape:?} {name}");
            }
        }
    });
}

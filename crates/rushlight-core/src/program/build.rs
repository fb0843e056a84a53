//! From a closure over symbolic scalars to a program: hash-consing, dead code removal, registers.

use super::{Opcode, Program, Scalar, Sort, Src, Step};
use crate::{Number, Result, ensure};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Mutex;

/// One value of a program in static single assignment form; operands are earlier values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Node {
    Input(u8, Sort),
    Param(u8),
    Literal(Number),
    Op(Opcode, [u32; 3]),
}

impl Node {
    pub(crate) fn sort(self) -> Sort {
        match self {
            Node::Input(_, sort) => sort,
            Node::Param(_) | Node::Literal(_) => Sort::Num,
            Node::Op(op, _) => op.output(),
        }
    }
    /// A key that is equal for equal nodes; floats by their bits, so that -0.0 is not 0.0.
    fn key(self) -> Key {
        let leaf = |kind, bits| (Err(kind), bits, 0, 0);
        match self {
            Node::Input(i, _) => leaf(0, u64::from(i)),
            Node::Param(i) => leaf(1, u64::from(i)),
            Node::Literal(n) => match n {
                Number::Bool(b) => leaf(2, u64::from(b)),
                Number::Int(i) => leaf(3, i as u64),
                Number::UInt(u) => leaf(4, u),
                Number::Float(x) => leaf(5, x.to_bits()),
                Number::Complex(a, b) => (Err(6), a.to_bits(), b.to_bits(), 0),
            },
            Node::Op(op, [a, b, c]) => (Ok(op), a.into(), b.into(), c.into()),
        }
    }
}

/// An opcode with its operands, or a kind of leaf with its bits.
type Key = (std::result::Result<Opcode, u8>, u64, u64, u64);

/// The values recorded so far while a closure runs.
#[derive(Default)]
pub(crate) struct Builder {
    pub(crate) nodes: Vec<Node>,
    seen: FxHashMap<Key, u32>,
    epoch: u64,
    /// A scalar of another trace was used; the trace fails at its end.
    foreign: bool,
}

impl Builder {
    pub(crate) fn push(&mut self, node: Node) -> u32 {
        let next = self.nodes.len() as u32;
        let id = *self.seen.entry(node.key()).or_insert(next);
        if id == next {
            self.nodes.push(node);
        }
        id
    }
}

thread_local! {
    static CURRENT: RefCell<Vec<Builder>> = const { RefCell::new(Vec::new()) };
    static EPOCH: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Records one operation in the trace that is running on this thread.
pub(super) fn record(make: impl FnOnce(&mut dyn FnMut(Scalar) -> u32) -> Node) -> Scalar {
    CURRENT.with_borrow_mut(|stack| {
        let Some(b) = stack.last_mut() else { return Scalar { id: u32::MAX, epoch: 0 } };
        let (epoch, mut foreign) = (b.epoch, false);
        let node = make(&mut |s: Scalar| {
            foreign |= s.epoch != epoch;
            if s.epoch == epoch { s.id } else { 0 }
        });
        b.foreign |= foreign;
        if b.nodes.is_empty() && matches!(node, Node::Op(..)) {
            return Scalar { id: u32::MAX, epoch: 0 };
        }
        Scalar { id: b.push(node), epoch }
    })
}

/// What the running trace knows of a scalar, for small simplifications.
pub(super) fn literal_of(s: Scalar) -> Option<Number> {
    CURRENT.with_borrow(|stack| {
        let b = stack.last().filter(|b| b.epoch == s.epoch)?;
        match b.nodes.get(s.id as usize)? {
            Node::Literal(n) => Some(*n),
            _ => None,
        }
    })
}

/// Sort of a scalar in the running trace.
pub(super) fn sort_of(s: Scalar) -> Sort {
    CURRENT.with_borrow(|stack| {
        let node = stack.last().filter(|b| b.epoch == s.epoch).and_then(|b| b.nodes.get(s.id as usize));
        node.map_or(Sort::Num, |n| n.sort())
    })
}

/// Runs `f` with a fresh trace and gives its values and the ids of its results.
pub(super) fn record_all(f: impl FnOnce() -> Vec<Scalar>) -> Result<(Vec<Node>, Vec<u32>)> {
    struct Pop;
    impl Drop for Pop {
        fn drop(&mut self) {
            CURRENT.with_borrow_mut(|stack| stack.pop());
        }
    }
    let epoch = EPOCH.with(|e| {
        e.set(e.get() + 1);
        e.get()
    });
    CURRENT.with_borrow_mut(|stack| stack.push(Builder { epoch, ..Builder::default() }));
    let pop = Pop; // also when `f` unwinds
    let results = f();
    let (nodes, foreign) = CURRENT.with_borrow_mut(|stack| {
        stack.last_mut().map_or((Vec::new(), true), |b| (std::mem::take(&mut b.nodes), b.foreign))
    });
    drop(pop);
    let foreign = foreign || results.iter().any(|r| r.epoch != epoch);
    ensure!(
        !foreign,
        Value,
        "pointwise",
        "the formula used a scalar that is not one of its own arguments; a scalar lives only while its formula is traced"
    );
    Ok((nodes, results.iter().map(|r| r.id).collect()))
}

/// Turns a closure over symbolic scalars into a program.
///
/// `inputs` are the sorts of the arguments, `params` the number of per-call constants that follow
/// them. The closure is called once, with inputs first and parameters after.
///
/// # Errors
/// `Value` when the closure returns a scalar that belongs to another trace, no result at all, or
/// needs more registers than a program may have (128).
pub fn trace(inputs: &[Sort], params: usize, f: impl FnOnce(&[Scalar]) -> Vec<Scalar>) -> Result<Program> {
    trace_bound(inputs, params, 0, f)
}

/// As [`trace`], but the inputs whose bits are set in `bound` become parameters, numbered after the
/// others: the same formula for calls that pass plain numbers there.
///
/// # Errors
/// As [`trace`].
pub fn trace_bound(
    inputs: &[Sort],
    params: usize,
    bound: u64,
    f: impl FnOnce(&[Scalar]) -> Vec<Scalar>,
) -> Result<Program> {
    ensure!(
        inputs.len() <= 64 && params <= 64,
        Value,
        "pointwise",
        "{} inputs and {params} parameters; at most 64 of each work",
        inputs.len()
    );
    let (mut free, mut all) = (Vec::new(), params);
    let mut args: Vec<Node> = Vec::with_capacity(inputs.len() + params);
    for (i, sort) in inputs.iter().enumerate() {
        args.push(if bound >> i & 1 == 1 {
            all += 1;
            Node::Param(all as u8 - 1)
        } else {
            free.push(*sort);
            Node::Input(free.len() as u8 - 1, *sort)
        });
    }
    args.extend((0..params).map(|i| Node::Param(i as u8)));
    let (nodes, roots) = record_all(|| {
        let args: Vec<Scalar> = args.iter().map(|n| record(|_| *n)).collect();
        f(&args)
    })?;
    compile(args, free, all, nodes, roots)
}

/// Removes dead values and gives each remaining one a register, reused once its last reader is done.
pub(crate) fn compile(
    args: Vec<Node>,
    inputs: Vec<Sort>,
    params: usize,
    nodes: Vec<Node>,
    roots: Vec<u32>,
) -> Result<Program> {
    ensure!(!roots.is_empty(), Value, "pointwise", "the formula gives no result");
    let mut last_use = vec![0usize; nodes.len()];
    let mut live = vec![false; nodes.len()];
    for r in &roots {
        live[*r as usize] = true;
        last_use[*r as usize] = usize::MAX;
    }
    for at in (0..nodes.len()).rev().filter(|i| matches!(nodes[*i], Node::Op(..))) {
        if let (true, Node::Op(op, args)) = (live[at], nodes[at]) {
            for a in &args[..op.inputs().len()] {
                live[*a as usize] = true;
                last_use[*a as usize] = last_use[*a as usize].max(at);
            }
        }
    }
    let (mut literals, mut steps, mut place) = (Vec::new(), Vec::new(), vec![Src::Reg(0); nodes.len()]);
    let (mut free, mut registers): (Vec<u8>, u8) = (Vec::new(), 0);
    for (at, node) in nodes.iter().enumerate().filter(|(i, _)| live[*i]) {
        place[at] = match *node {
            Node::Input(i, _) => Src::Input(i),
            Node::Param(i) => Src::Param(i),
            Node::Literal(n) => {
                ensure!(
                    literals.len() < 200,
                    Value,
                    "pointwise",
                    "more than 200 different numbers in one formula; pass some as tensors"
                );
                literals.push(n);
                Src::Literal(literals.len() as u8 - 1)
            }
            Node::Op(op, args) => {
                let dst = match free.pop() {
                    Some(r) => r,
                    None => {
                        ensure!(
                            registers < 128,
                            Value,
                            "pointwise",
                            "the formula keeps more than 128 values alive at once; split it"
                        );
                        registers += 1;
                        registers - 1
                    }
                };
                steps.push(Step {
                    op,
                    dst,
                    args: args.map(|a| place.get(a as usize).copied().unwrap_or(Src::Reg(0))),
                });
                // Freed after dst is taken, so a step never writes what it reads.
                let mut done: Vec<u32> = args[..op.inputs().len()].to_vec();
                done.dedup();
                done.sort_unstable();
                done.dedup();
                for a in done {
                    if let (true, Src::Reg(r)) = (last_use[a as usize] == at, place[a as usize]) {
                        free.push(r);
                    }
                }
                Src::Reg(dst)
            }
        };
    }
    let outputs = roots.iter().map(|r| (place[*r as usize], nodes[*r as usize].sort())).collect();
    Ok(Program {
        args,
        inputs,
        params: params as u8,
        literals,
        steps,
        outputs,
        registers,
        usual_grads: Default::default(),
        grads: Mutex::default(),
        grad_rule: None,
        nodes,
        roots,
    })
}

//! The derivative of every opcode, and from them the gradient of any program as a program.
//!
//! Rules are written with [`Scalar`]s, so the gradient of a gradient comes the same way. A rule
//! reads the result `y` where torch keeps the output (exp, tanh, sqrt ...) and the operands where
//! torch keeps inputs; which tensors autograd must save then falls out of what the program reads.

use super::build::{Node, compile, record, record_all};
use super::{Opcode, Program, Scalar, Sort};
use crate::{Number, Result};
use std::f64::consts::{LN_2, LN_10, PI};
use std::sync::Arc;

/// A hand-written gradient: `(inputs then parameters, result, incoming gradient) -> one per input`.
pub type GradRule = fn(&[Scalar], Scalar, Scalar) -> Vec<Scalar>;

/// What an input of a gradient program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feed {
    /// The gradient of the `k`-th output.
    Grad(usize),
    /// The `k`-th input of the original program.
    Input(usize),
    /// The `k`-th output of the original program.
    Output(usize),
}

/// The gradient of a program with respect to some of its inputs.
#[derive(Debug)]
pub struct GradProgram {
    /// Takes the feeds and the original parameters; gives one result per wanted input.
    pub program: Arc<Program>,
    /// What to pass as each input.
    pub feeds: Vec<Feed>,
    /// Which input each result belongs to.
    pub wanted: Vec<usize>,
}

impl Program {
    /// The same program with a gradient of its own, for formulas whose derived one would be
    /// unstable (a branch not taken that overflows, say).
    #[must_use]
    pub fn with_grad(mut self, rule: GradRule) -> Program {
        self.grad_rule = Some(rule);
        self
    }

    /// The gradient program for the inputs whose bits are set in `wanted`. Derived once, then kept.
    ///
    /// # Errors
    /// `Value` when the gradient would need more registers than a program may have.
    pub fn grad(&self, wanted: u64) -> Result<Arc<GradProgram>> {
        if let Some(slot) = self.usual_grads.get(wanted as usize) {
            if let Some(grad) = slot.get() {
                return Ok(grad.clone());
            }
            let grad = Arc::new(self.derive(wanted)?);
            return Ok(slot.get_or_init(|| grad).clone());
        }
        let mut cache = self.grads.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, g)) = cache.iter().find(|(w, _)| *w == wanted) {
            return Ok(g.clone());
        }
        let grad = Arc::new(self.derive(wanted)?);
        cache.push((wanted, grad.clone()));
        Ok(grad)
    }

    /// A function without a derivative on the way from the wanted inputs to a result, if there is one.
    pub(crate) fn underived(&self, wanted: u64) -> Option<&'static str> {
        let mut reached = vec![false; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            match *node {
                Node::Input(i, _) => reached[at] = wanted >> i & 1 == 1,
                Node::Op(op, args) => {
                    let mut operands = args[..op.inputs().len()].iter().enumerate();
                    let through = |&(_, a): &(usize, &u32)| reached[*a as usize];
                    if let Opcode::Special(f) = op
                        && operands.clone().filter(through).any(|(k, _)| f.lacks(k))
                    {
                        return Some(f.name());
                    }
                    reached[at] = operands.any(|(_, a)| reached[*a as usize]);
                }
                _ => {}
            }
        }
        None
    }

    fn derive(&self, wanted: u64) -> Result<GradProgram> {
        let wanted: Vec<usize> =
            (0..self.inputs.len()).filter(|i| wanted >> i & 1 == 1 && self.inputs[*i] == Sort::Num).collect();
        let mut feeds: Vec<Feed> = Vec::new();
        feeds.extend((0..self.roots.len()).map(Feed::Grad));
        feeds.extend((0..self.inputs.len()).map(Feed::Input));
        feeds.extend((0..self.roots.len()).map(Feed::Output));
        let sort = |f: &Feed| match *f {
            Feed::Grad(_) => Sort::Num,
            Feed::Input(i) => self.inputs[i],
            Feed::Output(k) => self.outputs[k].1,
        };
        let (nodes, roots) = record_all(|| {
            let fed: Vec<Scalar> =
                feeds.iter().enumerate().map(|(i, f)| record(|_| Node::Input(i as u8, sort(f)))).collect();
            let (outs, ins) = (self.roots.len(), self.inputs.len());
            let grads = match self.grad_rule {
                Some(rule) => {
                    let args: Vec<Scalar> = self
                        .args
                        .iter()
                        .map(|a| match *a {
                            Node::Input(i, _) => fed[outs + usize::from(i)],
                            leaf => record(|_| leaf),
                        })
                        .collect();
                    let all = rule(&args, fed[outs + ins], fed[0]);
                    let free = |(a, g): (&Node, Scalar)| matches!(a, Node::Input(..)).then_some(g);
                    self.args.iter().zip(all).filter_map(free).collect()
                }
                None => self.reverse(&fed[..outs], &fed[outs..outs + ins], &fed[outs + ins..]),
            };
            wanted.iter().map(|i| grads[*i]).collect()
        })?;
        // Keep only the feeds that the derived program reads.
        let mut used = vec![false; feeds.len()];
        let mut stack: Vec<u32> = roots.clone();
        let mut seen = vec![false; nodes.len()];
        while let Some(n) = stack.pop() {
            if std::mem::replace(&mut seen[n as usize], true) {
                continue;
            }
            match nodes[n as usize] {
                Node::Input(i, _) => used[usize::from(i)] = true,
                Node::Op(op, args) => stack.extend(&args[..op.inputs().len()]),
                _ => {}
            }
        }
        let renumber: Vec<u8> = used
            .iter()
            .scan(0u8, |n, u| {
                let at = *n;
                *n += u8::from(*u);
                Some(at)
            })
            .collect();
        let nodes = nodes
            .into_iter()
            .map(|n| match n {
                Node::Input(i, s) if used[usize::from(i)] => Node::Input(renumber[usize::from(i)], s),
                // A feed that nothing live reads has no number any more.
                Node::Input(..) => Node::Literal(Number::Float(0.0)),
                other => other,
            })
            .collect();
        let feeds: Vec<Feed> = feeds.into_iter().zip(&used).filter(|(_, u)| **u).map(|(f, _)| f).collect();
        let sorts: Vec<Sort> = feeds.iter().map(sort).collect();
        let feed_args = sorts.iter().enumerate().map(|(i, s)| Node::Input(i as u8, *s)).collect();
        let program = compile(feed_args, sorts, self.params(), nodes, roots)?;
        Ok(GradProgram { program: Arc::new(program), feeds, wanted })
    }

    /// Reverse accumulation over the values: replays the forward values, then walks back.
    fn reverse(&self, grads: &[Scalar], inputs: &[Scalar], outputs: &[Scalar]) -> Vec<Scalar> {
        let mut value: Vec<Scalar> = Vec::with_capacity(self.nodes.len());
        for n in &self.nodes {
            value.push(match *n {
                Node::Input(i, _) => inputs[usize::from(i)],
                Node::Op(op, args) => {
                    let args = args.map(|a| value.get(a as usize).copied());
                    record(|id| Node::Op(op, args.map(|a| a.map_or(0, &mut *id))))
                }
                leaf => record(|_| leaf),
            });
        }
        let mut adjoint: Vec<Option<Scalar>> = vec![None; self.nodes.len()];
        let add = |slot: &mut Option<Scalar>, g: Scalar| *slot = Some(slot.map_or(g, |old| old + g));
        for (k, r) in self.roots.iter().enumerate().filter(|(k, _)| self.outputs[*k].1 == Sort::Num) {
            add(&mut adjoint[*r as usize], grads[k]);
        }
        for at in (0..self.nodes.len()).rev() {
            let (Some(g), Node::Op(op, args)) = (adjoint[at], self.nodes[at]) else { continue };
            let kept = self.roots.iter().position(|r| *r as usize == at);
            let y = kept.map_or(value[at], |k| outputs[k]);
            let x = args.map(|a| value.get(a as usize).copied().unwrap_or(y));
            for (slot, dx) in opcode_grad(op, x, y, g).into_iter().enumerate() {
                if let Some(dx) = dx {
                    add(&mut adjoint[args[slot] as usize], dx);
                }
            }
        }
        let mut result = vec![Scalar::number(0.0); inputs.len()];
        for (n, a) in self.nodes.iter().zip(adjoint) {
            if let (Node::Input(i, _), Some(g)) = (n, a) {
                result[usize::from(*i)] = g;
            }
        }
        result
    }
}

/// `d op / d x` times `g` for each operand; `None` where nothing can flow (truth values).
fn opcode_grad(op: Opcode, [a, b, c]: [Scalar; 3], y: Scalar, g: Scalar) -> [Option<Scalar>; 3] {
    use Opcode::*;
    let zero = || Scalar::number(0.0);
    let one = |d: Scalar| [Some(d), None, None];
    let two = |d: Scalar, e: Scalar| [Some(d), Some(e), None];
    match op {
        Neg => one(-g),
        Abs => one(g * a.sign()),
        Sign | Floor | Ceil | Round | Trunc => one(zero()),
        Recip => one(-g * y * y),
        Sqrt => one(g / (y * 2.0)),
        Rsqrt => one(g * y * y * y * -0.5),
        Exp => one(g * y),
        Exp2 => one(g * y * LN_2),
        Expm1 => one(g * (y + 1.0)),
        Log => one(g / a),
        Log2 => one(g / (a * LN_2)),
        Log10 => one(g / (a * LN_10)),
        Log1p => one(g / (a + 1.0)),
        Sin => one(g * a.cos()),
        Cos => one(-g * a.sin()),
        Tan => one(g * (y * y + 1.0)),
        Asin => one(g * (1.0 - a * a).rsqrt()),
        Acos => one(-g * (1.0 - a * a).rsqrt()),
        Atan => one(g / (a * a + 1.0)),
        Sinh => one(g * a.cosh()),
        Cosh => one(g * a.sinh()),
        Tanh => one(g * (1.0 - y * y)),
        Asinh => one(g * (a * a + 1.0).rsqrt()),
        Acosh => one(g * ((a - 1.0).rsqrt() * (a + 1.0).rsqrt())),
        Atanh => one(g / (1.0 - a * a)),
        Sigmoid => one(g * (1.0 - y) * y),
        Erf => one(g * (2.0 / PI.sqrt()) * (-(a * a)).exp()),
        Erfc => one(g * (-2.0 / PI.sqrt()) * (-(a * a)).exp()),
        Relu => one(y.le(0.0).select(0.0, g)),
        Add => two(g, g),
        Sub => two(g, -g),
        Mul => two(g * b, g * a),
        Div => two(g / b, -g * (a / b / b)),
        FloorDiv => two(zero(), zero()),
        Rem => two(g, -g * a.floor_divide(b)),
        Fmod => two(g, -g * (a / b).trunc()),
        Pow => {
            let da = b.eq(0.0).select(0.0, g * b * a.pow(b - 1.0));
            // 0 to a power that gives a finite number does not depend on the power; complex exponents
            // have no order to ask for.
            let db = (a.eq(0.0) & (y * 0.0).eq(0.0)).select(0.0, g * y * a.log());
            two(da, db)
        }
        Atan2 => {
            let r = a * a + b * b;
            two(g * b / r, -g * a / r)
        }
        // Ties share, as torch's do; a NaN operand passes the gradient.
        Max => two(
            a.lt(b).select(0.0, a.eq(b).select(g * 0.5, g)),
            a.gt(b).select(0.0, a.eq(b).select(g * 0.5, g)),
        ),
        Min => two(
            a.gt(b).select(0.0, a.eq(b).select(g * 0.5, g)),
            a.lt(b).select(0.0, a.eq(b).select(g * 0.5, g)),
        ),
        Copysign => two(a.eq(0.0).select(0.0, g * (y / a)), zero()),
        Special(f) => match f.rule() {
            Some(rule) => {
                let [da, db] = rule(a, b, y, g);
                [da, db, None]
            }
            // `underived` is asked first.
            None => [None, None, None],
        },
        Select => [None, Some(a.select(g, 0.0)), Some(a.select(0.0, g))],
        BitNot | BitAnd | BitOr | BitXor | Shl | Shr | Eq | Ne | Lt | Le | Gt | Ge | IsNan | IsInf | And
        | Or | Xor | Not | ToTruth | FromTruth => {
            let _ = c;
            [None, None, None]
        }
    }
}

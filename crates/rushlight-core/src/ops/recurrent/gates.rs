//! What gates do at one step of a recurrent network, each in one pass over memory.

use crate::op::{Formula, Operand, Traced};
use crate::{Result, Tensor, bail};
use std::sync::OnceLock;

/// State and memory of an LSTM after a step, of what its gates get and of the memory before:
/// `sigmoid(f) * memory + sigmoid(i) * tanh(g)` is the memory, `sigmoid(o) * tanh(memory)` the state.
pub(super) fn lstm([i, f, g, o]: [&Tensor; 4], memory: &Tensor) -> Result<[Tensor; 2]> {
    static STEP: OnceLock<Traced> = OnceLock::new();
    let step = match STEP.get() {
        Some(step) => step,
        None => {
            let made = Traced::new(5, |x| {
                let memory = x[1].sigmoid() * x[4] + x[0].sigmoid() * x[2].tanh();
                (vec![x[3].sigmoid() * memory.tanh(), memory], true)
            })?;
            STEP.get_or_init(|| made)
        }
    };
    let mut made = step.call(&[i, f, g, o, memory].map(|t| Operand::Tensor(t.clone())))?;
    match (made.pop(), made.pop()) {
        (Some(memory), Some(state)) => Ok([state, memory]),
        _ => bail!(Runtime, "lstm", "a step gave no state and memory"),
    }
}

/// The state of a GRU after a step, of the parts that input and state have in each gate (`r z n`):
/// `(1 - z) * n + z * state` with `n = tanh(input_n + r * state_n)`.
pub(super) fn gru([xr, xz, xn]: [&Tensor; 3], [hr, hz, hn]: [&Tensor; 3], state: &Tensor) -> Result<Tensor> {
    static STEP: OnceLock<Formula<7>> = OnceLock::new();
    let step = match STEP.get() {
        Some(step) => step,
        None => {
            let made = Formula::new(|[xr, xz, xn, hr, hz, hn, state]| {
                let (r, z) = ((xr + hr).sigmoid(), (xz + hz).sigmoid());
                let n = (xn + r * hn).tanh();
                n + z * (state - n)
            })?;
            STEP.get_or_init(|| made)
        }
    };
    step.call([xr, xz, xn, hr, hz, hn, state])
}

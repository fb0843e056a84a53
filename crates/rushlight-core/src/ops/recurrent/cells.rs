//! One step of each kind of cell.

use super::gates;
use crate::{Result, Tensor, ensure};

#[derive(Clone, Copy)]
pub(super) enum Cell {
    Tanh,
    Relu,
    Lstm,
    Gru,
}

impl Cell {
    /// How many states pass from step to step.
    pub(super) fn states(self) -> usize {
        if matches!(self, Cell::Lstm) { 2 } else { 1 }
    }

    /// How many parts the weights have, one after the other.
    fn gates(self) -> i64 {
        match self {
            Cell::Tanh | Cell::Relu => 1,
            Cell::Lstm => 4,
            Cell::Gru => 3,
        }
    }

    /// States from what the gates get of the input and of the state.
    fn step(self, input: &Tensor, state: &Tensor, now: &[Tensor]) -> Result<Vec<Tensor>> {
        let width = state.shape().last().copied().unwrap_or(0) as i64;
        let hidden = |gates: i64| width / gates;
        ensure!(
            width > 0 && width % self.gates() == 0,
            Runtime,
            "rnn",
            "{width} rows of weights are no multiple of {} gates",
            self.gates()
        );
        match self {
            Cell::Tanh => Ok(vec![input.add(state)?.tanh()?]),
            Cell::Relu => Ok(vec![input.add(state)?.relu()?]),
            Cell::Lstm => {
                let parts = input.add(state)?.split(hidden(4), -1)?;
                let next = gates::lstm([&parts[0], &parts[1], &parts[2], &parts[3]], &now[1])?;
                Ok(next.into())
            }
            Cell::Gru => {
                let (x, h) = (input.split(hidden(3), -1)?, state.split(hidden(3), -1)?);
                Ok(vec![gates::gru([&x[0], &x[1], &x[2]], [&h[0], &h[1], &h[2]], &now[0])?])
            }
        }
    }
}

/// The parameters of one layer in one direction.
pub(super) struct Weights<'a> {
    input: &'a Tensor,
    state: &'a Tensor,
    biases: Option<[&'a Tensor; 2]>,
    projection: Option<&'a Tensor>,
}

impl<'a> Weights<'a> {
    /// `list` has at least two, or four with biases; one more is the projection.
    pub(super) fn new(list: &'a [Tensor], biases: bool) -> Weights<'a> {
        Weights {
            input: &list[0],
            state: &list[1],
            biases: biases.then(|| [&list[2], &list[3]]),
            projection: list.get(if biases { 4 } else { 2 }),
        }
    }

    /// What the gates get of all inputs at once. Where a gate only adds both biases, they are in here.
    pub(super) fn of_input(&self, cell: Cell, x: &Tensor) -> Result<Tensor> {
        let bias = match (self.biases, cell) {
            (Some([a, _]), Cell::Gru) => Some(a.clone()),
            (Some([a, b]), _) => Some(a.add(b)?),
            (None, _) => None,
        };
        x.linear(self.input, bias.as_ref())
    }

    /// For `steps` steps.
    pub(super) fn stepper(&self, cell: Cell, steps: usize) -> Result<Stepper<'a>> {
        let bias = match (self.biases, cell) {
            (Some([_, b]), Cell::Gru) => Some(b),
            _ => None,
        };
        // Products with rows side by side are several times quicker, which pays for one copy.
        let columns = if steps > 1 { Some(self.state.detach()?.t()?.contiguous()?) } else { None };
        Ok(Stepper { cell, state: self.state, columns, bias, projection: self.projection })
    }
}

/// What all steps of a pass share.
pub(super) struct Stepper<'a> {
    cell: Cell,
    /// [gates * hidden, hidden].
    state: &'a Tensor,
    columns: Option<Tensor>,
    bias: Option<&'a Tensor>,
    projection: Option<&'a Tensor>,
}

impl Stepper<'_> {
    /// The states [n, hidden] after a step whose gates get `input` [n, gates * hidden] of the input.
    pub(super) fn step(&self, input: &Tensor, now: &[Tensor]) -> Result<Vec<Tensor>> {
        let mut state = match &self.columns {
            Some(columns) => now[0].step_product(self.state, columns)?,
            None => now[0].linear(self.state, None)?,
        };
        if let Some(b) = self.bias {
            state = state.add(b)?;
        }
        let mut next = self.cell.step(input, &state, now)?;
        if let Some(w) = self.projection {
            next[0] = next[0].linear(w, None)?;
        }
        Ok(next)
    }
}

/// One step by itself: `input` [.., in], states [.., hidden].
pub(super) fn single(
    op: &'static str,
    cell: Cell,
    input: &Tensor,
    now: &[Tensor],
    [w_input, w_state]: [&Tensor; 2],
    [b_input, b_state]: [&Option<Tensor>; 2],
) -> Result<Vec<Tensor>> {
    ensure!(now.len() == cell.states(), Runtime, op, "{} states; {} are needed", now.len(), cell.states());
    let hidden = now[0].shape().last().copied().unwrap_or(0) as i64;
    ensure!(
        w_state.dim() == 2 && w_state.shape()[0] as i64 == hidden.saturating_mul(cell.gates()),
        Runtime,
        op,
        "a state of shape {:?} and a weight of shape {:?}: [{} * hidden, hidden] is needed",
        now[0].shape(),
        w_state.shape(),
        cell.gates()
    );
    let x = input.linear(w_input, b_input.as_ref()).map_err(|e| e.in_op(op))?;
    let h = now[0].linear(w_state, b_state.as_ref()).map_err(|e| e.in_op(op))?;
    ensure!(
        x.shape() == h.shape(),
        Runtime,
        op,
        "input {:?} and state {:?} give gates of shapes {:?} and {:?}",
        input.shape(),
        now[0].shape(),
        x.shape(),
        h.shape()
    );
    cell.step(&x, &h, now).map_err(|e| e.in_op(op))
}

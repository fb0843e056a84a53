//! Arguments for the laws: one and two layers, one direction and both, with biases and without.

use crate::op::{Sample, Value, samples::values};
use crate::{Result, Tensor};

const INPUT: usize = 3;
const HIDDEN: usize = 2;

/// Layers, directions, biases and the width of the projection, 0 for none.
type Form = (usize, usize, bool, usize);

const FORMS: [Form; 3] = [(1, 1, true, 0), (2, 2, true, 0), (1, 2, false, 0)];

/// The parameters of a network with `gates` gates.
fn params(gates: usize, (layers, directions, biases, projected): Form) -> Result<Vec<Tensor>> {
    let shown = if projected > 0 { projected } else { HIDDEN };
    let mut list = Vec::new();
    for layer in 0..layers {
        for _ in 0..directions {
            let width = if layer == 0 { INPUT } else { shown * directions };
            list.push(values(&[gates * HIDDEN, width], list.len())?);
            list.push(values(&[gates * HIDDEN, shown], list.len())?);
            if biases {
                list.push(values(&[gates * HIDDEN], list.len())?);
                list.push(values(&[gates * HIDDEN], list.len())?);
            }
            if projected > 0 {
                list.push(values(&[projected, HIDDEN], list.len())?);
            }
        }
    }
    Ok(list)
}

fn network(gates: usize, states: usize, packed: bool, form: Form) -> Result<Sample> {
    let (layers, directions, biases, projected) = form;
    let shown = if projected > 0 { projected } else { HIDDEN };
    let first = values(&[layers * directions, 3, shown], 5)?;
    let mut args = crate::op::Args::new();
    if packed {
        args.push(Value::Tensor(values(&[6, INPUT], 1)?));
        args.push(Value::Tensor(Tensor::from_vec(vec![3i64, 2, 1], [3])?));
    } else {
        args.push(Value::Tensor(values(&[2, 3, INPUT], 1)?));
    }
    if states == 2 {
        args.push(Value::Tensors(vec![first, values(&[layers * directions, 3, HIDDEN], 8)?]));
    } else {
        args.push(Value::Tensor(first));
    }
    args.push(Value::Tensors(params(gates, form)?));
    args.extend([
        Value::Bool(biases),
        Value::Int(layers as i64),
        Value::Float(0.0),
        Value::Bool(true),
        Value::Bool(directions == 2),
    ]);
    if !packed {
        args.push(Value::Bool(false));
    }
    Ok(Sample { args, grad: true })
}

fn networks(gates: usize, states: usize, packed: bool, forms: &[Form]) -> Vec<Sample> {
    forms.iter().filter_map(|form| network(gates, states, packed, *form).ok()).collect()
}

pub(super) fn lstm() -> Vec<Sample> {
    networks(4, 2, false, &[FORMS[0], FORMS[1], (2, 2, true, 1), (1, 1, false, 1)])
}

pub(super) fn lstm_packed() -> Vec<Sample> {
    networks(4, 2, true, &[FORMS[0], FORMS[2], (1, 2, true, 1)])
}

pub(super) fn gru() -> Vec<Sample> {
    networks(3, 1, false, &FORMS)
}

pub(super) fn gru_packed() -> Vec<Sample> {
    networks(3, 1, true, &FORMS)
}

pub(super) fn plain() -> Vec<Sample> {
    networks(1, 1, false, &FORMS)
}

pub(super) fn plain_packed() -> Vec<Sample> {
    networks(1, 1, true, &FORMS)
}

/// Both forms of one weight; a difference in one of them is no derivative, so the networks test the gradient.
pub(super) fn product() -> Vec<Sample> {
    let make = || -> Result<Sample> {
        let weight = values(&[8, HIDDEN], 3)?;
        let columns = weight.t()?.contiguous()?;
        let args = [values(&[4, HIDDEN], 2)?, weight, columns].map(Value::Tensor);
        Ok(Sample { args: args.into_iter().collect(), grad: false })
    };
    make().into_iter().collect()
}

fn cell(gates: usize, states: usize, biases: bool) -> Result<Sample> {
    let bias = |salt| if biases { values(&[gates * HIDDEN], salt).map(Some) } else { Ok(None) };
    let state = |salt| values(&[4, HIDDEN], salt);
    let hx = if states == 2 { Value::Tensors(vec![state(2)?, state(3)?]) } else { Value::Tensor(state(2)?) };
    let args = [
        Value::Tensor(values(&[4, INPUT], 1)?),
        hx,
        Value::Tensor(values(&[gates * HIDDEN, INPUT], 4)?),
        Value::Tensor(values(&[gates * HIDDEN, HIDDEN], 5)?),
        Value::OptTensor(bias(6)?),
        Value::OptTensor(bias(7)?),
    ];
    Ok(Sample { args: args.into_iter().collect(), grad: true })
}

fn cells(gates: usize, states: usize) -> Vec<Sample> {
    [true, false].into_iter().filter_map(|biases| cell(gates, states, biases).ok()).collect()
}

pub(super) fn lstm_cell() -> Vec<Sample> {
    cells(4, 2)
}

pub(super) fn gru_cell() -> Vec<Sample> {
    cells(3, 1)
}

pub(super) fn plain_cell() -> Vec<Sample> {
    cells(1, 1)
}

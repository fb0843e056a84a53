//! Recurrent networks (Elman 1990; Hochreiter and Schmidhuber 1997; Cho et al. 2014) over sequences.
//!
//! All inputs of a layer meet their weights in one product; a step then costs one small product and a
//! pass or two of its gates. Sequences of one length are packed ones whose steps are all as wide.

mod cells;
mod gates;
mod samples;

use crate::{DType, Result, Tensor, bail, ensure};
use cells::{Cell, Weights};
use smallvec::smallvec;

ops! { RECURRENT;
    /// An LSTM over `input` [T, N, in], or [N, T, in] with `batch_first`.
    ///
    /// `hx`: the first states [layers * directions, N, hidden] (or projected), and memories. `params`: for each layer and
    /// direction the weights of input and state, gates `i f g o` one after the other, both biases if `has_biases`, and
    /// the projection if there is one. `dropout` acts between layers while `train`. Gives the last layer's states
    /// [T, N, directions * hidden], the last states and the last memories.
    fn lstm (input: Tensor, hx: Tensors, params: Tensors, has_biases: Bool, num_layers: Int, dropout: Float, train: Bool, bidirectional: Bool, batch_first: Bool) -> (Tensor, Tensor, Tensor) [output h c] {
        run: Network::new("lstm", Cell::Lstm, [*num_layers, (*bidirectional).into()], *has_biases, *dropout, *train)?.padded(input, hx, params, *batch_first).and_then(three),
        samples: samples::lstm,
    }
    /// As `lstm`, over packed sequences: `batch_sizes` says how many of the rows of `data` each step has.
    fn lstm_packed as lstm (data: Tensor, batch_sizes: Tensor, hx: Tensors, params: Tensors, has_biases: Bool, num_layers: Int, dropout: Float, train: Bool, bidirectional: Bool) -> (Tensor, Tensor, Tensor) [output h c] {
        run: Network::new("lstm", Cell::Lstm, [*num_layers, (*bidirectional).into()], *has_biases, *dropout, *train)?.packed(data, batch_sizes, hx, params).and_then(three),
        samples: samples::lstm_packed,
    }
    /// As `lstm`, of gated recurrent units: `hx` is the first state, gates are `r z n`. Gives the states and the last state.
    fn gru (input: Tensor, hx: Tensor, params: Tensors, has_biases: Bool, num_layers: Int, dropout: Float, train: Bool, bidirectional: Bool, batch_first: Bool) -> (Tensor, Tensor) [output h] {
        run: Network::new("gru", Cell::Gru, [*num_layers, (*bidirectional).into()], *has_biases, *dropout, *train)?.padded(input, std::slice::from_ref(hx), params, *batch_first).and_then(two),
        samples: samples::gru,
    }
    /// As `gru`, over packed sequences: `batch_sizes` says how many of the rows of `data` each step has.
    fn gru_packed as gru (data: Tensor, batch_sizes: Tensor, hx: Tensor, params: Tensors, has_biases: Bool, num_layers: Int, dropout: Float, train: Bool, bidirectional: Bool) -> (Tensor, Tensor) [output h] {
        run: Network::new("gru", Cell::Gru, [*num_layers, (*bidirectional).into()], *has_biases, *dropout, *train)?.packed(data, batch_sizes, std::slice::from_ref(hx), params).and_then(two),
        samples: samples::gru_packed,
    }
    /// As `gru`, without gates: `tanh(input @ W^T + state @ U^T + biases)`.
    fn rnn_tanh (input: Tensor, hx: Tensor, params: Tensors, has_biases: Bool, num_layers: Int, dropout: Float, train: Bool, bidirectional: Bool, batch_first: Bool) -> (Tensor, Tensor) [output h] {
        run: Network::new("rnn_tanh", Cell::Tanh, [*num_layers, (*bidirectional).into()], *has_biases, *dropout, *train)?.padded(input, std::slice::from_ref(hx), params, *batch_first).and_then(two),
        samples: samples::plain,
    }
    /// As `rnn_tanh`, over packed sequences.
    fn rnn_tanh_packed as rnn_tanh (data: Tensor, batch_sizes: Tensor, hx: Tensor, params: Tensors, has_biases: Bool, num_layers: Int, dropout: Float, train: Bool, bidirectional: Bool) -> (Tensor, Tensor) [output h] {
        run: Network::new("rnn_tanh", Cell::Tanh, [*num_layers, (*bidirectional).into()], *has_biases, *dropout, *train)?.packed(data, batch_sizes, std::slice::from_ref(hx), params).and_then(two),
        samples: samples::plain_packed,
    }
    /// As `rnn_tanh`, with `relu` for `tanh`.
    fn rnn_relu (input: Tensor, hx: Tensor, params: Tensors, has_biases: Bool, num_layers: Int, dropout: Float, train: Bool, bidirectional: Bool, batch_first: Bool) -> (Tensor, Tensor) [output h] {
        run: Network::new("rnn_relu", Cell::Relu, [*num_layers, (*bidirectional).into()], *has_biases, *dropout, *train)?.padded(input, std::slice::from_ref(hx), params, *batch_first).and_then(two),
        samples: samples::plain,
    }
    /// As `rnn_relu`, over packed sequences.
    fn rnn_relu_packed as rnn_relu (data: Tensor, batch_sizes: Tensor, hx: Tensor, params: Tensors, has_biases: Bool, num_layers: Int, dropout: Float, train: Bool, bidirectional: Bool) -> (Tensor, Tensor) [output h] {
        run: Network::new("rnn_relu", Cell::Relu, [*num_layers, (*bidirectional).into()], *has_biases, *dropout, *train)?.packed(data, batch_sizes, std::slice::from_ref(hx), params).and_then(two),
        samples: samples::plain_packed,
    }
    /// `input @ weight^T` where `columns` is `weight^T` in row-major order, which products forwards and backwards
    /// are several times quicker with. The gradients are those of `input` and `weight`.
    fn step_product as internal (input: Tensor, weight: Tensor, columns: Tensor) -> Tensor {
        run: input.matmul(columns),
        grad: [reads inputs 0 1; outputs] |cx| {
            let g = cx.grad(0)?;
            let input = if cx.needs(0) { Some(g.matmul(&cx.input(1)?)?) } else { None };
            let weight = if cx.needs(1) { Some(g.t()?.matmul(&cx.input(0)?)?) } else { None };
            Ok(smallvec![input, weight, None])
        },
        samples: samples::product,
    }
    /// One step of an LSTM: `input` [N, in] and `hx` (state and memory, [N, hidden]) give both after it.
    fn lstm_cell (input: Tensor, hx: Tensors, w_ih: Tensor, w_hh: Tensor, b_ih: OptTensor = None, b_hh: OptTensor = None) -> (Tensor, Tensor) [h c] {
        run: cells::single("lstm_cell", Cell::Lstm, input, hx, [w_ih, w_hh], [b_ih, b_hh]).and_then(two_states),
        samples: samples::lstm_cell,
    }
    /// One step of a gated recurrent unit: `input` [N, in] and the state `hx` [N, hidden] give the state after it.
    fn gru_cell (input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: OptTensor = None, b_hh: OptTensor = None) -> Tensor {
        run: cells::single("gru_cell", Cell::Gru, input, std::slice::from_ref(hx), [w_ih, w_hh], [b_ih, b_hh]).and_then(one_state),
        samples: samples::gru_cell,
    }
    /// `tanh(input @ w_ih^T + b_ih + hx @ w_hh^T + b_hh)`.
    fn rnn_tanh_cell (input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: OptTensor = None, b_hh: OptTensor = None) -> Tensor {
        run: cells::single("rnn_tanh_cell", Cell::Tanh, input, std::slice::from_ref(hx), [w_ih, w_hh], [b_ih, b_hh]).and_then(one_state),
        samples: samples::plain_cell,
    }
    /// `relu(input @ w_ih^T + b_ih + hx @ w_hh^T + b_hh)`.
    fn rnn_relu_cell (input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: OptTensor = None, b_hh: OptTensor = None) -> Tensor {
        run: cells::single("rnn_relu_cell", Cell::Relu, input, std::slice::from_ref(hx), [w_ih, w_hh], [b_ih, b_hh]).and_then(one_state),
        samples: samples::plain_cell,
    }
}

/// What the last layer shows, and the last states: one list a kind of state.
type Outcome = (Tensor, Vec<Tensor>);

fn two((output, mut states): Outcome) -> Result<(Tensor, Tensor)> {
    match states.pop() {
        Some(h) => Ok((output, h)),
        None => bail!(Runtime, "rnn", "there is no state"),
    }
}

fn three((output, mut states): Outcome) -> Result<(Tensor, Tensor, Tensor)> {
    match (states.pop(), states.pop()) {
        (Some(c), Some(h)) => Ok((output, h, c)),
        _ => bail!(Runtime, "lstm", "there are no two states"),
    }
}

fn one_state(mut states: Vec<Tensor>) -> Result<Tensor> {
    match states.pop() {
        Some(h) => Ok(h),
        None => bail!(Runtime, "rnn_cell", "there is no state"),
    }
}

fn two_states(mut states: Vec<Tensor>) -> Result<(Tensor, Tensor)> {
    match (states.pop(), states.pop()) {
        (Some(c), Some(h)) => Ok((h, c)),
        _ => bail!(Runtime, "lstm_cell", "there are no two states"),
    }
}

/// Layers of cells, read in one direction or in both.
struct Network {
    op: &'static str,
    cell: Cell,
    layers: usize,
    directions: usize,
    biases: bool,
    dropout: f64,
    train: bool,
}

impl Network {
    fn new(
        op: &'static str,
        cell: Cell,
        [layers, both]: [i64; 2],
        biases: bool,
        dropout: f64,
        train: bool,
    ) -> Result<Network> {
        ensure!(layers > 0, Value, op, "num_layers must be positive, got {layers}");
        ensure!((0.0..=1.0).contains(&dropout), Value, op, "dropout must lie between 0 and 1, got {dropout}");
        let directions = if both != 0 { 2 } else { 1 };
        Ok(Network { op, cell, layers: layers as usize, directions, biases, dropout, train })
    }

    fn padded(&self, input: &Tensor, hx: &[Tensor], params: &[Tensor], batch_first: bool) -> Result<Outcome> {
        let op = self.op;
        ensure!(
            input.dim() == 3,
            Runtime,
            op,
            "the input has shape {:?}; it must be [T, N, in]",
            input.shape()
        );
        let x = if batch_first { input.transpose(0, 1)? } else { input.clone() };
        let (t, n) = (x.shape()[0], x.shape()[1]);
        ensure!(t > 0, Runtime, op, "a sequence of no steps has no last state");
        let (out, states) = self.run(&x.flatten(0, 1)?, &vec![n; t], hx, params)?;
        let out = out.unflatten(0, [t as i64, n as i64])?;
        Ok((if batch_first { out.transpose(0, 1)? } else { out }, states))
    }

    fn packed(&self, data: &Tensor, sizes: &Tensor, hx: &[Tensor], params: &[Tensor]) -> Result<Outcome> {
        let op = self.op;
        ensure!(
            data.dim() == 2,
            Runtime,
            op,
            "packed data have shape {:?}; they must be [total, in]",
            data.shape()
        );
        ensure!(
            sizes.dim() == 1 && sizes.dtype() == DType::I64 && sizes.numel() > 0,
            Runtime,
            op,
            "batch_sizes of shape {:?} hold {}; they must be a vector of int64",
            sizes.shape(),
            sizes.dtype()
        );
        let listed = sizes.contiguous()?.to_vec::<i64>()?;
        let falling = listed.windows(2).all(|w| w[0] >= w[1]) && listed.iter().all(|n| *n > 0);
        let total = listed.iter().fold(0i64, |sum, n| sum.saturating_add(*n));
        ensure!(
            falling && total == data.shape()[0] as i64,
            Runtime,
            op,
            "batch_sizes {listed:?} must be positive, not rise, and count the {} rows of the data",
            data.shape()[0]
        );
        let listed: Vec<usize> = listed.iter().map(|n| *n as usize).collect();
        self.run(data, &listed, hx, params)
    }

    /// `data` [total, in], of which each step has `sizes` rows.
    fn run(&self, data: &Tensor, sizes: &[usize], hx: &[Tensor], params: &[Tensor]) -> Result<Outcome> {
        let op = self.op;
        let passes = self.layers * self.directions;
        let dtype = data.dtype();
        ensure!(dtype.is_float(), NotImplemented, op, "takes floating point numbers, not {dtype}");
        ensure!(
            hx.len() == self.cell.states(),
            Runtime,
            op,
            "{} first states; {} are needed",
            hx.len(),
            self.cell.states()
        );
        let batch = sizes.first().copied().unwrap_or(0);
        for state in hx {
            ensure!(
                state.dim() == 3 && state.shape()[0] == passes && state.shape()[1] == batch,
                Runtime,
                op,
                "a first state has shape {:?}; [{passes}, {batch}, hidden] is needed",
                state.shape()
            );
        }
        let each = params.len() / passes;
        let least = if self.biases { 4 } else { 2 };
        let fits = each == least || each == least + 1 && matches!(self.cell, Cell::Lstm);
        ensure!(
            fits && each * passes == params.len(),
            Runtime,
            op,
            "{} parameters do not go with {} layers in {} directions, of {least} each",
            params.len(),
            self.layers,
            self.directions
        );
        let firsts: Result<Vec<Vec<Tensor>>> = hx.iter().map(|state| state.unbind(0)).collect();
        let firsts = firsts?;
        let mut lasts: Vec<Vec<Tensor>> = hx.iter().map(|_| Vec::with_capacity(passes)).collect();
        let mut x = data.clone();
        for layer in 0..self.layers {
            let mut shown = Vec::with_capacity(self.directions);
            for direction in 0..self.directions {
                let at = layer * self.directions + direction;
                let weights = Weights::new(&params[at * each..(at + 1) * each], self.biases);
                let first: Vec<Tensor> = firsts.iter().map(|states| states[at].clone()).collect();
                let (out, last) = self.pass(&x, sizes, &weights, first, direction == 1)?;
                shown.push(out);
                lasts.iter_mut().zip(last).for_each(|(list, state)| list.push(state));
            }
            x = joined(&shown, -1)?;
            if self.dropout > 0.0 && self.train && layer + 1 < self.layers {
                x = x.dropout(self.dropout, true)?;
            }
        }
        let lasts: Result<Vec<Tensor>> =
            lasts.iter().map(|list| Tensor::stack(&list.iter().collect::<Vec<_>>(), 0)).collect();
        Ok((x, lasts?))
    }

    /// One layer in one direction. Backwards, the batch grows from step to step; forwards it shrinks, and what leaves
    /// it is at its end.
    fn pass(
        &self,
        x: &Tensor,
        sizes: &[usize],
        weights: &Weights<'_>,
        first: Vec<Tensor>,
        backwards: bool,
    ) -> Result<(Tensor, Vec<Tensor>)> {
        let name = |e: crate::Error| e.in_op(self.op);
        let split: Vec<isize> = sizes.iter().map(|n| *n as isize).collect();
        let pieces = weights.of_input(self.cell, x).map_err(name)?.split_with_sizes(split, 0)?;
        let stepper = weights.stepper(self.cell, sizes.len())?;
        let batch = sizes.first().copied().unwrap_or(0);
        let mut now = first.clone();
        let mut ended: Vec<Vec<Tensor>> = first.iter().map(|_| Vec::new()).collect();
        let mut shown = Vec::with_capacity(sizes.len());
        let mut width = batch;
        if backwards {
            width = sizes.last().copied().unwrap_or(0);
            if width < batch {
                now = each(&first, |s| s.narrow(0, 0, width as i64))?;
            }
        }
        let steps: Box<dyn Iterator<Item = usize>> =
            if backwards { Box::new((0..sizes.len()).rev()) } else { Box::new(0..sizes.len()) };
        for t in steps {
            let n = sizes[t];
            if n < width {
                for (list, state) in ended.iter_mut().zip(&now) {
                    list.push(state.narrow(0, n as i64, (width - n) as i64)?);
                }
                now = each(&now, |s| s.narrow(0, 0, n as i64))?;
            } else if n > width {
                let fresh = each(&first, |s| s.narrow(0, width as i64, (n - width) as i64))?;
                let grown: Result<Vec<Tensor>> =
                    now.iter().zip(&fresh).map(|(a, b)| Tensor::cat(&[a, b], 0)).collect();
                now = grown?;
            }
            width = n;
            now = stepper.step(&pieces[t], &now).map_err(name)?;
            shown.push(now[0].clone());
        }
        if backwards {
            shown.reverse();
        }
        let lasts: Result<Vec<Tensor>> = now
            .into_iter()
            .zip(ended)
            .map(|(state, mut tails)| {
                tails.push(state);
                tails.reverse();
                joined(&tails, 0)
            })
            .collect();
        Ok((joined(&shown, 0)?, lasts?))
    }
}

fn each(states: &[Tensor], f: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Vec<Tensor>> {
    states.iter().map(f).collect()
}

/// One after the other; a single one as it is.
fn joined(parts: &[Tensor], dim: i64) -> Result<Tensor> {
    match parts {
        [one] => Ok(one.clone()),
        many => Tensor::cat(&many.iter().collect::<Vec<_>>(), dim),
    }
}

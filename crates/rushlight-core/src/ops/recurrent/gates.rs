//! What gates do at one step of a recurrent network, each in one pass over memory.

use crate::Tensor;

pointwise! { GATES;
    /// The memory of an LSTM after a step: `sigmoid(entry) * tanh(candidate) + sigmoid(forget) * memory`.
    fn lstm_memory as internal (entry, forget, candidate, memory) Float except bool int complex number = |x| x[0].sigmoid() * x[2].tanh() + x[1].sigmoid() * x[3];
    /// What an LSTM shows of its memory: `sigmoid(exit) * tanh(memory)`.
    fn lstm_shown as internal (exit, memory) Float except bool int complex number = |x| x[0].sigmoid() * x[1].tanh();
    /// The state of a GRU after a step, of the parts that input and state have in each gate:
    /// `(1 - z) * n + z * state` with `r = sigmoid(reset)`, `z = sigmoid(update)` and `n = tanh(new_input + r * new_state)`.
    fn gru_state as internal (reset_input, reset_state, update_input, update_state, new_input, new_state, state) Float except bool int complex number = |x| {
        let (r, z) = ((x[0] + x[1]).sigmoid(), (x[2] + x[3]).sigmoid());
        let n = (x[4] + r * x[5]).tanh();
        n + z * (x[6] - n)
    };
}

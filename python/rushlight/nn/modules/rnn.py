"""Recurrent networks over sequences, and their cells. The op table has what they compute."""

import math
import numbers
import warnings
import weakref

from ... import _C
from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module

__all__ = ["RNNBase", "RNN", "LSTM", "GRU", "RNNCellBase", "RNNCell", "LSTMCell", "GRUCell"]

_rows = _C._functions
_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def apply_permutation(tensor, permutation, dim=1):
    """A tensor's places of ``dim`` in another order."""
    return tensor.index_select(dim, permutation)


class RNNBase(Module):
    """What networks over sequences have in common: for each layer and direction the weights of input and state."""

    __constants__ = """mode input_size hidden_size num_layers bias batch_first dropout bidirectional proj_size""".split()

    def __init__(
        self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
        proj_size=0, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._check_sizes(dropout)
        directions = 2 if bidirectional else 1
        shown = proj_size or hidden_size
        gates = _GATES[mode] * hidden_size
        self._flat_weights_names, self._all_weights = [], []
        for layer in range(num_layers):
            for direction in range(directions):
                suffix = f"_l{layer}" + ("_reverse" if direction else "")
                width = input_size if layer == 0 else shown * directions
                shapes = {"weight_ih": (gates, width), "weight_hh": (gates, shown)}
                if bias:
                    shapes.update(bias_ih=(gates,), bias_hh=(gates,))
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    setattr(self, name + suffix, Parameter(_rows["empty"](shape, device=device, dtype=dtype)))
                self._all_weights.append([name + suffix for name in shapes])
                self._flat_weights_names.extend(self._all_weights[-1])
        self._init_flat_weights()
        self.reset_parameters()

    def _check_sizes(self, dropout):
        name = type(self).__name__
        if not isinstance(dropout, numbers.Number) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError(f"{name}: dropout must be a number between 0 and 1, got {dropout!r}")
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(f"{name}: dropout acts between layers, of which there is one", stacklevel=4)
        if not isinstance(self.hidden_size, int):
            raise TypeError(f"{name}: hidden_size must be an int, not {type(self.hidden_size).__name__}")
        if self.hidden_size <= 0:
            raise ValueError(f"{name}: hidden_size must be positive, got {self.hidden_size}")
        if self.num_layers <= 0:
            raise ValueError(f"{name}: num_layers must be positive, got {self.num_layers}")
        if self.proj_size < 0 or self.proj_size >= self.hidden_size:
            raise ValueError(f"{name}: proj_size must lie between 0 and hidden_size, got {self.proj_size}")
        if self.mode not in _GATES:
            raise ValueError(f"{name}: there is no mode {self.mode!r}; there are {', '.join(_GATES)}")
        if self.proj_size and self.mode != "LSTM":
            raise ValueError(f"{name}: only LSTM has a projection")

    # The weights once more as a list: attributes cost more to find, at every call.
    def _init_flat_weights(self):
        self._flat_weights = [getattr(self, name, None) for name in self._flat_weights_names]
        self._flat_weight_refs = [None if w is None else weakref.ref(w) for w in self._flat_weights]

    def __setattr__(self, attr, value):
        if "_flat_weights_names" in self.__dict__ and attr in self._flat_weights_names and "_flat_weights" in self.__dict__:
            self._flat_weights[self._flat_weights_names.index(attr)] = value
        super().__setattr__(attr, value)

    def flatten_parameters(self):
        """Nothing to do: the parameters need not lie side by side."""

    def _apply(self, fn, recurse=True):
        self._flat_weights = []
        made = super()._apply(fn, recurse)
        self._init_flat_weights()
        return made

    def reset_parameters(self):
        """Uniform numbers within 1 / sqrt(hidden_size) again."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _weights_have_changed(self):
        return any(ref is not None and getattr(self, name) is not ref() for ref, name in zip(self._flat_weight_refs, self._flat_weights_names))

    def _update_flat_weights(self):
        if self._weights_have_changed():
            self._init_flat_weights()

    @property
    def all_weights(self):
        """The parameters, a list for each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def __getstate__(self):
        state = super().__getstate__()
        # Found again from the names.
        state.pop("_flat_weight_refs", None)
        state.pop("_flat_weights", None)
        return state

    def __setstate__(self, d):
        super().__setstate__(d)
        if "all_weights" in d:
            self.__dict__["_all_weights"] = d["all_weights"]
        self.__dict__.setdefault("proj_size", 0)
        if self._all_weights and not isinstance(self._all_weights[0][0], str):
            known = {id(p): name for name, p in self._parameters.items()}
            self.__dict__["_all_weights"] = [[known[id(p)] for p in weights] for weights in self._all_weights]
        self.__dict__["_flat_weights_names"] = [name for names in self._all_weights for name in names]
        self._init_flat_weights()

    def _replicate_for_data_parallel(self):
        replica = super()._replicate_for_data_parallel()
        replica._flat_weights = replica._flat_weights[:]
        replica._flat_weights_names = replica._flat_weights_names[:]
        return replica

    # --- Checks ---

    def check_input(self, input, batch_sizes):
        """Whether the input fits. RuntimeError, or ValueError for its dtype."""
        name = type(self).__name__
        if not input.is_floating_point() or input.dtype != self._flat_weights[0].dtype:
            raise ValueError(f"{name}: the input holds {input.dtype}, the weights {self._flat_weights[0].dtype}")
        rank = 2 if batch_sizes is not None else 3
        if input.ndim != rank:
            raise RuntimeError(f"{name}: the input must have {rank} dimensions, not {input.ndim}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(f"{name}: the input has {input.shape[-1]} features; {self.input_size} are expected")

    def get_expected_hidden_size(self, input, batch_sizes):
        """The shape of the first state."""
        batch = int(batch_sizes[0]) if batch_sizes is not None else input.shape[0 if self.batch_first else 1]
        return self.num_layers * (2 if self.bidirectional else 1), batch, self.proj_size or self.hidden_size

    def check_hidden_size(self, hx, expected_hidden_size, msg="Expected hidden size {}, got {}"):
        """Whether a state has that shape. RuntimeError if not."""
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(tuple(expected_hidden_size), list(hx.shape)))

    def check_forward_args(self, input, hidden, batch_sizes):
        """Whether input and state fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx, permutation):
        """A state in the order of the packed sequences."""
        return hx if permutation is None else apply_permutation(hx, permutation)

    # --- Running ---

    def _first(self, input, batch, size):
        shape = (self.num_layers * (2 if self.bidirectional else 1), batch, size)
        return _rows["zeros"](shape, dtype=input.dtype, device=input.device)

    def _run(self, row, input, hx, zeros, lift):
        """Through the row `row`. `lift` adds a batch to a state (or undoes it), `zeros(input, batch)` makes one."""
        self._update_flat_weights()
        packed = isinstance(input, PackedSequence)
        order = back = sizes = None
        alone = False
        if packed:
            input, sizes, order, back = input
            batch = int(sizes[0])
        else:
            if input.ndim not in (2, 3):
                raise ValueError(f"{type(self).__name__}: the input must have 2 or 3 dimensions, not {input.ndim}")
            alone = input.ndim == 2
            if alone:
                input = input.unsqueeze(0 if self.batch_first else 1)
            batch = input.shape[0 if self.batch_first else 1]
        if hx is None:
            hx = zeros(input, batch)
        else:
            hx = lift(hx, alone, not packed)
            hx = self.permute_hidden(hx, order)
        self.check_forward_args(input, hx, sizes)
        state = list(hx) if isinstance(hx, tuple) else hx
        options = (self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if packed:
            output, *states = row(input, sizes, state, *options)
            output = PackedSequence(output, sizes, order, back)
        else:
            output, *states = row(input, state, *options, self.batch_first)
            output = output.squeeze(0 if self.batch_first else 1) if alone else output
        states = tuple(s.squeeze(1) for s in states) if alone else tuple(states)
        return output, self.permute_hidden(states if len(states) > 1 else states[0], back)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        return text + (f", bidirectional={self.bidirectional}" if self.bidirectional is not False else "")


def _lift_one(module):
    """How a single state gets a batch."""

    def lift(hx, alone, check):
        if check and hx.ndim != (2 if alone else 3):
            raise RuntimeError(f"{type(module).__name__}: the state must have {2 if alone else 3} dimensions, as the input, not {hx.ndim}")
        return hx.unsqueeze(1) if alone else hx

    return lift


class RNN(RNNBase):
    """``h = tanh(input @ W^T + h @ U^T + biases)`` step by step, or ``relu`` (``nonlinearity``).

    input [T, N, in], or [N, T, in] with ``batch_first``, or [T, in], or packed; ``hx`` [layers * directions, N, hidden].
    Gives the last layer's states [T, N, directions * hidden] and the last states.
    """

    def __init__(self, *args, **kwargs):
        if len(args) > 3:
            self.nonlinearity = args[3]
            args = (*args[:3], *args[4:])
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNN: nonlinearity must be 'tanh' or 'relu', not {self.nonlinearity!r}")
        super().__init__("RNN_" + self.nonlinearity.upper(), *args, **kwargs)

    def forward(self, input, hx=None):
        row = _rows["rnn_tanh" if self.mode == "RNN_TANH" else "rnn_relu"]
        return self._run(row, input, hx, lambda x, n: self._first(x, n, self.hidden_size), _lift_one(self))


class LSTM(RNNBase):
    """A long short-term memory (Hochreiter and Schmidhuber 1997), shapes as of ``RNN``.

    ``hx``: a pair of states [layers * directions, N, hidden] and memories of that shape. With ``proj_size`` states have
    that size (Sak et al. 2014).
    """

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input, batch_sizes):
        """The shape of the first memory."""
        return (*self.get_expected_hidden_size(input, batch_sizes)[:2], self.hidden_size)

    def check_forward_args(self, input, hidden, batch_sizes):
        """Whether input, state and memory fit."""
        self.check_input(input, batch_sizes)
        expected = self.get_expected_hidden_size(input, batch_sizes)
        self.check_hidden_size(hidden[0], expected, "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hidden[1], (*expected[:2], self.hidden_size), "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx, permutation):
        """State and memory in the order of the packed sequences."""
        return hx if permutation is None else tuple(apply_permutation(h, permutation) for h in hx)

    def forward(self, input, hx=None):
        def zeros(x, n):
            return self._first(x, n, self.proj_size or self.hidden_size), self._first(x, n, self.hidden_size)

        def lift(hx, alone, check):
            rank = 2 if alone else 3
            if check and any(h.ndim != rank for h in hx):
                raise RuntimeError(f"LSTM: state and memory must have {rank} dimensions, as the input")
            return tuple(h.unsqueeze(1) for h in hx) if alone else tuple(hx)

        return self._run(_rows["lstm"], input, hx, zeros, lift)


class GRU(RNNBase):
    """Gated recurrent units (Cho et al. 2014), shapes as of ``RNN``."""

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("GRU: only LSTM has a projection (proj_size)")
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input, hx=None):
        return self._run(_rows["gru"], input, hx, lambda x, n: self._first(x, n, self.hidden_size), _lift_one(self))


class RNNCellBase(Module):
    """What single steps have in common: weights and biases of input and state."""

    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = num_chunks * hidden_size
        shapes = {"weight_ih": (gates, input_size), "weight_hh": (gates, hidden_size), "bias_ih": (gates,), "bias_hh": (gates,)}
        for name, shape in shapes.items():
            wanted = bias or not name.startswith("bias")
            self.register_parameter(name, Parameter(_rows["empty"](shape, device=device, dtype=dtype)) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Uniform numbers within 1 / sqrt(hidden_size) again."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _run(self, row, input, hx):
        """Through the row `row`; states are a tuple."""
        name = type(self).__name__
        if input.ndim not in (1, 2):
            raise ValueError(f"{name}: the input must have 1 or 2 dimensions, not {input.ndim}")
        for state in hx or ():
            if state.ndim not in (1, 2):
                raise ValueError(f"{name}: the state must have 1 or 2 dimensions, not {state.ndim}")
        alone = input.ndim == 1
        if alone:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = _rows["zeros"]((input.shape[0], self.hidden_size), dtype=input.dtype, device=input.device)
            hx = (zeros, zeros)
        elif alone:
            hx = tuple(state.unsqueeze(0) for state in hx)
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if row is _rows["lstm_cell"]:
            made = row(input, list(hx), *weights)
            return tuple(s.squeeze(0) for s in made) if alone else tuple(made)
        made = row(input, hx[0], *weights)
        return made.squeeze(0) if alone else made

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return text + (f", nonlinearity={nonlinearity}" if nonlinearity != "tanh" else "")


class RNNCell(RNNCellBase):
    """One step of ``RNN``: input [N, in] and state [N, hidden] give the next state."""

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"RNNCell: nonlinearity must be 'tanh' or 'relu', not {self.nonlinearity!r}")
        return self._run(_rows[f"rnn_{self.nonlinearity}_cell"], input, None if hx is None else (hx,))


class LSTMCell(RNNCellBase):
    """One step of ``LSTM``: input [N, in] and a pair of state and memory [N, hidden] give the next pair."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device, dtype=dtype)

    def forward(self, input, hx=None):
        return self._run(_rows["lstm_cell"], input, hx)


class GRUCell(RNNCellBase):
    """One step of ``GRU``: input [N, in] and state [N, hidden] give the next state."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device, dtype=dtype)

    def forward(self, input, hx=None):
        return self._run(_rows["gru_cell"], input, None if hx is None else (hx,))

"""Modules beyond torch's answers: what is shared, what is not, and where things are found."""

import subprocess
import sys

import pytest
import rushlight as torch
from rushlight import nn
from rushlight.nn.utils import stateless


def test_paths_are_torchs():
    code = (
        "import torch, torch.nn.modules.linear as a, torch.nn.utils.parametrize as b, torch.nn.modules.activation as c\n"
        "assert torch.nn.Linear is a.Linear and torch.nn.MultiheadAttention is c.MultiheadAttention\n"
        "assert torch.nn.utils.parametrize is b and torch.nn.utils.rnn.PackedSequence\n"
        "for m in (torch.nn.Linear, torch.nn.ConvTranspose2d, torch.nn.LSTM, torch.nn.MultiheadAttention):\n"
        "    assert getattr(__import__(m.__module__, fromlist=['x']), m.__name__) is m\n"
    )
    subprocess.run([sys.executable, "-m", "rushlight", "-c", code], check=True)


def test_the_module_alone_does_not_import_layers():
    code = "import sys, rushlight; assert not [m for m in sys.modules if m.startswith('rushlight.nn')]"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_call_without_hooks_is_forward():
    class Echo(nn.Module):
        def forward(self, *args, **kwargs):
            return args, kwargs

    assert Echo()(1, k=2) == ((1,), {"k": 2})


def test_a_failed_load_says_every_fault_and_loads_what_fits():
    m = nn.Linear(2, 2)
    with pytest.raises(RuntimeError) as e:
        m.load_state_dict({"weight": torch.ones(3, 2), "bias": torch.ones(2), "more": torch.ones(1)})
    assert all(word in str(e.value) for word in ("Linear", "weight", "[3, 2]", "[2, 2]", "more"))
    assert m.bias.tolist() == [1.0, 1.0]


def test_loading_does_not_change_the_state():
    m = nn.BatchNorm1d(2)
    state = {k: v for k, v in m.state_dict().items() if k != "num_batches_tracked"}
    m.load_state_dict(state)
    assert "num_batches_tracked" not in state
    state = m.state_dict()
    m.load_state_dict(state, assign=True)
    assert state._metadata[""] == {"version": 2}


def test_forward_of_an_uninitialised_parameter_is_refused():
    p = nn.UninitializedParameter()
    with pytest.raises(ValueError, match="forward pass"):
        p.sum()
    p.materialize((2, 3))
    assert type(p) is nn.Parameter and p.shape == (2, 3) and p.requires_grad


def test_recurrent_rows_are_functions_and_say_what_is_wrong():
    x, h = torch.ones(3, 2, 4), torch.zeros(1, 2, 5)
    weights = [torch.ones(5, 4), torch.ones(5, 5)]
    out, last = torch.rnn_tanh(x, h, weights, False, 1, 0.0, False, False, False)
    assert out.shape == (3, 2, 5) and torch.equal(out[-1], last[0])
    for bad in (
        lambda: torch.rnn_tanh(x, h, weights[:1], False, 1, 0.0, False, False, False),
        lambda: torch.rnn_tanh(x, h[:, :1], weights, False, 1, 0.0, False, False, False),
        lambda: torch.rnn_tanh(x[0], h, weights, False, 1, 0.0, False, False, False),
        lambda: torch.rnn_tanh(x[:0], h, weights, False, 1, 0.0, False, False, False),
        lambda: torch.rnn_tanh(torch.ones(3, 4), torch.tensor([1, 2]), h, weights, False, 1, 0.0, False, False),
        lambda: torch.gru(x, h, weights, False, 1, 0.0, False, False, False),
        lambda: torch.lstm_cell(x[0], [h[0]], *weights),
    ):
        with pytest.raises(RuntimeError):
            bad()
    with pytest.raises(ValueError):
        torch.rnn_tanh(x, h, weights, False, 0, 0.0, False, False, False)


def test_dropout_between_layers_acts_while_training_only():
    torch.manual_seed(0)
    m, x = nn.LSTM(4, 8, 2, dropout=0.5), torch.ones(3, 2, 4)
    assert not torch.equal(m(x)[0], m(x)[0])
    m.eval()
    assert torch.equal(m(x)[0], m(x)[0])


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_gradients_are_right(kind):
    torch.manual_seed(0)
    m = getattr(nn, kind)(2, 3, bidirectional=True).double()
    x = torch.randn(3, 2, 2, dtype=torch.float64, requires_grad=True)
    names = [name for name, _ in m.named_parameters()]

    def run(x, *weights):
        return stateless._functional_call(m, dict(zip(names, weights)), (x,))[0]

    assert torch.autograd.gradcheck(run, (x, *(p.detach().requires_grad_() for p in m.parameters())))


def test_masks_of_all_padding_do_not_spread_nan():
    m = nn.MultiheadAttention(4, 2)
    x = torch.randn(3, 2, 4)
    out, _ = m(x, x, x, key_padding_mask=torch.tensor([[False] * 3, [True, True, False]]))
    assert bool(out.isfinite().all())


def test_ctc_gradient_is_finite_where_states_cannot_be_reached():
    log_probs = torch.randn(6, 2, 5).log_softmax(-1).requires_grad_()
    loss = nn.CTCLoss(reduction="sum")(log_probs, torch.tensor([[1, 2, 3], [2, 2, 1]]), torch.tensor([6, 5]), torch.tensor([3, 2]))
    loss.backward()
    assert bool(log_probs.grad.isfinite().all()) and log_probs.grad[5, 1].abs().sum() == 0

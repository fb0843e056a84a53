"""Gradients of compositions that no row has for itself."""

import rushlight as torch
import rushlight.nn.functional as F


def test_ctc_loss_passes_nothing_on_from_states_out_of_reach():
    # Early states of long targets cannot be reached: 0/0 in the formula of the sum of exponentials.
    targets = torch.tensor([[1, 2, 2, 3], [3, 1, 0, 0]])

    def loss(logits):
        return F.ctc_loss(logits.log_softmax(-1), targets, (6, 5), (4, 2), reduction="none")

    logits = torch.arange(48, dtype=torch.float64).sin().reshape(6, 2, 4).requires_grad_()
    assert torch.autograd.gradcheck(loss, (logits,))


def test_short_time_transforms_have_gradients_of_both_orders():
    window = torch.arange(1, 5, dtype=torch.float64)

    def there(x):
        return torch.stft(x, 4, 2, window=window, return_complex=False)

    def and_back(x):
        return torch.istft(torch.stft(x, 4, 2, window=window, return_complex=True) * 2j, 4, 2, window=window)

    x = torch.arange(9, dtype=torch.float64).cos().requires_grad_()
    for function in (there, and_back):
        assert torch.autograd.gradcheck(function, (x,))
        assert torch.autograd.gradgradcheck(function, (x,))

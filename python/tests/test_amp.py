"""Mixed precision: which ops run in which dtype, and how losses are scaled."""

import pytest
import rushlight as torch
from rushlight.nn import functional as F


def test_products_run_in_a_half_and_losses_do_not():
    a = torch.randn(4, 4, requires_grad=True)
    with torch.autocast("cpu"):
        assert torch.is_autocast_enabled("cpu") and not torch.is_autocast_enabled()
        y = a @ a
        assert y.dtype is torch.bfloat16 and F.linear(a, a).dtype is torch.bfloat16
        assert F.conv1d(a[None], a[:, :, None]).dtype is torch.bfloat16
        assert torch.einsum("ij,jk->ik", a, a).dtype is torch.bfloat16
        assert y.exp().dtype is torch.bfloat16 and a.exp().dtype is torch.float32
        assert F.mse_loss(y, y).dtype is torch.float32 and y.prod().dtype is torch.float32
        assert torch.cat([a, y]).dtype is torch.float32
        assert (a.double() @ a.double()).dtype is torch.float64 and (a.long() @ a.long()).dtype is torch.int64
        assert torch.linalg.inv(a).dtype is torch.float32  # although it multiplies inside
        with torch.autocast("cpu", enabled=False):
            assert (a @ a).dtype is torch.float32
        assert (a @ a).dtype is torch.bfloat16
        loss = F.cross_entropy(y, torch.arange(4))
    assert (a @ a).dtype is torch.float32
    loss.backward()
    assert a.grad.dtype is torch.float32
    with torch.amp.autocast("cpu", dtype=torch.float16):
        assert (a @ a).dtype is torch.float16 and torch.get_autocast_dtype("cpu") is torch.float16


def test_an_error_ends_the_block():
    with pytest.raises(ZeroDivisionError), torch.autocast("cpu"):
        1 / 0
    assert not torch.is_autocast_enabled("cpu")


def test_values_are_those_of_operands_rounded_first():
    a, b = torch.randn(8, 8), torch.randn(8, 8)
    with torch.autocast("cpu"):
        y = a @ b
    assert torch.equal(y, a.bfloat16() @ b.bfloat16())


def test_no_cuda_is_a_warning_and_changes_nothing():
    with pytest.warns(UserWarning, match="cuda"):
        cast = torch.cuda.amp.autocast()
    with cast:
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.float32
    with pytest.warns(UserWarning, match="float32"):
        torch.autocast("cpu", dtype=torch.float32)
    with pytest.raises(RuntimeError, match="toaster"):
        torch.autocast("toaster")


def test_a_scaler_leaves_out_steps_whose_gradients_are_not_finite():
    p = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([p], 0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    for factor, value, scale in [(1.0, 0.5, 8.0), (float("inf"), 0.5, 4.0), (1.0, 0.0, 4.0), (1.0, -0.5, 8.0)]:
        optimizer.zero_grad()
        scaler.scale((p * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        assert p[0].item() == value and scaler.get_scale() == scale
    other = torch.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.get_scale() == 8.0 and other.state_dict() == scaler.state_dict()


def test_a_scaler_minds_the_order():
    p = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([p], 0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    with pytest.raises(AssertionError, match="scale"):
        scaler.step(optimizer)
    scaler.scale(p.sum()).backward()
    scaler.unscale_(optimizer)
    assert p.grad.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="already"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="already"):
        scaler.step(optimizer)
    with pytest.warns(UserWarning, match="cuda"):
        off = torch.cuda.amp.GradScaler()
    assert not off.is_enabled() and off.scale(p) is p and off.get_scale() == 1.0 and off.state_dict() == {}

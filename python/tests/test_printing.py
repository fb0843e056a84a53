"""Tensors are shown as torch shows them."""

import json
import pathlib
import sys

import pytest
import rushlight

GOLDEN = pathlib.Path(__file__).parent / "golden"
sys.path.insert(0, str(GOLDEN))
from make_printing import show  # noqa: E402

CASES = json.loads((GOLDEN / "printing.json").read_text())


@pytest.mark.parametrize("number", range(len(CASES)))
def test_text(number):
    assert show(rushlight, CASES[number]) == CASES[number]["text"]


def test_suffixes():
    x = rushlight.ones(2, requires_grad=True)
    assert repr(x) == "tensor([1., 1.], requires_grad=True)"
    assert repr(x * 2) == "tensor([2., 2.], grad_fn=<MulBackward0>)"
    assert repr(rushlight.zeros(0, 3)) == "tensor([], size=(0, 3))"
    assert repr(rushlight.zeros(0, dtype=rushlight.int64)) == "tensor([], dtype=torch.int64)"
    assert repr(rushlight.ones(2, dtype=rushlight.int32)) == "tensor([1, 1], dtype=torch.int32)"
    assert repr(rushlight.empty(2, device="meta")) == "tensor(..., device='meta', size=(2,))"
    assert str(x) == repr(x)


def test_a_derived_class_shows_its_name():
    class Mine(rushlight.Tensor):
        pass

    class MyParameter(rushlight.nn.Parameter):
        pass

    assert repr(Mine([[1.0, 2.0], [3.0, 4.0]])) == "Mine([[1., 2.],\n      [3., 4.]])"
    assert "MyParameter([1., 1.], requires_grad=True)" in repr(MyParameter(rushlight.ones(2)))


def test_options_come_and_go():
    x = rushlight.tensor([1.23456, 2.0])
    rushlight.set_printoptions(precision=2)
    try:
        assert repr(x) == "tensor([1.23, 2.00])"
        rushlight.set_printoptions(sci_mode=True)
        assert repr(x) == "tensor([1.23e+00, 2.00e+00])"
    finally:
        rushlight.set_printoptions(profile="default")
    assert repr(x) == "tensor([1.2346, 2.0000])"
    with pytest.raises(ValueError):
        rushlight.set_printoptions(profile="nonsense")
    with pytest.raises(ValueError):
        rushlight.set_printoptions(precision=-1)


def test_long_tensors_are_cheap_to_show():
    # A view of a number that stands in for 10**12 elements: only the edges are read.
    text = repr(rushlight.ones(1).expand(10**6, 10**6))
    assert text.count("\n") == 6 and "..." in text

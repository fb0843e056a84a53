"""Formulas of the user's own: values, gradients, promotion, and what cannot be traced."""

import math

import pytest
import rushlight as torch
from rushlight.autograd import gradcheck, gradgradcheck


def doubles(*values, grad=True):
    return torch.tensor(values, dtype=torch.float64, requires_grad=grad)


def test_values_and_gradients():
    f = torch.pointwise(lambda x, y: (x * y).tanh() + y)
    x, y = doubles(0.5, 1.0, -2.0), doubles(0.25)
    z = f(x, y)
    want = [math.tanh(a * 0.25) + 0.25 for a in (0.5, 1.0, -2.0)]
    assert z.tolist() == pytest.approx(want)
    assert gradcheck(f, (x, y)) and gradgradcheck(f, (x, y))
    assert "tanh" in f.listing()
    assert z.grad_fn.name() == "PointwiseBackward0"


FORMULAS = {
    "operators": lambda x, y: -x + y * 2 - 1 / (x * x + 1) + x**2 / 3 + (2 - y) + abs(x),
    "methods": lambda x, y: x.sigmoid() * y.exp().log1p() + x.maximum(y).sin(),
    "parameters": lambda x, y: x.add(y, alpha=3).sub(y, alpha=0.5),
    "functions": lambda x, y: torch.tanh(x) + torch.atan2(x, y) * torch.square(y),
    "where": lambda x, y: torch.where(x > 0, x * y, y.exp()),
    "clamp": lambda x, y: x.clamp(-0.4, 0.6) + torch.clamp(y, min=0.1),
    "relu": lambda x, y: torch.relu(x) + y.relu(),
    "logic": lambda x, y: torch.where(~(x < y) | (x.isnan()) ^ (y == 0), x, y * 2),
    "remainder": lambda x, y: x % (y + 3) + x // 2,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_is_what_the_ops_are(name):
    formula = FORMULAS[name]
    x, y = doubles(0.5, -1.25, 0.75), doubles(0.3, 0.9, -0.7)
    f = torch.pointwise(formula)
    got, want = f(x, y), formula(x, y)
    assert got.tolist() == pytest.approx(want.tolist(), rel=1e-12)
    seed = doubles(1.0, 2.0, 3.0, grad=False)
    a = torch.autograd.grad(got, (x, y), seed, create_graph=True)
    b = torch.autograd.grad(want, (x, y), seed, create_graph=True)
    for p, q in zip(a, b):
        assert p.tolist() == pytest.approx(q.tolist(), rel=1e-12)
    for p, q in zip(second(a, (x, y)), second(b, (x, y))):
        assert p.tolist() == pytest.approx(q.tolist(), rel=1e-12)


def second(grads, inputs):
    """Gradients of the sum of gradients; zeros where they do not depend on the inputs."""
    total = sum((g.sum() for g in grads if g.requires_grad), inputs[0].sum() * 0)
    return torch.autograd.grad(total, inputs, materialize_grads=True)


def test_where_as_a_method():
    x, y = doubles(0.5, -1.25, 0.75), doubles(0.3, 0.9, -0.7)
    got = torch.pointwise(lambda x, y: x.where((x > 0) & (y > 0), y))(x, y)
    assert got.tolist() == [0.5, 0.9, -0.7]


LAYOUTS = {
    "broadcast": lambda t: (t[:, :1], t[0]),
    "transposed": lambda t: (t.t(), t.t()),
    "offset": lambda t: (t[1:, 1:], t[1:, :-1]),
    "expanded": lambda t: (t[:1].expand(3, 4), t[:, :1].expand(3, 4)),
    "steps": lambda t: (t[:, ::2], t[:, 1::2]),
    "empty": lambda t: (t[:0], t[:0]),
    "rank 0": lambda t: (t[0, 0], t[1, 1]),
    "odd stride of a size 1": lambda t: (t.as_strided((1, 4), (77, 1)), t),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name):
    t = torch.arange(12, dtype=torch.float64).reshape(3, 4)
    formula = lambda x, y: x * 2 - y.sin()  # noqa: E731
    x, y = LAYOUTS[name](t)
    got, want = torch.pointwise(formula)(x, y), formula(x, y)
    assert got.shape == want.shape and got.stride() == want.stride()
    assert got.tolist() == want.tolist()


def test_promotion():
    add = torch.pointwise(lambda x, y: x + y)
    i, b, f, d = torch.tensor([1, 2]), torch.tensor([True, False]), torch.ones(2), torch.ones(2, dtype=torch.float64)
    h = torch.ones(2, dtype=torch.float16)
    assert add(i, i).dtype == torch.int64 and add(i, i).tolist() == [2, 4]
    assert add(i, 1).dtype == torch.int64 and add(i, 1.5).tolist() == [2.5, 3.5]
    assert add(i, f).dtype == torch.float32 and add(f, d).dtype == torch.float64
    assert add(h, 1.0).dtype == torch.float16 and add(f, torch.tensor(1.0, dtype=torch.float64)).dtype == torch.float32
    assert add(b, b).tolist() == [2, 0]
    assert torch.pointwise(lambda x: x + 0.5)(i).dtype == torch.float32
    assert torch.pointwise(lambda x: x.exp())(i).dtype == torch.float32
    assert torch.pointwise(lambda x: x / 2)(i).tolist() == [0.5, 1.0]
    assert torch.pointwise(lambda x: x > 1)(i).dtype == torch.bool
    assert torch.pointwise(lambda x: x & 1)(i).tolist() == [1, 0]
    assert torch.pointwise(lambda x: x // 2)(i).tolist() == [0, 1]
    assert torch.pointwise(lambda x, y: torch.where(x > y, x, y))(i, 2).tolist() == [2, 2]


def test_halves_round_once():
    x = torch.tensor([1.0], dtype=torch.float16)
    f = torch.pointwise(lambda x: (x + 1e-4) - 1)
    assert f(x).item() != 0 and ((x + 1e-4) - 1).item() == 0


def test_nan_passes():
    x = doubles(math.nan, 1.0)
    assert math.isnan(torch.pointwise(lambda x: x.clamp(0, 1) + torch.relu(x))(x)[0].item())


def test_several_results():
    f = torch.pointwise(lambda x: (x.sin(), x.cos(), x > 0))
    x = doubles(0.5)
    s, c, p = f(x)
    assert p.tolist() == [True] and not p.requires_grad
    g = torch.autograd.grad(s + 2 * c, x)[0]
    assert g.item() == pytest.approx(math.cos(0.5) - 2 * math.sin(0.5))
    only = torch.pointwise(lambda x: (x,))(x)
    assert isinstance(only, tuple) and len(only) == 1


def test_traced_once_for_each_count():
    calls = []

    @torch.pointwise
    def scaled(x, k=2.0):
        """Scales."""
        calls.append(k)
        return x * k

    assert scaled.__name__ == "scaled" and scaled.__doc__ == "Scales." and len(calls) == 1
    for _ in range(3):
        scaled(torch.ones(2))
    assert len(calls) == 1
    assert scaled(torch.ones(2), 3).tolist() == [3.0, 3.0]
    scaled(torch.ones(2), 4)
    assert len(calls) == 2


def test_formulas_within_formulas():
    inner = torch.pointwise(lambda x: x * x)
    outer = torch.pointwise(lambda x, y: inner(x) + inner(y) * inner(2.0).item())
    assert outer(torch.tensor([1.0]), torch.tensor([2.0])).tolist() == [17.0]


@pytest.mark.parametrize(
    "formula",
    [
        lambda x: x if x > 0 else -x,
        lambda x: float(x),
        lambda x: int(x) + x,
        lambda x: math.sin(x),
        lambda x: x and 1,
        lambda x: [1, 2][x],
        lambda x: x[0],
        lambda x: list(x),
        lambda x: len(x),
        lambda x: x + "a",
        lambda x: x + None,
        lambda x: torch.matmul(x, x),
        lambda x: x.add(1, gamma=2),
        lambda x: torch.ones(2) + x,
        lambda x: "text",
        lambda x: None,
    ],
)
def test_what_cannot_be_traced(formula):
    with pytest.raises(TypeError):
        torch.pointwise(formula)


def test_other_errors():
    with pytest.raises(AttributeError):
        torch.pointwise(lambda x: x.reshape(2))
    with pytest.raises(ZeroDivisionError):
        torch.pointwise(lambda x: x * (1 / 0))
    with pytest.raises(TypeError):
        torch.pointwise(3)
    f = torch.pointwise(lambda x, y: x + y)
    with pytest.raises(TypeError):
        f(torch.ones(2))
    with pytest.raises(TypeError):
        f(torch.ones(2), "a")
    with pytest.raises(RuntimeError):
        f(torch.ones(2), torch.ones(3))
    with pytest.raises(NotImplementedError):
        f(torch.ones(2, dtype=torch.complex64), 1)
    with pytest.raises(NotImplementedError):
        torch.pointwise(lambda x: x & 1)(torch.ones(2))
    with pytest.raises(RuntimeError):
        torch.pointwise(lambda x, y: x // y)(torch.tensor([1]), torch.tensor([0]))
    kept = []
    torch.pointwise(lambda x: kept.append(x) or x)
    with pytest.raises(ValueError):
        torch.pointwise(lambda x: x + kept[0])
    long = torch.pointwise(lambda x: sum((x + k for k in range(150)), x))
    assert long(torch.zeros(1)).item() == sum(range(150))
    with pytest.raises(ValueError):
        torch.pointwise(lambda x: sum((x * (k + 0.5) for k in range(300)), x))

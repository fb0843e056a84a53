"""Functions of functions agree with calculus and with each other."""

import pytest
import rushlight as torch
from rushlight import nn
from rushlight.func import (
    functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, stack_module_state, vjp, vmap,
)  # fmt: skip

X = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)


def close(a, b):
    return a.shape == b.shape and torch.allclose(a, b, rtol=1e-10, atol=1e-12)


def test_gradients_nest():
    assert close(grad(lambda x: (x**3).sum())(X), 3 * X**2)
    t = torch.tensor(0.7, dtype=torch.float64)
    fourth = grad(grad(grad(grad(torch.sin))))
    assert close(fourth(t), t.sin()) and not fourth(t).requires_grad
    # Each level has its own variable: d/dx (x * d/dy (x + y)) = 1.
    assert grad(lambda x: x * grad(lambda y: x + y)(t))(t).item() == 1.0
    assert close(grad(lambda x: x * grad(lambda y: x * y)(t))(t), 2 * t)


def test_arguments_are_chosen_and_nested():
    def f(a, b, scale=1.0):
        return (a["x"] * b[0]).sum() * scale

    g = grad(f)({"x": X}, (X * 2,), scale=3.0)
    assert list(g) == ["x"] and close(g["x"], X * 6)
    both = grad(f, argnums=(0, 1))({"x": X}, (X * 2,))
    assert close(both[1][0], X)
    found, (value, aux) = grad_and_value(lambda x: (x.sum(), {"n": x}), has_aux=True)(X)
    assert close(found, torch.ones_like(X)) and value.item() == 1.5 and close(aux["n"], X) and not aux["n"].requires_grad
    assert close(grad(lambda x, y: y.sum())(X, X), torch.zeros_like(X))


def test_what_is_around_is_not_touched_and_stays_connected():
    w = X.clone().requires_grad_(True)
    inner = grad(lambda x: (x * w).sum())(X)
    assert w.grad is None
    inner.sum().backward()
    assert close(w.grad, torch.ones_like(X))
    g = grad(lambda x: (x**3).sum())(w)
    g.sum().backward()
    assert close(w.grad, 1 + 6 * X)
    with torch.no_grad():
        assert close(grad(lambda x: (x**2).sum())(X), 2 * X)


def test_products_with_jacobians():
    def f(x):
        return torch.stack([x[0] * x[1], x[2].exp(), x.sum()])

    j = jacrev(f)(X)
    assert close(j, torch.autograd.functional.jacobian(f, X)) and close(jacfwd(f)(X), j)
    v = torch.tensor([1.0, 2.0, -1.0], dtype=torch.float64)
    value, pull = vjp(f, X)
    assert close(value, f(X)) and close(pull(v)[0], v @ j) and close(pull(v)[0], v @ j)
    value, along = jvp(f, (X,), (v,))
    assert close(along, j @ v)
    assert close(linearize(f, X)[1](v), j @ v)
    out, pull, aux = vjp(lambda x: ({"a": f(x)}, 5), X, has_aux=True)
    assert aux == 5 and close(pull({"a": v})[0], v @ j)
    assert close(jvp(lambda x: grad(lambda y: (y**3).sum())(x), (X,), (v,))[1], 6 * X * v)


def test_second_derivatives():
    def f(x):
        return (x[0] ** 2 * x[1]).sin() + x[2].exp()

    assert close(hessian(f)(X), torch.autograd.functional.hessian(f, X))
    assert close(jacrev(jacrev(f))(X), hessian(f)(X)) and not hessian(f)(X).requires_grad
    shape = jacrev(lambda a, b: a.unsqueeze(0) * b.sum(), argnums=(0, 1))(X, torch.ones(2, 2, dtype=torch.float64))
    assert [tuple(p.shape) for p in shape] == [(1, 3, 3), (1, 3, 2, 2)]


def test_maps_over_batches():
    a, b = torch.randn(4, 3, dtype=torch.float64), torch.randn(3, 5, 4)
    assert close(vmap(torch.dot)(a, a), (a * a).sum(1))
    assert close(vmap(lambda x, y: y @ x, in_dims=(1, None))(a, torch.eye(4, dtype=torch.float64)), a.t())
    assert vmap(lambda x: x, in_dims=-1, out_dims=1)(b).shape == (3, 4, 5)
    nested = vmap(vmap(torch.mul, in_dims=(0, None)), in_dims=(None, 0))(a[0], a[1])
    assert close(nested, torch.outer(a[1], a[0]))
    out = vmap(lambda d: {"s": d["x"].sum(), "k": d["y"]}, in_dims=({"x": 0, "y": None},))({"x": a, "y": a})
    assert out["s"].shape == (4,) and out["k"].shape == (4, 4, 3)
    per_sample = vmap(grad(lambda w, x: (w * x).sum() ** 2), in_dims=(None, 0))(a[0], a)
    assert close(per_sample, 2 * (a @ a[0])[:, None] * a)
    w = a.clone().requires_grad_(True)
    vmap(lambda x: (x**2).sum())(w).sum().backward()
    assert close(w.grad, 2 * a)
    assert vmap(lambda x: x * 2)(torch.zeros(0, 3)).shape == (0, 3)
    assert torch.vmap is vmap


def test_randomness():
    x = torch.zeros(4)
    with pytest.raises(RuntimeError, match="random"):
        vmap(lambda v: v + torch.rand(()))(x)
    same = vmap(lambda v: v + torch.rand(()), randomness="same")(x)
    assert len(set(same.tolist())) == 1
    other = vmap(lambda v: v + torch.rand(()), randomness="different")(x)
    assert len(set(other.tolist())) == 4


def test_modules_as_functions():
    models = [nn.Linear(3, 2) for _ in range(4)]
    params, buffers = stack_module_state(models)
    assert params["weight"].shape == (4, 2, 3) and params["weight"].is_leaf and params["weight"].requires_grad and buffers == {}
    x = torch.randn(5, 3)
    together = vmap(lambda p: functional_call(models[0], p, (x,)))(params)
    assert torch.allclose(together, torch.stack([m(x) for m in models]))
    own = {k: v.detach() for k, v in models[0].named_parameters()}
    g = grad(lambda p: functional_call(models[0], p, x).sum())(own)
    assert torch.allclose(g["weight"], x.sum(0).expand(2, 3)) and models[0].weight.grad is None
    with pytest.raises(ValueError, match="multiple"):
        functional_call(models[0], (own, own), x)


@pytest.mark.parametrize(
    "error, call",
    [
        (RuntimeError, lambda: grad(lambda x: x)(X)),
        (RuntimeError, lambda: grad(lambda x: x.sum(), argnums=3)(X)),
        (RuntimeError, lambda: grad(lambda x: 3.0)(X)),
        (RuntimeError, lambda: grad(lambda x: x.sum())(torch.arange(3))),
        (RuntimeError, lambda: jvp(lambda x: x, (X,), (X[:2],))),
        (ValueError, lambda: vmap(lambda x: x)(3)),
        (ValueError, lambda: vmap(lambda x, y: x)(X, X[:2])),
        (ValueError, lambda: vmap(lambda x: x, in_dims=(0, 0))(X)),
        (ValueError, lambda: vmap(lambda x: 3)(X)),
        (ValueError, lambda: vmap(lambda x: x, in_dims=4)(X)),
        (RuntimeError, lambda: vmap(lambda x: x, randomness="often")(X)),
    ],
)
def test_what_is_refused(error, call):
    with pytest.raises(error):
        call()

"""Small programs about Jacobians, Hessians and gradient checks; see autograd_cases."""

from case_tools import Cases, leaf, raised

CASES = Cases()
case = CASES.add


def two(x, y):
    return (x * y).sin(), (x[:2] + y.sum()) ** 2


def energy(x, y):
    return (x**3 * y).sum() + (y**2).sum()


@case
def jacobians(torch):
    f = torch.autograd.functional.jacobian
    x, y = leaf(torch), leaf(torch, (0.5, 1.5, 2.5))
    return [
        f(torch.exp, x),
        f(two, (x, y)),
        f(lambda a: two(a, y), x),
        f(lambda a, b: a * b, (x, y)),
        f(lambda a: a.sum(), x),
        f(lambda a: a.reshape(3, 1) * 2, x),
        list(f(lambda a: a.reshape(3, 1) * a, x).shape),
        f(torch.exp, x, create_graph=True).requires_grad,
        f(torch.exp, x).requires_grad,
        f(lambda a: y * 2, x),
        f(torch.exp, x, vectorize=True),
        x.grad is None,
    ]


@case
def hessians(torch):
    f = torch.autograd.functional.hessian
    x, y = leaf(torch), leaf(torch, (0.5, 1.5, 2.5))
    return [
        f(lambda a: (a**3).sum(), x),
        f(energy, (x, y)),
        f(lambda a: a.sum(), x),
        f(lambda a: (a**2).sum().reshape(1), x),
        f(lambda a: (a**3).sum(), x, create_graph=True).requires_grad,
        raised(lambda: f(lambda a: a * 2, x)),
        raised(lambda: f(two, (x, y))),
    ]


@case
def products(torch):
    f = torch.autograd.functional
    x, y = leaf(torch), leaf(torch, (0.5, 1.5, 2.5))
    v = torch.tensor([1.0, -1.0, 2.0], dtype=torch.float64)
    w = torch.tensor([0.5, 3.0], dtype=torch.float64)
    return [
        f.vjp(two, (x, y), (v, w)),
        f.vjp(torch.exp, x, v),
        f.vjp(lambda a: a.sum(), x),
        f.jvp(two, (x, y), (v, v * 2)),
        f.jvp(torch.exp, x, v),
        f.vhp(energy, (x, y), (v, v * 2)),
        f.hvp(energy, (x, y), (v, v * 2)),
        f.hvp(lambda a: (a**3).sum(), x, v),
        f.vjp(torch.exp, x, v, create_graph=True)[1].requires_grad,
        f.jvp(torch.exp, x, v, create_graph=True)[1].requires_grad,
        f.vjp(torch.exp, x, v)[0].requires_grad,
        f.jvp(lambda a: y * 1, x, v),
    ]


@case
def wrong_arguments(torch):
    f = torch.autograd.functional
    x, y = leaf(torch), leaf(torch, (0.5, 1.5, 2.5))
    return [
        raised(lambda: f.jacobian(lambda a: 1.0, x)),
        raised(lambda: f.jacobian(torch.exp, 1.0)),
        raised(lambda: f.vjp(torch.exp, x)),
        raised(lambda: f.vjp(torch.exp, x, y[:2])),
        raised(lambda: f.vjp(torch.exp, x, (y, y))),
        raised(lambda: f.jvp(torch.exp, x)),
        raised(lambda: f.jacobian(lambda a: y * 1, x, strict=True)),
        raised(lambda: f.jacobian(lambda a, b: a * 1, (x, y), strict=True)),
        raised(lambda: f.hessian(lambda a: a.sum(), x, strict=True)),
        raised(lambda: f.vhp(lambda a: a * 2, x, y)),
    ]


def wrong(torch):
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0] * 3

    return Wrong.apply


@case
def gradient_checks(torch):
    check, again = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    x, y = leaf(torch), leaf(torch, (0.5, 1.5, 2.5))
    z = torch.tensor([1 + 2j, 0.5 - 1j], dtype=torch.complex128, requires_grad=True)
    bad = wrong(torch)
    return [
        check(two, (x, y)),
        check(torch.exp, x),
        again(two, (x, y)),
        check(two, (x, y), fast_mode=True),
        again(torch.exp, (x,), fast_mode=True),
        check(lambda a: a * a.conj() + a * 3, z),
        check(lambda a: torch.real(a * a), z),
        check(lambda a: a * (1 + 2j), x),
        check(lambda a, k: a * k, (x, 3.0)),
        raised(lambda: check(bad, (x,))),
        check(bad, (x,), raise_exception=False),
        check(bad, (x,), raise_exception=False, fast_mode=True),
        raised(lambda: check(torch.exp, (x.detach(),))),
        raised(lambda: check(lambda a: a.detach() * 2, (x,))),
        check(lambda a: a[:0], (x,)),
        check(lambda a: a.t() * 2, (torch.ones(2, 3, dtype=torch.float64).t().requires_grad_(),)),
    ]

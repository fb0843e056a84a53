"""Small programs about functions of the user's own and checkpoints; see autograd_cases."""

from case_tools import Cases, leaf, raised

CASES = Cases()
case = CASES.add


def define(torch, forward, backward=None, **more):
    body = {"forward": staticmethod(forward), **{k: staticmethod(v) for k, v in more.items()}}
    if backward is not None:
        body["backward"] = staticmethod(backward)
    return type("Mine", (torch.autograd.Function,), body)


def double(torch):
    return define(torch, lambda ctx, x: x * 2, lambda ctx, g: g * 2)


@case
def simple(torch):
    x = leaf(torch)
    f = double(torch)
    y = f.apply(x)
    y.sum().backward()
    y.sum().backward()
    with torch.no_grad():
        z = f.apply(x)
    return y, x.grad, y.grad_fn.name(), z.requires_grad, f.apply(x.detach()).requires_grad, raised(lambda: f.apply(x=x))


@case
def saved(torch):
    def forward(ctx, x, k, name):
        ctx.k, ctx.name_given = k, name
        y = x.exp() * k
        ctx.save_for_backward(x, None, y)
        seen.append(list(ctx.needs_input_grad))
        seen.append(torch.is_grad_enabled())
        return y

    def backward(ctx, g):
        x, none, y = ctx.saved_tensors
        seen.append([none is None, ctx.name_given, x.requires_grad, torch.is_grad_enabled()])
        return g * y, None, None

    seen = []
    f, x = define(torch, forward, backward), leaf(torch)
    y = f.apply(x, 3, "name")
    first = torch.autograd.grad(y.sum(), x, create_graph=True)[0]
    second = torch.autograd.grad(first.sum(), x)[0]
    z = f.apply(x, 2.0, None)
    z.sum().backward()
    again = raised(lambda: z.sum().backward())
    return y, first, second, x.grad, again, seen, y.grad_fn.k


@case
def version_check(torch):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    reading = define(torch, forward, lambda ctx, g: ctx.saved_tensors[0] * 2 * g)
    blind = define(torch, forward, lambda ctx, g: g)
    out = []
    for f in (reading, blind):
        x = leaf(torch)
        y = x * 1
        z = f.apply(y)
        y.add_(1)
        out.append(raised(lambda: z.sum().backward()))
    return out


@case
def wrong_returns(torch):
    def run(backward, *more):
        x = leaf(torch)
        f = define(torch, lambda ctx, x, *more: x * 2, backward)
        failed = raised(lambda: f.apply(x, *more).sum().backward())
        return failed, x.grad

    def fail(ctx, g):
        raise KeyError

    return [
        run(lambda ctx, g: (g, g)),
        run(lambda ctx, g: (g, None, None)),
        run(lambda ctx, g: ()),
        run(lambda ctx, g: g, 3),
        run(lambda ctx, g: (g, g), 3),
        run(lambda ctx, g: (g, None), 3),
        run(lambda ctx, g: None),
        run(lambda ctx, g: 1.0),
        run(lambda ctx, g: g[:2]),
        run(lambda ctx, g: g.expand(4, 3)),
        run(lambda ctx, g: g.to(torch.float32)),
        run(lambda ctx, g: [g]),
        run(fail),
        run(None),
    ]


@case
def wrong_forwards(torch):
    def fail(ctx, x):
        raise KeyError

    x = leaf(torch)
    return [
        raised(lambda: define(torch, fail).apply(x)),
        raised(lambda: define(torch, lambda ctx, x: ctx.save_for_backward(1) or x * 2, lambda ctx, g: g).apply(x)),
        raised(lambda: define(torch, lambda ctx, x: ctx.mark_dirty(1) or x * 2, lambda ctx, g: g).apply(x)),
        raised(lambda: double(torch)()(x)),
        raised(lambda: define(torch, lambda ctx: 1).apply(x)),
        raised(lambda: torch.autograd.Function.apply(x)),
    ]


@case
def several_results(torch):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(materialize)
        return x * 2, x * 3, 5, None

    def backward(ctx, *grads):
        seen.append([g is None or g.tolist() for g in grads])
        return sum(g for g in grads if g is not None)

    out = []
    for materialize in (True, False):
        x = leaf(torch)
        a, b, c, d = define(torch, forward, backward).apply(x)
        a.sum().backward()
        out += [x.grad, c, d, a.grad_fn == b.grad_fn, a.output_nr, b.output_nr]
    return out, [[g if g is not True else None for g in s] for s in seen]


@case
def non_differentiable(torch):
    def forward(ctx, x):
        order = x.argsort()
        still = x.floor()
        ctx.mark_non_differentiable(order, still)
        return x * 2, order, still

    def backward(ctx, g, *more):
        return g * 2

    x = leaf(torch)
    a, order, still = define(torch, forward, backward).apply(x)
    unmarked = define(torch, lambda ctx, x: (x * 2, x.argsort()), backward).apply(x)[1]
    return a.requires_grad, order.requires_grad, still.requires_grad, unmarked.requires_grad


@case
def dirty(torch):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    def backward(ctx, g):
        return g * 2

    f = define(torch, forward, backward)
    x = leaf(torch)
    y = x * 1
    before = y._version
    z = f.apply(y)
    (z * 3).sum().backward()
    out = [z is y, z, x.grad, y.grad_fn.name(), z._version > before, raised(lambda: f.apply(leaf(torch)))]
    base = leaf(torch) * 1
    part = base[:2]
    f.apply(part)
    out.append(base)
    lost = define(torch, lambda ctx, x: ctx.mark_dirty(x) or x * 2, backward)
    constant = torch.ones(3, dtype=torch.float64)
    return out + [f.apply(constant) is constant, raised(lambda: lost.apply(leaf(torch) * 1))]


@case
def inputs_and_views_returned(torch):
    x = leaf(torch)
    same = define(torch, lambda ctx, x: x, lambda ctx, g: g * 5)
    y = same.apply(x)
    y.sum().backward()
    view = define(torch, lambda ctx, x: x[:2], lambda ctx, g: torch.ones(3, dtype=torch.float64))
    v = view.apply(x * 1)
    return [
        y is x,
        y.data_ptr() == x.data_ptr(),
        x.grad,
        raised(lambda: v.add_(1)),
        raised(lambda: same.apply(x * 1).add_(1)),
    ]


@case
def setup_context(torch):
    def forward(x, k):
        return x.exp() * k

    def setup(ctx, inputs, output):
        ctx.k = inputs[1]
        ctx.save_for_backward(output)

    f = define(torch, forward, lambda ctx, g: (g * ctx.saved_tensors[0], None), setup_context=setup)
    x = leaf(torch)
    y = f.apply(x, 2)
    y.sum().backward()
    return y, x.grad


@case
def once_differentiable(torch):
    from_function = torch.autograd.function.once_differentiable

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x

    f = define(torch, lambda ctx, x: ctx.save_for_backward(x) or x * x, from_function(backward))
    x = leaf(torch)
    f.apply(x).sum().backward()
    first = torch.autograd.grad(f.apply(x).sum(), x, create_graph=True)[0]
    y = f.apply(x)
    seed = torch.ones(3, dtype=torch.float64, requires_grad=True)
    first = torch.autograd.grad(y, x, seed, create_graph=True)[0]
    return x.grad, first, raised(lambda: first.sum().backward())


@case
def other_names(torch):
    f = define(torch, lambda ctx, x: x * 2, None, vjp=lambda ctx, g: g * 7)
    x = leaf(torch)
    f.apply(x).sum().backward()
    lower = type("lower_case", (torch.autograd.Function,), {"forward": staticmethod(lambda ctx, x: x * 2)})
    return x.grad, lower.apply(x).grad_fn.name()


@case
def needs(torch):
    seen = []

    def forward(ctx, *args):
        seen.append(list(ctx.needs_input_grad))
        return args[0] * args[1]

    def backward(ctx, g):
        seen.append(list(ctx.needs_input_grad))
        return g, g, None, None

    f = define(torch, forward, backward)
    x, c = leaf(torch), torch.ones(3, dtype=torch.float64)
    f.apply(x, c, 1, torch.tensor([1])).sum().backward()
    f.apply(c, x, "a", x).sum().backward()
    with torch.no_grad():
        f.apply(x, x, 0, 0)
    return seen, x.grad


@case
def nested(torch):
    f = double(torch)

    def backward(ctx, g):
        with torch.enable_grad():
            y = ctx.inner.detach().requires_grad_()
            f.apply(y).sum().backward()
        return g * y.grad

    def forward(ctx, x):
        ctx.inner = x
        return x * 2

    x = leaf(torch)
    define(torch, forward, backward).apply(x).sum().backward()
    return x.grad


# --- checkpoint -------------------------------------------------------------------------------------


def tools(torch):
    """``checkpoint`` of the module that is tested."""
    import importlib

    return importlib.import_module(torch.__name__ + ".utils.checkpoint")


@case
def checkpoints(torch):
    c, out = tools(torch), []
    for reentrant in (True, False):
        runs = []
        w = leaf(torch)

        def layer(x, scale, flag=None):
            runs.append(flag)
            return (x * w).sin() * scale, x + 1

        x = leaf(torch)
        a, b = c.checkpoint(layer, x, 2, use_reentrant=reentrant)
        before = len(runs)
        (a * b).sum().backward()
        out += [x.grad, w.grad, before, len(runs)]
    return out


@case
def checkpoint_arguments(torch):
    c = tools(torch)
    x = leaf(torch)
    f = lambda x, k=1: x * x * k  # noqa: E731
    y = c.checkpoint(f, x, k=3, use_reentrant=False)
    y.sum().backward()
    return [
        x.grad,
        raised(lambda: c.checkpoint(f, x, k=3, use_reentrant=True)),
        raised(lambda: c.checkpoint(f, x, use_reentrant=False, unknown=1)),
        c.checkpoint(f, x.detach(), use_reentrant=False).requires_grad,
        c.checkpoint(f, x.detach(), use_reentrant=True).requires_grad,
    ]


@case
def checkpoint_keeps_random_numbers(torch):
    c, out = tools(torch), []
    for reentrant in (True, False):
        drawn = []

        def noisy(x):
            noise = torch.rand(3, dtype=torch.float64)
            drawn.append(noise.tolist())
            return (x * noise).exp()

        torch.manual_seed(3)
        x = leaf(torch)
        y = c.checkpoint(noisy, x, use_reentrant=reentrant)
        follow = torch.rand(1).item()
        torch.rand(5)
        state = torch.get_rng_state()
        y.sum().backward()
        torch.manual_seed(3)
        torch.rand(3, dtype=torch.float64)
        out += [drawn[0] == drawn[1], len(drawn), torch.rand(1).item() == follow, bool((state == state).all())]
    return out


@case
def checkpoint_errors(torch):
    c = tools(torch)
    x = leaf(torch)
    count = []

    def changing(x):
        count.append(1)
        return (x if len(count) == 1 else x[:2]).exp()

    def fails_later(x):
        count.append(1)
        if len(count) > 1:
            raise KeyError
        return x.exp()

    out = []
    for f in (changing, fails_later):
        count.clear()
        y = c.checkpoint(f, x, use_reentrant=False)
        out.append(raised(lambda: y.sum().backward()))
    return out


@case
def nested_and_sequential_checkpoints(torch):
    c = tools(torch)
    out = []

    def inner(x):
        return x.sin().exp()

    def outer(x):
        return c.checkpoint(inner, x * 2, use_reentrant=False).cos()

    x = leaf(torch)
    y = c.checkpoint(outer, x, use_reentrant=False)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    out.append(x.grad)
    for reentrant in (True, False):
        x = leaf(torch)
        c.checkpoint_sequential([torch.sin, torch.exp, torch.cos, torch.tanh], 2, x, use_reentrant=reentrant).sum().backward()
        out.append(x.grad)
    return out


@case
def checkpoint_and_second_gradients(torch):
    c = tools(torch)
    x = leaf(torch)
    y = c.checkpoint(lambda x: (x**3).sin(), x, use_reentrant=False)
    g = torch.autograd.grad(y.sum(), x, create_graph=True)[0]
    return g, torch.autograd.grad(g.sum(), x)[0]

"""Small programs about autograd; each gets the module to run on and gives something that JSON can hold."""

import warnings

from case_tools import Cases, leaf, raised

CASES = Cases()
case = CASES.add


# --- backward and grad ----------------------------------------------------------------------------


@case
def accumulation(torch):
    x = leaf(torch)
    (x * x).sum().backward()
    first = x.grad
    version = first._version
    (x * x).sum().backward()
    same, bumped = x.grad is first, x.grad._version > version
    x.grad = None
    (x * x).sum().backward(create_graph=True)
    return x.grad, same, bumped, x.grad.requires_grad


@case
def backward_arguments(torch):
    x = leaf(torch)
    y = x * 2
    out = [
        raised(lambda: y.backward()),
        raised(lambda: y.backward(1.0)),
        raised(lambda: y.backward(torch.ones(2))),
        raised(lambda: y.backward(torch.ones(3), inputs=[])),
        raised(lambda: torch.tensor(1.0).backward()),
        raised(lambda: torch.autograd.backward([y, y], [torch.ones(3)])),
        raised(lambda: (leaf(torch) * 1j).sum().backward()),
    ]
    y.backward(torch.ones(3, dtype=torch.float32))
    out += [x.grad, str(x.grad.dtype).split(".")[-1]]
    a, b = leaf(torch), leaf(torch)
    (a * b).sum().backward(inputs=[a])
    out += [a.grad, b.grad is None]
    z = a * 3
    (z * z).sum().backward(inputs=z)
    return out + [z.grad, b.grad is None]


@case
def freed_graphs(torch):
    x = leaf(torch)
    y = (x * 2).sum()
    y.backward()
    z = (x * x).sum()
    z.backward(retain_graph=True)
    z.backward()
    s = x.sum()
    s.backward()
    s.backward()
    w = (x * x).exp()
    w.sum().backward()
    return raised(z.backward), x.grad, raised(lambda: w.sum().backward())


@case
def grad_arguments(torch):
    x, y, c = leaf(torch), leaf(torch), torch.ones(3)
    g = torch.autograd.grad
    out = [
        raised(lambda: g((x * 2).sum(), y)),
        raised(lambda: g((x * 2).sum(), c)),
        raised(lambda: g((x * 2).sum(), [])),
        raised(lambda: g(x * 2, x)),
        raised(lambda: g(c.sum(), x)),
        raised(lambda: g((x * 2).sum(), y, allow_unused=False, materialize_grads=True)),
    ]
    out.append(g((x * 2).sum(), y, allow_unused=True)[0] is None)
    out.append(g((x * 2).sum(), y, materialize_grads=True))
    z = x * y
    out.append(g([z.sum(), (x * x).sum()], [x, z, y], allow_unused=True, retain_graph=True))
    out.append(g(z, x, torch.ones(3, dtype=torch.float64)))
    first = g((x**3).sum(), x, create_graph=True)[0]
    out.append(g(first.sum(), x))
    return out + [x.grad is None]


@case
def batched_gradients(torch):
    x = leaf(torch)
    return torch.autograd.grad(x.exp(), x, torch.eye(3, dtype=torch.float64), is_grads_batched=True)


@case
def grad_attribute(torch):
    x = leaf(torch)
    out = [
        raised(lambda: setattr(x, "grad", 1.0)),
        raised(lambda: setattr(x, "grad", x)),
        raised(lambda: setattr(x, "grad", torch.ones(2, dtype=torch.float64))),
        raised(lambda: setattr(x, "grad", torch.ones(3))),
    ]
    x.grad = torch.ones(3, dtype=torch.float64)
    (x * 2).sum().backward()
    out.append(x.grad)
    del x.grad
    out.append(x.grad is None)
    y = x * 2
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        out.append(y.grad is None)
        out.append(len(seen))
        y.retain_grad()
        y.sum().backward()
        out += [y.grad, y.retains_grad, x.retains_grad, len(seen)]
    return out


@case
def flags(torch):
    x = leaf(torch)
    y = x * 2
    out = [x.is_leaf, y.is_leaf, x.detach().requires_grad, (x > 1).requires_grad, x.floor().requires_grad]
    out.append(raised(lambda: setattr(y, "requires_grad", False)))
    out.append(raised(lambda: y.requires_grad_(True)))
    out.append(raised(lambda: y.requires_grad_(False)))
    out.append(raised(lambda: setattr(y, "requires_grad", True)))
    out.append(raised(lambda: torch.tensor([1]).requires_grad_()))
    out.append(raised(lambda: torch.tensor([1], requires_grad=True)))
    out.append(raised(lambda: torch.ones(2).retain_grad()))
    return out


# --- modes ----------------------------------------------------------------------------------------


@case
def modes(torch):
    x = leaf(torch)
    out = []
    with torch.no_grad():
        out.append((x * 2).requires_grad)
        with torch.enable_grad():
            out.append((x * 2).requires_grad)
        with torch.set_grad_enabled(True):
            out.append((x * 2).requires_grad)
        out.append(torch.zeros(2, requires_grad=True).requires_grad)
        out.append(torch.is_grad_enabled())
    torch.set_grad_enabled(False)
    out.append((x * 2).requires_grad)
    torch.set_grad_enabled(True)

    @torch.no_grad()
    def f(a):
        return (a * 2).requires_grad

    @torch.no_grad
    def g(a):
        return (a * 2).requires_grad

    @torch.set_grad_enabled(False)
    def h(a):
        return (a * 2).requires_grad

    @torch.inference_mode()
    def i(a):
        return (a * 2).is_inference()

    @torch.inference_mode
    def j(a):
        return (a * 2).is_inference()

    @torch.inference_mode(False)
    def k(a):
        return (a * 2).is_inference(), torch.is_grad_enabled()

    out += [f(x), g(x), h(x), i(x), j(x), k(x), torch.is_grad_enabled(), f.__name__]
    with torch.inference_mode():
        out.append(k(x))
        out.append(torch.is_inference_mode_enabled())
    try:
        with torch.no_grad():
            raise KeyError
    except KeyError:
        out.append(torch.is_grad_enabled())
    return out


@case
def generators(torch):
    seen = []

    @torch.no_grad()
    def numbers():
        seen.append(torch.is_grad_enabled())
        try:
            got = yield 1
            seen.append((got, torch.is_grad_enabled()))
            yield 2
        except KeyError:
            seen.append(torch.is_grad_enabled())
            yield 3
        finally:
            seen.append(torch.is_grad_enabled())
        return 4

    g = numbers()
    out = [next(g), torch.is_grad_enabled(), g.send(5), torch.is_grad_enabled(), g.throw(KeyError), list(g)]
    closed = numbers()
    next(closed)
    closed.close()
    return out, seen


@case
def decorated_class(torch):
    @torch.no_grad()
    class A:
        def __init__(self):
            self.on = torch.is_grad_enabled()

    return A().on, torch.is_grad_enabled()


@case
def inference_tensors(torch):
    with torch.inference_mode():
        t = torch.ones(3)
        v = torch.ones(3)
        v.add_(1)
    x = leaf(torch, dtype="float32")
    out = [
        raised(lambda: t.add_(1)),
        raised(lambda: t.requires_grad_()),
        raised(lambda: t._version),
        raised(lambda: x * t),
        v,
        t.clone().is_inference(),
    ]
    (x + t).sum().backward()
    return out + [x.grad]


# --- hooks ----------------------------------------------------------------------------------------


@case
def tensor_hooks(torch):
    x = leaf(torch)
    order = []
    x.register_hook(lambda g: order.append("leaf"))
    x.register_post_accumulate_grad_hook(lambda t: order.append(("after", t.grad.tolist())))
    y = x * 2
    y.register_hook(lambda g: order.append("first"))
    gone = y.register_hook(lambda g: order.append("gone"))
    y.register_hook(lambda g: g * 10)
    y.retain_grad()
    y.register_hook(lambda g: order.append(g.tolist()))
    gone.remove()
    gone.remove()
    y.sum().backward()
    out = [order, x.grad, y.grad]
    with x.register_hook(lambda g: g * 0):
        (x * 2).sum().backward()
    (x * 2).sum().backward()
    return out + [x.grad]


@case
def wrong_hooks(torch):
    def backward_with(hook):
        x = leaf(torch)
        x.register_hook(hook)
        return raised(lambda: x.sum().backward())

    def post(hook):
        x = leaf(torch)
        x.register_post_accumulate_grad_hook(hook)
        return raised(lambda: x.sum().backward())

    def fail(g):
        raise KeyError("of the user's own")

    x = leaf(torch)
    return [
        raised(lambda: torch.ones(3).register_hook(lambda g: g)),
        raised(lambda: torch.ones(3).register_post_accumulate_grad_hook(lambda g: None)),
        raised(lambda: (x * 2).register_post_accumulate_grad_hook(lambda g: None)),
        backward_with(lambda g: g[:2]),
        backward_with(lambda g: 1.0),
        backward_with(fail),
        post(fail),
    ]


@case
def hooks_after_writes(torch):
    x = leaf(torch)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(("old", g.tolist())))
    y.mul_(5)
    y.register_hook(lambda g: seen.append(("new", g.tolist())))
    y.sum().backward()
    return seen, x.grad


@case
def hooks_and_grad(torch):
    x = leaf(torch)
    seen = []
    x.register_hook(lambda g: seen.append("hook") or g * 2)
    x.register_post_accumulate_grad_hook(lambda t: seen.append("post"))
    g = torch.autograd.grad((x * 3).sum(), x)
    return g, seen, x.grad is None


@case
def node_hooks(torch):
    x = leaf(torch)
    seen = []
    y = x * 2
    y.grad_fn.register_hook(lambda gin, gout: seen.append(("post", gin[0].tolist(), gout[0].tolist())))
    y.grad_fn.register_prehook(lambda gout: (gout[0] * 10,))
    handle = y.grad_fn.register_hook(lambda gin, gout: (gin[0] * 2,) + tuple(gin[1:]))
    y.sum().backward(retain_graph=True)
    out = [x.grad.clone()]
    handle.remove()
    x.grad = None
    y.sum().backward()
    return out + [x.grad, seen]


@case
def graph_introspection(torch):
    x = leaf(torch)
    y = (x * 2).sin()
    node = y.grad_fn
    out = [node.name(), str(node).split(" object")[0], [n[0].name() for n in node.next_functions], [n[1] for n in node.next_functions]]
    mul = node.next_functions[0][0]
    out.append(mul.next_functions[0][0].name())
    out.append(mul.next_functions[0][0].variable is x)
    node.metadata["mine"] = 3
    out += [y.grad_fn.metadata, y.grad_fn is node, x.grad_fn is None, type(node).__name__, str(type(node)), type(mul.next_functions[0][0]).__name__]
    out.append(isinstance(node, torch.autograd.graph.Node))
    out += [node._saved_self, x.exp().grad_fn._saved_result, (x * x).grad_fn._saved_other]
    out.append(raised(lambda: node.variable))
    y.sum().backward()
    return out + [raised(lambda: node._saved_self)]


@case
def in_place_rules(torch):
    def after(change, make=lambda x: x * 2, use=lambda y: y * y):
        x = leaf(torch)
        y = make(x)
        z = use(y)
        change(y)
        return raised(lambda: z.sum().backward())

    x = leaf(torch)
    return [
        after(lambda y: y.add_(1)),
        after(lambda y: y.add_(1), use=lambda y: y.exp()),
        after(lambda y: y.zero_(), use=lambda y: y + 1),
        after(lambda y: y[0].fill_(3.0)),
        after(lambda y: y.detach().add_(1)),
        after(lambda y: y.data.add_(1)),
        raised(lambda: x.add_(1)),
        raised(lambda: x[0].add_(1)),
        raised(lambda: x.unbind()[0].add_(1)),
        raised(lambda: (x * 2).unbind()[0].add_(1)),
        raised(lambda: (x * 2)[:1].detach_()),
        raised(lambda: torch.add(x, 1, out=torch.empty(3, dtype=torch.float64))),
    ]


# --- saved tensors ----------------------------------------------------------------------------------


@case
def saved_tensor_hooks(torch):
    kept, graph = [], torch.autograd.graph

    def pack(t):
        kept.append(t.tolist())
        return len(kept) - 1

    def unpack(k):
        return torch.tensor(kept[k], dtype=torch.float64)

    x = leaf(torch)
    with graph.saved_tensors_hooks(pack, unpack):
        y = x.exp() * x
    y.sum().backward()
    g = x.grad

    def fail(t):
        raise KeyError

    def inside():
        with graph.saved_tensors_hooks(fail, lambda t: t):
            x * x

    def late():
        with graph.saved_tensors_hooks(lambda t: t, fail):
            z = x * x
        z.sum().backward()

    def wrong():
        with graph.saved_tensors_hooks(lambda t: t, lambda t: 1):
            z = x * x
        z.sum().backward()

    def disabled():
        with graph.disable_saved_tensors_hooks("not here"):
            with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                pass

    out = [len(kept), g, raised(inside), raised(late), raised(wrong), raised(disabled)]
    with graph.save_on_cpu():
        z = x * x
    x.grad = None
    z.sum().backward()
    out.append(x.grad)
    with graph.allow_mutation_on_saved_tensors():
        a = leaf(torch)
        b = a * 2
        c = b * b
        b.zero_()
        c.sum().backward()
    return out + [a.grad]


@case
def increment_version(torch):
    x = leaf(torch)
    y = x * 2
    z = y * y
    torch.autograd.graph.increment_version(y)
    return y._version, raised(lambda: z.sum().backward())


@case
def multi_grad_hooks(torch):
    x, y = leaf(torch), leaf(torch)
    seen = []
    handle = torch.autograd.graph.register_multi_grad_hook((x, y), lambda gs: seen.append([g.tolist() for g in gs]))
    any_handle = torch.autograd.graph.register_multi_grad_hook((x, y), lambda g: seen.append("any"), mode="any")
    (x * y).sum().backward()
    any_handle.remove()
    (x * y).sum().backward()
    handle.remove()
    (x * y).sum().backward()
    return sorted(map(str, seen))

"""Derivatives of functions, by the graph that a call records; nested calls see each other's graphs."""

import functools

from .. import _C, autograd
from .._C import Tensor, _functions
from ..autograd.grad_mode import enable_grad
from ._trees import flatten, mapped

#: How many of the functions below run inside each other now.
_depth = 0


class _Level:
    """A block in which gradients are recorded; ``nested`` says whether another one is around it."""

    def __enter__(self):
        global _depth
        self.records = _C.is_grad_enabled()
        self.nested = _depth > 0
        self._mode = enable_grad()
        self._mode.__enter__()
        _depth += 1
        return self

    def __exit__(self, *exc):
        global _depth
        _depth -= 1
        self._mode.__exit__(*exc)
        return False


def _own(op, x):
    """A tensor of this level: the same elements, connected with the graph around, if there is one."""
    if not isinstance(x, Tensor):
        raise ValueError(f"{op}: differentiates by tensors, not by {type(x).__name__}")
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(f"{op}: differentiates by floats, not by {x.dtype}")
    return x.view_as(x) if x.requires_grad else x.detach().requires_grad_(True)


def _depends_on_others(outputs, own):
    """Whether the graph leads to leaves that are not this level's."""
    known, seen = {id(x) for x in own}, set()
    stack = [y.grad_fn for y in outputs if y.grad_fn is not None]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        leaf = getattr(node, "variable", None)
        if leaf is not None and id(leaf) not in known:
            return True
        stack.extend(n for n, _ in node.next_functions if n is not None)
    return False


def _gradients(level, outputs, inputs, seeds, keep=False):
    """``autograd.grad`` with zeros where nothing depends; recorded where somebody may differentiate it."""
    pairs = [(y, s) for y, s in zip(outputs, seeds) if y.requires_grad]
    if not pairs:
        return [_functions["zeros_like"](x).detach() for x in inputs]
    outputs, seeds = [y for y, _ in pairs], [s for _, s in pairs]
    outer = any(not x.is_leaf for x in inputs) or any(s.requires_grad for s in seeds)
    record = level.nested or (level.records and (outer or _depends_on_others(outputs, inputs)))
    return list(autograd.grad(outputs, inputs, seeds, retain_graph=keep or record, create_graph=record, materialize_grads=True))


def _chosen(op, args, argnums):
    """The arguments to differentiate by, as a tree, and a function that puts new ones in their places."""
    several = isinstance(argnums, tuple)
    if not several and not isinstance(argnums, int) or several and not argnums:
        raise RuntimeError(f"{op}: argnums must be an int or a tuple of some, not {argnums!r}")
    places = []
    for n in argnums if several else (argnums,):
        if not isinstance(n, int) or not -len(args) <= n < len(args):
            raise RuntimeError(f"{op}: Got argnum={n!r}, but only {len(args)} positional inputs")
        places.append(n % len(args))
    if len(set(places)) != len(places):
        raise RuntimeError(f"{op}: argnums {argnums} name an argument twice")
    tree = tuple(args[n] for n in places) if several else args[places[0]]

    def put(new):
        full = list(args)
        for n, value in zip(places, new if several else (new,)):
            full[n] = value
        return full

    return tree, put


def _split(op, result, has_aux):
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{op}: with has_aux=True the function must return a tuple (output, aux), not {type(result).__name__}")
    return result


def _cut(level, tree):
    """What a call gives besides gradients, without this level's graph where nobody is around it."""
    if level.nested:
        return tree
    return mapped(lambda x: x.detach() if isinstance(x, Tensor) else x, tree)


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives the gradient of ``func``, a scalar, by the arguments ``argnums``, and its value.

    With ``has_aux`` ``func`` gives a scalar and something else, which is handed on: ``(grad, (value, aux))``.
    Arguments may be nested tuples, lists and dicts; the gradient is nested likewise.
    """

    @functools.wraps(func)
    def run(*args, **kwargs):
        op = "grad_and_value"
        with _Level() as level:
            tree, put = _chosen(op, args, argnums)
            leaves, rebuild = flatten(tree)
            own = [_own(op, x) for x in leaves]
            value, aux = _split(op, func(*put(rebuild(own)), **kwargs), has_aux)
            if not isinstance(value, Tensor):
                raise RuntimeError(f"{op}: the function must return a Tensor, got {type(value).__name__}")
            if value.dim() != 0:
                raise RuntimeError(f"{op}: the function must return a scalar tensor, got one of shape {tuple(value.shape)}")
            grads = _gradients(level, [value], own, [_functions["ones_like"](value)])
            outside = any(x.requires_grad for x in leaves)
            value = value if outside and level.records else _cut(level, value)
            found = rebuild(grads)
            return (found, (value, _cut(level, aux))) if has_aux else (found, value)

    return run


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of ``func``; see ``grad_and_value``. With ``has_aux``: ``(grad, aux)``."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def run(*args, **kwargs):
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return run


def _tensors(op, tree):
    leaves, rebuild = flatten(tree)
    for y in leaves:
        if not isinstance(y, Tensor):
            raise RuntimeError(f"{op}: the function must return tensors only, got {type(y).__name__}")
    return leaves, rebuild


def vjp(func, *primals, has_aux=False):
    """The value of ``func``, and a function from cotangents, nested as the value, to a tuple of gradients by each primal.

    With ``has_aux``: ``(value, function, aux)``.
    """
    op = "vjp"
    with _Level() as level:
        leaves, rebuild = flatten(primals)
        own = [_own(op, x) for x in leaves]
        value, aux = _split(op, func(*rebuild(own)), has_aux)
        outputs, build = _tensors(op, value)
    outside = any(x.requires_grad for x in leaves)

    def pull(*cotangents, retain_graph=True, create_graph=None):
        given = cotangents[0] if len(cotangents) == 1 else cotangents
        seeds, _ = flatten(given)
        if len(seeds) != len(outputs):
            raise RuntimeError(f"vjp: the function gave {len(outputs)} tensors, and there are {len(seeds)} cotangents")
        with _Level() as inner:
            inner.nested = inner.nested or level.nested
            found = rebuild(_gradients(inner, outputs, own, seeds, keep=True))
        return found

    shown = value if level.nested or (outside and level.records) else _cut(level, value)
    return (shown, pull, _cut(level, aux)) if has_aux else (shown, pull)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """The value of ``func`` at the tuple ``primals``, and its derivative along ``tangents``, nested as they.

    Runs backward twice: every op inside must be twice differentiable.
    """
    op = "jvp"
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError(f"{op}: primals and tangents must be tuples")
    with _Level() as level:
        leaves, rebuild = flatten(primals)
        steps, _ = flatten(tangents)
        if len(steps) != len(leaves):
            raise RuntimeError(f"{op}: {len(leaves)} primals need as many tangents, not {len(steps)}")
        for x, t in zip(leaves, steps):
            if isinstance(x, Tensor) and (not isinstance(t, Tensor) or x.shape != t.shape):
                raise RuntimeError(f"{op}: a primal of shape {tuple(x.shape)} needs a tangent of that shape")
        own = [_own(op, x) for x in leaves]
        value, aux = _split(op, func(*rebuild(own)), has_aux)
        outputs, build = _tensors(op, value)
        # The gradient is linear in the cotangents: its own gradient by them, along the tangents, is the derivative.
        cotangents = [_functions["zeros_like"](y).detach().requires_grad_(True) for y in outputs]
        live = [(y, c) for y, c in zip(outputs, cotangents) if y.requires_grad]
        found = [_functions["zeros_like"](y).detach() for y in outputs]
        if live:
            pulled = autograd.grad([y for y, _ in live], own, [c for _, c in live], create_graph=True, materialize_grads=True)
            pairs = [(p, t) for p, t in zip(pulled, steps) if p.requires_grad]
            if pairs:
                outside = any(x.requires_grad for x in (*leaves, *steps))
                record = level.nested or (level.records and outside)
                moved = autograd.grad(
                    [p for p, _ in pairs], [c for _, c in live], [t for _, t in pairs], retain_graph=True, create_graph=record,
                    materialize_grads=True,
                )  # fmt: skip
                at = {id(c): m for (_, c), m in zip(live, moved)}
                found = [at.get(id(c), z) for c, z in zip(cotangents, found)]
    value = value if level.nested or any(x.requires_grad for x in leaves) else _cut(level, value)
    return (value, build(found), _cut(level, aux)) if has_aux else (value, build(found))


def linearize(func, *primals):
    """The value of ``func``, and a function from tangents to the derivative along them."""
    value = func(*primals)

    def along(*tangents):
        return jvp(func, primals, tangents)[1]

    return value, along


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that gives the Jacobian of ``func`` by the arguments ``argnums``: one backward for each element of the value.

    For a value of shape ``s`` and an argument of shape ``t`` it has shape ``s + t``; nested as the value,
    and inside that as the arguments. ``chunk_size`` is accepted.
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def run(*args, **kwargs):
        op = "jacrev"
        with _Level() as level:
            tree, put = _chosen(op, args, argnums)
            leaves, rebuild = flatten(tree)
            own = [_own(op, x) for x in leaves]
            value, aux = _split(op, func(*put(rebuild(own)), **kwargs), has_aux)
            outputs, build = _tensors(op, value)
            parts = []
            for y in outputs:
                rows = [[] for _ in own]
                for k in range(y.numel()):
                    seed = _functions["zeros_like"](y).detach()
                    seed.view(-1)[k] = 1
                    for row, g in zip(rows, _gradients(level, [y], own, [seed], keep=True)):
                        row.append(g)
                parts.append(rebuild([
                    _functions["stack"](row).reshape((*y.shape, *x.shape)) if row else x.new_zeros((*y.shape, *x.shape))
                    for row, x in zip(rows, own)
                ]))  # fmt: skip
            found = build(parts)
            return (found, _cut(level, aux)) if has_aux else found

    return run


def jacfwd(func, argnums=0, has_aux=False, *, chunk_size=None, randomness="error"):
    """As ``jacrev``, which computes it here too; ``randomness`` is accepted."""
    return jacrev(func, argnums, has_aux=has_aux, chunk_size=chunk_size)


def hessian(func, argnums=0):
    """A function that gives the second derivatives of ``func``: ``jacfwd(jacrev(func))``."""
    return jacfwd(jacrev(func, argnums), argnums)

"""Products with Jacobians and Hessians, and these matrices themselves, of functions of tensors.

Each function takes ``create_graph`` (record the result's own graph) and ``strict`` (a RuntimeError
where an output does not depend on an input, instead of zeros). ``inputs``, ``v`` and what ``func``
gives are tensors or tuples of tensors; results have their structure.
"""

from .. import _C
from .._C import Tensor
from . import grad as _grad
from .grad_mode import enable_grad

_zeros_like = _C._functions["zeros_like"]
_zeros = _C._functions["zeros"]
_ones_like = _C._functions["ones_like"]
_stack = _C._functions["stack"]

__all__ = ["vjp", "jvp", "jacobian", "hessian", "hvp", "vhp"]


def _tuple(x, what, op):
    """As a tuple, and whether it was one."""
    if isinstance(x, Tensor):
        return (x,), False
    if not isinstance(x, (tuple, list)):
        raise TypeError(f"{op}: {what} must be a tensor or a tuple of tensors, not {type(x).__name__}")
    for k, t in enumerate(x):
        if not isinstance(t, Tensor):
            raise TypeError(f"{op}: part {k} of {what} is a {type(t).__name__}, not a tensor")
    return tuple(x), True


def _start(inputs, create_graph):
    """Inputs of one's own, so that the caller's take no part; still connected if a graph is wanted."""
    if create_graph:
        return tuple(x.view_as(x) if x.requires_grad else x.detach().requires_grad_() for x in inputs)
    return tuple(x.detach().requires_grad_() for x in inputs)


def _finish(results, was_tuple, create_graph):
    if not create_graph:
        results = tuple(r.detach() for r in results)
    return results if was_tuple else results[0]


def _check(v, others, what, op):
    if v is None:
        if len(others) != 1 or others[0].numel() != 1:
            raise RuntimeError(f"{op}: v may be left out only where {what} is one tensor of one element")
        return (_ones_like(others[0]),)
    v, _ = _tuple(v, "v", op)
    if len(v) != len(others):
        raise RuntimeError(f"{op}: v has {len(v)} parts, {what} {len(others)}; they must match")
    for k, (a, b) in enumerate(zip(v, others)):
        if a.shape != b.shape:
            raise RuntimeError(f"{op}: part {k} of v has shape {tuple(a.shape)}, that of {what} {tuple(b.shape)}")
    return v


def _outputs(func, inputs, op, strict):
    outputs, was_tuple = _tuple(func(*inputs), "what func gives", op)
    if strict:
        for k, y in enumerate(outputs):
            if not y.requires_grad:
                raise RuntimeError(f"{op}: output {k} does not depend on the inputs; with strict=False its part is zeros")
    return outputs, was_tuple


def _gradients(outputs, inputs, seeds, op, strict, create_graph, retain=None, what="the outputs do"):
    """Gradients of the outputs that have a graph, zeros for what they do not depend on."""
    pairs = [(y, s) for y, s in zip(outputs, seeds) if y.requires_grad]
    if pairs:
        ys, ss = zip(*pairs)
        grads = _grad(ys, inputs, ss, retain_graph=retain, create_graph=create_graph, allow_unused=True)
    else:
        grads = (None,) * len(inputs)
    if strict:
        for k, g in enumerate(grads):
            if g is None:
                raise RuntimeError(f"{op}: {what} not depend on input {k}; with strict=False its part is zeros")
    return tuple(_zeros_like(x) if g is None else g for g, x in zip(grads, inputs))


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """``(func(*inputs), v^T J)`` where J is the Jacobian of ``func``; v has the outputs' shapes."""
    with enable_grad():
        inputs, many = _tuple(inputs, "inputs", "vjp")
        inputs = _start(inputs, create_graph)
        outputs, many_out = _outputs(func, inputs, "vjp", strict)
        seeds = _check(v, outputs, "what func gives", "vjp")
        grads = _gradients(outputs, inputs, seeds, "vjp", strict, create_graph)
    return _finish(outputs, many_out, create_graph), _finish(grads, many, create_graph)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """``(func(*inputs), J v)`` where J is the Jacobian of ``func``; v has the inputs' shapes.

    Computed by two backward runs: the gradient of ``u -> u^T J`` in the direction v.
    """
    with enable_grad():
        inputs, _ = _tuple(inputs, "inputs", "jvp")
        v = _check(v, inputs, "inputs", "jvp")
        inputs = _start(inputs, create_graph)
        outputs, many_out = _outputs(func, inputs, "jvp", strict)
        dummies = tuple(_zeros_like(y).requires_grad_() for y in outputs)
        grads = _gradients(outputs, inputs, dummies, "jvp", strict, True)
        results = _gradients(grads, dummies, v, "jvp", False, create_graph)
        if strict and create_graph:
            for k, r in enumerate(results):
                if not r.requires_grad:
                    raise RuntimeError(f"jvp: part {k} of the product does not depend on the inputs")
    return _finish(outputs, many_out, create_graph), _finish(results, many_out, create_graph)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The Jacobian: for each output and each input a tensor of the output's shape followed by the input's.

    One tensor for one output and one input; else a tuple over outputs of tuples over inputs, each
    level only where there is a tuple. ``vectorize`` changes no result.
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(f'jacobian: strategy is "reverse-mode" or "forward-mode", not {strategy!r}')
    if strategy == "forward-mode":
        raise NotImplementedError('jacobian: forward mode is not supported; use strategy="reverse-mode"')
    if strict and vectorize:
        raise RuntimeError("jacobian: strict and vectorize do not go together")
    with enable_grad():
        inputs, many = _tuple(inputs, "inputs", "jacobian")
        inputs = _start(inputs, create_graph)
        outputs, many_out = _outputs(func, inputs, "jacobian", strict)
        rows = tuple(_rows(y, k, inputs, strict, create_graph) for k, y in enumerate(outputs))
        if not create_graph:
            rows = tuple(tuple(t.detach() for t in row) for row in rows)
    rows = rows if many else tuple(row[0] for row in rows)
    return rows if many_out else rows[0]


def _rows(y, k, inputs, strict, create_graph):
    """The parts of the Jacobian that belong to one output."""
    lists = tuple([] for _ in inputs)
    for at in range(y.numel()):
        seed = _zeros_like(y).contiguous()
        seed.view(-1)[at] = 1
        grads = _gradients((y,), inputs, (seed,), "jacobian", strict, create_graph, True, f"output {k} does")
        for i, (parts, g) in enumerate(zip(lists, grads)):
            if strict and create_graph and not g.requires_grad:
                raise RuntimeError(f"jacobian: the Jacobian of output {k} for input {i} does not depend on the inputs")
            parts.append(g)
    results = []
    for parts, x in zip(lists, inputs):
        shape = tuple(y.shape) + tuple(x.shape)
        results.append(_stack(parts).view(shape) if parts else _zeros(shape, dtype=x.dtype, device=x.device))
    return tuple(results)


def _scalar(outputs, many, op):
    if many or outputs[0].numel() != 1:
        raise RuntimeError(f"{op}: func must give one tensor of one element")
    return outputs[0]


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The Hessian of a function that gives one element; for inputs i and j the shape of i, then of j."""
    inputs, many = _tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(f'hessian: outer_jacobian_strategy is "reverse-mode" or "forward-mode", not {outer_jacobian_strategy!r}')

    def once(*x):
        y = func(*x)
        y = _scalar(*_tuple(y, "what func gives", "hessian"), "hessian")
        if strict and not y.requires_grad:
            raise RuntimeError("hessian: the output does not depend on the inputs")
        return _gradients((y.reshape(()),), x, (None,), "hessian", strict, True, what="the output does")

    result = jacobian(once, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return result if many else result[0][0]


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """``(func(*inputs), v^T H)`` where H is the Hessian of a function that gives one element."""
    with enable_grad():
        inputs, many = _tuple(inputs, "inputs", "vhp")
        v = _check(v, inputs, "inputs", "vhp")
        inputs = _start(inputs, create_graph)
        y = _scalar(*_outputs(func, inputs, "vhp", strict), "vhp")
        first = _gradients((y.reshape(()),), inputs, (None,), "vhp", strict, True)
        product = _gradients(first, inputs, v, "vhp", strict, create_graph, what="the gradients do")
    return _finish((y,), False, create_graph), _finish(product, many, create_graph)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """``(func(*inputs), H v)``; a Hessian is symmetric where second derivatives are continuous, and
    this also is right where it is not. Twice the work of ``vhp``."""
    with enable_grad():
        inputs, many = _tuple(inputs, "inputs", "hvp")
        v = _check(v, inputs, "inputs", "hvp")
        inputs = _start(inputs, create_graph)
        y = _scalar(*_outputs(func, inputs, "hvp", strict), "hvp")
        first = _gradients((y.reshape(()),), inputs, (None,), "hvp", strict, True)
        dummies = tuple(_zeros_like(x).requires_grad_() for x in inputs)
        second = _gradients(first, inputs, dummies, "hvp", strict, True, what="the gradients do")
        product = _gradients(second, dummies, v, "hvp", False, create_graph)
    return _finish((y,), False, create_graph), _finish(product, many, create_graph)

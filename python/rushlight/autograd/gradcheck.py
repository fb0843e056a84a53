"""Compares gradients with finite differences."""

import sys
import types

from .. import _C
from .._C import Tensor
from . import grad as _grad
from .grad_mode import enable_grad, no_grad

_real, _imag = _C._functions["real"], _C._functions["imag"]


class GradcheckError(RuntimeError):
    """A gradient differs from finite differences, or changes from run to run."""


def gradcheck(
    func,
    inputs,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_batched_forward_grad=False,
    check_forward_ad=False,
    check_backward_ad=True,
    fast_mode=False,
    masked=None,
):
    """Whether ``func``'s gradients at ``inputs`` agree with central differences of step ``eps``.

    Each input that requires grad is moved element by element (complex ones also along the imaginary
    axis); inputs should be float64 and not overlap themselves. Each output is compared within
    ``atol + rtol * |difference|``. ``fast_mode`` compares one random direction instead of every element.

    GradcheckError: they differ, or two runs differ by more than ``nondet_tol``; with
    ``raise_exception=False`` the answer is False. ValueError: no input requires grad.
    """
    if check_forward_ad or check_batched_forward_grad:
        raise NotImplementedError("gradcheck: forward mode is not supported")
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    try:
        return _check(func, inputs, eps, atol, rtol, nondet_tol, check_grad_dtypes, check_undefined_grad, check_batched_grad, fast_mode)
    except GradcheckError:
        if raise_exception:
            raise
        return False


def _differentiable(result):
    parts = (result,) if isinstance(result, Tensor) else tuple(result) if isinstance(result, (tuple, list)) else ()
    return [y for y in parts if isinstance(y, Tensor) and y.requires_grad]


def _check(func, inputs, eps, atol, rtol, nondet_tol, check_dtypes, check_undefined, check_batched, fast):
    places = [k for k, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    if not places:
        raise ValueError("gradcheck: no input requires grad, so there is nothing to check")
    for k in places:
        x = inputs[k]
        if x.dtype not in (_C.float64, _C.complex128):
            _warn(f"gradcheck: input {k} holds {x.dtype}; finite differences want float64")
        if any(n > 1 and s == 0 for n, s in zip(x.shape, x.stride())):
            raise RuntimeError(f"gradcheck: input {k} is expanded; elements that share memory cannot be moved apart")
    outputs = _differentiable(func(*inputs))
    if not outputs:
        _constant(func, inputs, places, eps, atol)
        return True
    wanted = [inputs[k] for k in places]
    for j, y in enumerate(outputs):
        for seed in _seeds(y):
            first = _run(y, wanted, seed)
            again = _run(y, wanted, seed)
            for k, x, a, b in zip(places, wanted, first, again):
                _stable(j, k, a, b, nondet_tol)
                if a is not None and check_dtypes and a.dtype != x.dtype:
                    raise GradcheckError(f"the gradient of input {k} holds {a.dtype}, the input {x.dtype}")
    for i, k in enumerate(places):
        numeric = _numeric_fast if fast else _numeric
        for j, row in enumerate(numeric(func, inputs, k, outputs, eps)):
            _compare(outputs[j], j, wanted, i, k, row, atol, rtol, fast)
    if check_undefined:
        _undefined(outputs, wanted, places)
    if check_batched:
        for y in outputs:
            seeds = _C._functions["stack"]([s for s in _seeds(y)] * 2)
            _grad(y, wanted, seeds, retain_graph=True, allow_unused=True, is_grads_batched=True)
    return True


def _warn(text):
    import warnings

    warnings.warn(text, stacklevel=4)


def _run(y, wanted, seed):
    return _grad(y, wanted, seed, retain_graph=True, allow_unused=True)


def _seeds(y):
    """A direction to send back; the second one for the imaginary part."""
    ones = _C._functions["ones_like"](y.detach())
    return (ones, ones * 1j) if y.is_complex() else (ones,)


def _stable(j, k, a, b, tol):
    if a is None or b is None:
        if a is not b:
            raise GradcheckError(f"backward of output {j} gives a gradient for input {k} in one run and none in the next")
        return
    if a.numel() and not (_largest(a - b) <= tol):
        raise GradcheckError(f"backward is not deterministic: two runs of output {j} give gradients of input {k} that differ by {_largest(a - b)}")


def _largest(x):
    x = x.detach()
    return max(part.abs().max().item() for part in ((_real(x), _imag(x)) if x.is_complex() else (x,)))


def _constant(func, inputs, places, eps, atol):
    """Outputs without a graph must not change with the inputs."""
    result = func(*inputs)
    parts = [y for y in ((result,) if isinstance(result, Tensor) else result) if y.is_floating_point() or y.is_complex()]
    for k in places:
        for j, row in enumerate(_numeric(func, inputs, k, parts, eps, every=True)):
            if any(d.numel() and _largest(d) > atol for d in row):
                raise GradcheckError(f"output {j} has no graph, but finite differences say that it depends on input {k}")


def _values(func, inputs, chosen):
    with no_grad():
        result = func(*inputs)
    parts = (result,) if isinstance(result, Tensor) else tuple(result)
    return [parts[j].detach().clone() for j in chosen]


def _numeric(func, inputs, k, outputs, eps, every=False):
    """For each output a list of differences, one per element of input k (and per its imaginary part)."""
    x = inputs[k]
    with enable_grad():
        result = func(*inputs)
    parts = (result,) if isinstance(result, Tensor) else tuple(result)
    chosen = [j for j, y in enumerate(parts) if isinstance(y, Tensor) and (y.requires_grad or every and (y.is_floating_point() or y.is_complex()))]
    moved = list(inputs)
    rows = [[] for _ in chosen]
    flat = x.detach().clone()
    steps = (eps, eps * 1j) if x.is_complex() else (eps,)
    for index in _indices(x.shape):
        for step in steps:
            sides = []
            for sign in (1, -1):
                there = flat.clone()
                there[index] += sign * step
                moved[k] = there.requires_grad_()
                sides.append(_values(func, moved, chosen))
            for row, up, down in zip(rows, *sides):
                row.append((up - down) / (2 * eps))
    return rows


def _indices(shape):
    if not shape:
        yield ()
        return
    for first in range(shape[0]):
        for rest in _indices(shape[1:]):
            yield (first, *rest)


def _numeric_fast(func, inputs, k, outputs, eps):
    """As ``_numeric``, along one fixed direction over all elements."""
    x = inputs[k]
    u = _direction(x)
    parts = func(*inputs)
    parts = (parts,) if isinstance(parts, Tensor) else tuple(parts)
    chosen = [j for j, y in enumerate(parts) if isinstance(y, Tensor) and y.requires_grad]
    rows = [[] for _ in chosen]
    for turn in (1, 1j) if x.is_complex() else (1,):
        moved, sides = list(inputs), []
        for sign in (1, -1):
            moved[k] = (x.detach() + u * (sign * eps * turn)).requires_grad_()
            sides.append(_values(func, moved, chosen))
        for row, up, down in zip(rows, *sides):
            row.append((up - down) / (2 * eps))
    return rows


def _direction(x):
    """Unequal weights, the same in every run."""
    count = _C._functions["arange"](x.numel(), dtype=_C.float64)
    return (0.5 + (count * 7919 + 13) % 1009 / 1009).reshape(x.shape).to(x.dtype)


def _compare(y, j, wanted, i, k, differences, atol, rtol, fast):
    """Each element of the output against backward, which gives the derivatives for all elements of the input."""
    x = wanted[i]
    complex_in = x.is_complex()
    u = _direction(x) if fast else None
    for at, index in enumerate(_indices(y.shape)):
        for imaginary in (False, True) if y.is_complex() else (False,):
            seed = _C._functions["zeros_like"](y.detach())
            seed[index] = 1j if imaginary else 1
            g = _run(y, [x], seed)[0]
            g = _C._functions["zeros_like"](x.detach()) if g is None else g
            # d(part of y)/d(re x), then /d(im x): backward gives them as one complex number.
            flat = [_real(g), _imag(g)] if complex_in else [g]
            if fast:
                found = [(f * (_real(u) if complex_in else u)).sum().item() for f in flat]
            else:
                found = [f[p].item() for p in _indices(x.shape) for f in flat]
            for place, (a, d) in enumerate(zip(found, differences)):
                d = d[index]
                n = (_imag(d) if imaginary else _real(d)).item() if y.is_complex() else d.item()
                if not abs(a - n) <= atol + rtol * abs(n):
                    what = "along one direction" if fast else f"place {place // (2 if complex_in else 1)} of input {k}"
                    raise GradcheckError(
                        f"the gradient of element {index} of output {j} for input {k} differs from finite differences ({what}): "
                        f"backward gives {a}, differences {n}"
                    )


def _undefined(outputs, wanted, places):
    """Zero gradients must give zero gradients, whether they are spelt out or left undefined."""
    zeros = [_C._functions["zeros_like"](y.detach()) for y in outputs]
    for k, g in zip(places, _grad(outputs, wanted, zeros, retain_graph=True, allow_unused=True)):
        if g is not None and g.numel() and not _largest(g) == 0:
            raise GradcheckError(f"backward of a zero gradient gives input {k} a gradient that is not zero")


def gradgradcheck(
    func,
    inputs,
    grad_outputs=None,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    gen_non_contig_grad_outputs=False,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_fwd_over_rev=False,
    check_rev_over_rev=True,
    fast_mode=False,
    masked=False,
):
    """As ``gradcheck`` for the gradients' own gradients, with respect to inputs and ``grad_outputs``."""
    if check_fwd_over_rev:
        raise NotImplementedError("gradgradcheck: forward mode is not supported")
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    if grad_outputs is None:
        seeds = [(_direction(y) + 0.25).requires_grad_() for y in _differentiable(func(*inputs))]
        if gen_non_contig_grad_outputs:
            seeds = [_strided(s).requires_grad_() for s in seeds]
    else:
        seeds = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    if not seeds:
        raise ValueError("gradgradcheck: no output has a graph, so there is nothing to check")

    def first(*args):
        args, seeds_now = args[: len(inputs)], args[len(inputs) :]
        with enable_grad():
            outputs = _differentiable(func(*args))
            wanted = [a for a in args if isinstance(a, Tensor) and a.requires_grad]
            grads = _grad(outputs, wanted, list(seeds_now), create_graph=True, allow_unused=True)
        return tuple(g for g in grads if g is not None)

    return gradcheck(
        first,
        inputs + tuple(seeds),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        fast_mode=fast_mode,
        masked=masked,
    )


def _strided(t):
    wide = _C._functions["stack"]([t.detach(), t.detach()], dim=-1)
    return wide[..., 0]


class _Module(types.ModuleType):
    """Importing this module puts it where torch has the function of its name; so it can be called."""

    def __call__(self, *args, **kwargs):
        return gradcheck(*args, **kwargs)


sys.modules[__name__].__class__ = _Module

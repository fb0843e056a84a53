"""Trades time for memory: what a part of the network saves for backward is computed again there."""

import warnings
import weakref

from .. import _C
from .._C import Tensor
from ..autograd import Function, backward
from ..autograd.grad_mode import enable_grad, no_grad
from ..autograd.graph import saved_tensors_hooks
from ..random import fork_rng, get_rng_state, set_rng_state

__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential", "noop_context_fn", "set_checkpoint_early_stop"]


class CheckpointError(RuntimeError):
    """The second run of a checkpointed function saved other tensors than the first."""


class _Nothing:
    def __enter__(self):
        return None

    def __exit__(self, *exc):
        return None


def noop_context_fn():
    """Two context managers that do nothing: the default of ``context_fn``."""
    return _Nothing(), _Nothing()


_EARLY_STOP = [True]


class set_checkpoint_early_stop:
    """Whether the second run ends as soon as all that was saved is there (it does by default)."""

    def __init__(self, enable):
        self._enable, self._before = enable, []

    def __enter__(self):
        self._before.append(_EARLY_STOP[0])
        _EARLY_STOP[0] = self._enable

    def __exit__(self, *exc):
        _EARLY_STOP[0] = self._before.pop()


def checkpoint(
    function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check="default", debug=False, early_stop=True, preserve_rng_state=True, **kwargs
):
    """``function(*args, **kwargs)``, whose intermediate tensors are computed again in backward.

    ``preserve_rng_state``: the second run draws the same random numbers. ``use_reentrant=False``
    computes again when backward first needs something; True runs a backward of its own inside
    backward, and needs an argument that requires grad. ``context_fn`` gives two context managers,
    for the first run and the second. ``determinism_check="none"``: do not compare what both runs saved.
    """
    if use_reentrant is None:
        warnings.warn("checkpoint: pass use_reentrant explicitly; use_reentrant=False is the better choice, True the default", stacklevel=2)
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError(f"checkpoint: keyword arguments ({', '.join(kwargs)}) need use_reentrant=False")
        if context_fn is not noop_context_fn or debug:
            raise ValueError("checkpoint: context_fn and debug need use_reentrant=False")
        return _Reentrant.apply(function, bool(preserve_rng_state), *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(f'checkpoint: determinism_check is "default" or "none", not {determinism_check!r}')
    if not _C.is_grad_enabled():
        return function(*args, **kwargs)
    first, second = context_fn()
    state = get_rng_state() if preserve_rng_state else None

    def again():
        with second:
            if state is None:
                return function(*args, **kwargs)
            with fork_rng():
                set_rng_state(state)
                return function(*args, **kwargs)

    segment = _Segment(again, determinism_check == "default", early_stop and _EARLY_STOP[0])
    with first, saved_tensors_hooks(segment.pack, segment.unpack):
        return function(*args, **kwargs)


class _Place:
    """Stands for a tensor that was not kept."""

    __slots__ = ("number", "__weakref__")

    def __init__(self, number):
        self.number = number


class _Enough(Exception):
    """Ends the second run."""


def _outline(t):
    return tuple(t.shape), t.dtype, t.device


class _Segment:
    """One checkpointed call: how many tensors it saved, and the way to get them again."""

    def __init__(self, again, check, early_stop):
        self._again, self._check, self._early_stop = again, check, early_stop
        self._places = []
        self._outlines = []
        self._run = self._results = None

    def pack(self, tensor):
        place = _Place(len(self._places))
        self._places.append(weakref.ref(place))
        self._outlines.append(_outline(tensor))
        return place

    def unpack(self, place):
        run = _C._current_run()
        # One more run of the function for each run of backward (or each look from outside).
        if self._results is None or run is None or run != self._run:
            self._results, self._run = self._compute(), run
        found = self._results[place.number]
        if found is None:
            raise CheckpointError("checkpoint: a tensor is asked for that nothing needed when the function ran again")
        return found

    def _compute(self):
        results, count = [], [0]

        def keep(tensor):
            at = count[0]
            count[0] += 1
            if at < len(self._places):
                if self._check and _outline(tensor) != self._outlines[at]:
                    raise CheckpointError(
                        f"checkpoint: tensor {at} that the function saves had (shape, dtype, device) {self._outlines[at]} "
                        f"in forward and has {_outline(tensor)} now; it must do the same both times"
                    )
                results.append(tensor if self._places[at]() is not None else None)
                if self._early_stop and len(results) == len(self._places):
                    raise _Enough
            return tensor.detach()

        try:
            with enable_grad(), saved_tensors_hooks(keep, lambda t: t):
                self._again()
        except _Enough:
            pass
        if self._check and count[0] < len(self._places):
            raise CheckpointError(f"checkpoint: the function saved {len(self._places)} tensors in forward and {count[0]} now; it must do the same both times")
        results.extend([None] * (len(self._places) - len(results)))
        return results


class _Reentrant(Function):
    """Runs the function again, and backward through it, inside its own backward."""

    @staticmethod
    def forward(ctx, function, preserve, *args):
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            warnings.warn("checkpoint: none of the arguments requires grad, so no gradient will be computed", stacklevel=4)
        ctx.function = function
        ctx.state = get_rng_state() if preserve else None
        ctx.places = [k for k, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.save_for_backward(*(args[k] for k in ctx.places))
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx, *grads):
        args = list(ctx.others)
        for k, t in zip(ctx.places, ctx.saved_tensors):
            args[k] = t.detach().requires_grad_(ctx.needs_input_grad[k + 2])
        with enable_grad():
            if ctx.state is None:
                outputs = ctx.function(*args)
            else:
                with fork_rng():
                    set_rng_state(ctx.state)
                    outputs = ctx.function(*args)
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        pairs = [(y, g) for y, g in zip(outputs, grads) if isinstance(y, Tensor) and y.requires_grad]
        if not pairs:
            raise RuntimeError("checkpoint: none of the function's outputs requires grad, so there is nothing to compute again")
        backward([y for y, _ in pairs], [g for _, g in pairs])
        return (None, None, *(a.grad if isinstance(a, Tensor) else None for a in args))


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Calls ``functions`` one after another on ``input``, all but the last of ``segments`` parts checkpointed.

    ``functions``: a sequence, or a module with ``children()``.
    """
    if use_reentrant is None:
        warnings.warn("checkpoint_sequential: pass use_reentrant explicitly", stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"checkpoint_sequential: unknown arguments {', '.join(kwargs)}")
    functions = list(functions.children() if hasattr(functions, "children") else functions)

    def chain(start, end):
        def run(x):
            for f in functions[start:end]:
                x = f(x)
            return x

        return run

    size = max(len(functions) // segments, 1)
    start = 0
    for _ in range(segments - 1):
        input = checkpoint(chain(start, start + size), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
        start += size
    return chain(start, len(functions))(input)

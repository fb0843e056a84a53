"""L-BFGS (Liu and Nocedal 1989), with a line search for Wolfe's conditions (Nocedal and Wright, algorithms 3.5 and 3.6)."""

from collections import namedtuple

from .._C import _functions
from ..autograd.grad_mode import enable_grad, no_grad
from ._stepwise import at_least_zero, plain
from .optimizer import Optimizer

__all__ = ["LBFGS"]

#: A place on the line: how far, the loss there, the gradient, and its slope along the line.
_Place = namedtuple("_Place", "t loss grad slope")


def _cubic_interpolate(x1, f1, g1, x2, f2, g2, bounds=None):
    """The minimum of the cubic through two values and slopes, inside the bounds; their middle if it has none."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square**0.5
    if x1 <= x2:
        t = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        t = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(t, low), high)


def _between(a, b, bounds=None):
    return _cubic_interpolate(a.t, a.loss, a.slope, b.t, b.loss, b.slope, bounds)


def _wolfe_place(evaluate, start, t, size, c1=1e-4, c2=0.9, tolerance=1e-9, most=25):
    """A place that Wolfe's strong conditions hold at, and how often the loss was computed.

    ``evaluate(t)`` gives the place at ``t``, ``size`` is the largest entry of the direction.
    """

    def too_high(place):
        return place.loss > start.loss + c1 * place.t * start.slope

    def flat(place):
        return abs(place.slope) <= -c2 * start.slope

    now, before, tries = evaluate(t), start, 0
    bracket = None
    while tries < most:
        if too_high(now) or (tries > 1 and now.loss >= before.loss):
            bracket = [before, now]
        elif flat(now):
            return now, tries + 1
        elif now.slope >= 0:
            bracket = [before, now]
        if bracket:
            break
        t = _between(before, now, (now.t + 0.01 * (now.t - before.t), now.t * 10))
        before, now, tries = now, evaluate(t), tries + 1
    bracket = bracket or [start, now]
    stuck = False
    low = 0 if bracket[0].loss <= bracket[1].loss else 1
    while tries < most:
        left, right = sorted((bracket[0].t, bracket[1].t))
        if (right - left) * size < tolerance:
            break
        t = _between(*bracket)
        margin = 0.1 * (right - left)
        if min(right - t, t - left) < margin:  # near an end: the second time in a row, go inside
            if stuck or t >= right or t <= left:
                t = right - margin if abs(t - right) < abs(t - left) else left + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        now, tries = evaluate(t), tries + 1
        if too_high(now) or now.loss >= bracket[low].loss:
            bracket[1 - low] = now
            low = 0 if bracket[0].loss <= bracket[1].loss else 1
            continue
        done = flat(now)
        if not done and now.slope * (bracket[1 - low].t - bracket[low].t) >= 0:
            bracket[1 - low] = bracket[low]
        bracket[low] = now
        if done:
            break
    return bracket[low], tries + 1


class LBFGS(Optimizer):
    """Steps along the inverse of a curvature that the last ``history_size`` steps tell of. One group.

    ``step`` needs a closure, which it calls up to ``max_eval`` times (``max_iter * 5 // 4`` unless given)
    in up to ``max_iter`` iterations; it stops early where the largest gradient is below
    ``tolerance_grad`` or a step or the loss changes by less than ``tolerance_change``.
    ``line_search_fn`` is ``"strong_wolfe"`` or ``None``: steps of ``lr``.
    """

    def __init__(
        self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100,
        line_search_fn=None, *, maximize=False,
    ):
        at_least_zero(**{"learning rate": lr})
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn, "maximize": maximize,
        })  # fmt: skip
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _flat_gradient(self):
        """All gradients as one vector, downhill whichever way is asked for."""
        parts = []
        for p in self._params:
            grad = p.new_zeros(p.shape) if p.grad is None else p.grad
            grad = _functions["view_as_real"](grad) if grad.is_complex() else grad
            parts.append(grad.reshape(-1))
        flat = _functions["cat"](parts)
        return -flat if self.param_groups[0]["maximize"] else flat

    def _move(self, t, direction):
        at = 0
        for p in self._params:
            p = _functions["view_as_real"](p) if p.is_complex() else p
            p.add_(direction[at : at + p.numel()].view_as(p), alpha=t)
            at += p.numel()

    @no_grad()
    def step(self, closure):
        """Some iterations; ``closure`` clears gradients, computes the loss, runs backward and gives the loss.

        Gives the loss before them.
        """
        closure = enable_grad()(closure)
        group = self.param_groups[0]
        sign = -1.0 if group["maximize"] else 1.0
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        loss = sign * float(first)
        state["func_evals"] += 1
        grad = self._flat_gradient()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first
        evals, rounds = 1, 0
        while rounds < group["max_iter"]:
            rounds += 1
            state["n_iter"] += 1
            direction = self._direction(state, grad, group["history_size"])
            state["prev_flat_grad"], state["prev_loss"] = grad.clone(), loss
            lr = plain(group["lr"])
            t = min(1.0, 1.0 / float(grad.abs().sum())) * lr if state["n_iter"] == 1 else lr
            state["d"], state["t"] = direction, t
            slope = float(grad.dot(direction))
            if slope > -group["tolerance_change"]:
                break
            last, calls = loss, 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported as line_search_fn")
                place, calls = self._search(closure, sign, _Place(0, loss, grad.clone(), slope), t, direction, group["max_eval"] - evals)
                loss, grad, t = place.loss, place.grad, place.t
                state["t"] = t
                self._move(t, direction)
            else:
                self._move(t, direction)
                if rounds != group["max_iter"]:
                    with enable_grad():
                        loss = sign * float(closure())
                    grad, calls = self._flat_gradient(), 1
            evals += calls
            state["func_evals"] += calls
            if rounds == group["max_iter"] or evals >= group["max_eval"]:
                break
            if grad.abs().max() <= group["tolerance_grad"]:
                break
            if float((direction * t).abs().max()) <= group["tolerance_change"]:
                break
            if abs(loss - last) < group["tolerance_change"]:
                break
        return first

    def _search(self, closure, sign, start, t, direction, most):
        before = [p.clone() for p in self._params]

        def evaluate(t):
            self._move(t, direction)
            loss = sign * float(closure())
            grad = self._flat_gradient().clone()
            for p, old in zip(self._params, before):
                p.copy_(old)
            return _Place(t, loss, grad, float(grad.dot(direction)))

        return _wolfe_place(evaluate, start, t, float(direction.abs().max()), most=most)

    @staticmethod
    def _direction(state, grad, size):
        """Where to go: down the gradient, bent by the two loops over former steps."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return -grad
        y, s = grad - state["prev_flat_grad"], state["d"] * state["t"]
        ys = float(y.dot(s))
        turns, steps, weights = state["old_dirs"], state["old_stps"], state["ro"]
        if ys > 1e-10:
            if len(turns) == size:
                for list_ in (turns, steps, weights):
                    list_.pop(0)
            turns.append(y)
            steps.append(s)
            weights.append(1.0 / ys)
            state["H_diag"] = ys / float(y.dot(y))
        q, shares = -grad, []
        for y, s, w in zip(reversed(turns), reversed(steps), reversed(weights)):
            shares.append(float(s.dot(q)) * w)
            q.add_(y, alpha=-shares[-1])
        q.mul_(state["H_diag"])
        for y, s, w, share in zip(turns, steps, weights, reversed(shares)):
            q.add_(s, alpha=share - float(y.dot(q)) * w)
        return q

"""Windows of ``M`` elements; with ``sym=False`` the first ``M`` of ``M + 1``, for spectra."""

import math

from .. import empty, float32, float64, get_default_dtype, linspace, special


def _places(name, M, sym, dtype, low, high):
    """`M` steps from `low` to `high`, or one step short of it."""
    dtype = get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{name}: M must not be negative, got {M}")
    if dtype not in (float32, float64):
        raise ValueError(f"{name}: a window holds float32 or float64, not {dtype}")
    if M == 0:
        return empty(0, dtype=float64)
    whole = M if sym else M + 1
    if whole == 1:
        return linspace(low, low, 1, dtype=float64)
    return linspace(low, high, whole, dtype=float64)[:M]


def _window(formula):
    """Gives a formula over its arguments torch's other ones."""

    def window(M, *args, sym=True, dtype=None, layout=None, device=None, requires_grad=False, **rest):
        if str(layout) not in ("None", "torch.strided"):
            raise ValueError(f"{formula.__name__}: windows are strided, not {layout}")
        made = formula(formula.__name__, M, sym, dtype, *args, **rest)
        kind = get_default_dtype() if dtype is None else dtype
        made = made.to(kind) if device is None else made.to(device, kind)
        return made.requires_grad_() if requires_grad else made

    window.__name__ = window.__qualname__ = formula.__name__
    window.__doc__ = formula.__doc__
    return window


@_window
def general_cosine(name, M, sym, dtype, a):
    """``sum((-1)^i a[i] cos(i k))`` for ``k`` from 0 to 2 pi."""
    if not isinstance(a, list | tuple) or not a:
        raise TypeError(f"{name}: a must be a list of coefficients, not {a!r}")
    if M == 1:
        return _places(name, M, sym, dtype, 0, 0) + 1
    k = _places(name, M, sym, dtype, 0, 2 * math.pi)
    return sum((-1) ** i * c * (k * i).cos() for i, c in enumerate(a))


def _cosines(name, coefficients, doc):
    def window(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
        return general_cosine(M, a=coefficients, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = doc
    return window


hann = _cosines("hann", [0.5, 0.5], "``(1 - cos) / 2``.")
hamming = _cosines("hamming", [0.54, 0.46], "``0.54 - 0.46 cos``.")
blackman = _cosines("blackman", [0.42, 0.5, 0.08], "Three cosines.")
nuttall = _cosines("nuttall", [0.3635819, 0.4891775, 0.1365995, 0.0106411], "Four cosines, with low side lobes.")


def general_hamming(M, *, alpha=0.54, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """``alpha - (1 - alpha) cos``."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


@_window
def exponential(name, M, sym, dtype, *, center=None, tau=1.0):
    """``exp(-|k - center| / tau)``."""
    if tau <= 0:
        raise ValueError(f"{name}: tau must be positive, got {tau}")
    if sym and center is not None:
        raise ValueError(f"{name}: a symmetric window has its centre in the middle")
    last = (M if not sym else M - 1) if M > 1 else 0
    center = last / 2 if center is None else center
    k = _places(name, M, sym, dtype, -center / tau, (-center + (M if not sym else M - 1)) / tau)
    return (-k.abs()).exp() if M != 1 else k * 0 + 1


@_window
def gaussian(name, M, sym, dtype, *, std=1.0):
    """``exp(-(k / std)^2 / 2)`` around the middle."""
    if std <= 0:
        raise ValueError(f"{name}: std must be positive, got {std}")
    last = M if not sym and M > 1 else M - 1
    start = -last / 2
    scale = 1 / (std * math.sqrt(2))
    k = _places(name, M, sym, dtype, start * scale, (start + (M if not sym else M - 1)) * scale)
    return (-(k**2)).exp() if M != 1 else k * 0 + 1


@_window
def cosine(name, M, sym, dtype):
    """``sin(pi (k + 1/2) / M)``."""
    if M == 1:
        return _places(name, M, sym, dtype, 0, 0) + 1
    whole = M if sym else M + 1
    step = math.pi / whole if whole else 0
    k = _places(name, M, sym, dtype, 0.5 * step, (whole - 0.5) * step)
    return k.sin()


@_window
def kaiser(name, M, sym, dtype, *, beta=12.0):
    """``I0(beta sqrt(1 - x^2)) / I0(beta)`` for ``x`` from -1 to 1."""
    if beta < 0:
        raise ValueError(f"{name}: beta must not be negative, got {beta}")
    if M == 1:
        return _places(name, M, sym, dtype, 0, 0) + 1
    x = _places(name, M, sym, dtype, -1, 1)
    return special.i0(beta * (1 - x * x).clamp_min(0).sqrt()) / special.i0(x.new_tensor(beta))


@_window
def bartlett(name, M, sym, dtype):
    """``1 - |x|`` for ``x`` from -1 to 1."""
    if M == 1:
        return _places(name, M, sym, dtype, 0, 0) + 1
    return 1 - _places(name, M, sym, dtype, -1, 1).abs()

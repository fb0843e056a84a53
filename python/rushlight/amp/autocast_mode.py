"""``autocast``: in its block products run in a half."""

import functools
import warnings

from .. import _C

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

#: The dtype of each kind of device; only the CPU's is ever used.
_dtypes = {"cpu": _C.bfloat16, "cuda": _C.float16, "xpu": _C.float16, "hpu": _C.bfloat16, "mps": _C.float16, "mtia": _C.float16}
_state = {"cache": True, "nesting": 0}


def _known(device_type):
    if not isinstance(device_type, str):
        raise TypeError(f"autocast: device_type is a text like 'cpu', not {type(device_type).__name__}")
    if device_type not in _dtypes:
        raise RuntimeError(f"autocast: there is no device of type {device_type!r}; known are {sorted(_dtypes)}")
    return device_type


def is_autocast_available(device_type):
    """Whether products on such a device can run in a half: on the CPU, which is all there is."""
    return _known(device_type) == "cpu"


def is_autocast_enabled(device_type=None):
    """Whether it is on in this thread; without a device type, for CUDA: never."""
    return device_type is not None and _known(device_type) == "cpu" and _C._autocast_dtype() is not None


def set_autocast_enabled(device_type, enabled=None):
    """Turns it on or off in this thread."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    if _known(device_type) == "cpu":
        _C._set_autocast(_dtypes["cpu"] if enabled else None)


def get_autocast_dtype(device_type):
    """The half that products run in."""
    active = _C._autocast_dtype() if _known(device_type) == "cpu" else None
    return _dtypes[device_type] if active is None else active


def set_autocast_dtype(device_type, dtype):
    """Chooses the half that products run in."""
    _dtypes[_known(device_type)] = dtype
    if device_type == "cpu" and _C._autocast_dtype() is not None:
        _C._set_autocast(dtype)


def is_autocast_cache_enabled():
    """What was wished for; nothing is cached here."""
    return _state["cache"]


def set_autocast_cache_enabled(enabled):
    """Remembers the wish."""
    _state["cache"] = bool(enabled)


def clear_autocast_cache():
    """Nothing is cached."""


class autocast:
    """In its block products and convolutions of float32 run in ``dtype``, a half, and give it.

    Losses, decompositions and the like run in float32; all other ops in the dtype that they are given,
    float64 stays. Also a decorator. ``cache_enabled`` is accepted. Only ``"cpu"`` does something: for
    others there is a warning, as in a torch without them. What backward computes has the dtypes that
    forward had; backward itself belongs after the block.
    """

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        self.device = _known(device_type)
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._enabled = bool(enabled)
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._before = []
        if self._enabled and device_type != "cpu":
            warnings.warn(f"autocast: there is no {device_type} here, so it does nothing; use device_type='cpu'", UserWarning, stacklevel=2)
            self._enabled = False
        if self._enabled and self.fast_dtype not in (_C.bfloat16, _C.float16):
            warnings.warn(f"autocast: {self.fast_dtype} is no half, so it does nothing; bfloat16 and float16 are", UserWarning, stacklevel=2)
            self._enabled = False

    def __enter__(self):
        if self.device == "cpu":
            self._before.append(_C._set_autocast(self.fast_dtype if self._enabled else None))
        return self

    def __exit__(self, *exc):
        if self.device == "cpu":
            _C._set_autocast(self._before.pop())
        return False

    def __call__(self, func):
        @functools.wraps(func)
        def run(*args, **kwargs):
            with self:
                return func(*args, **kwargs)

        return run


def _cast(x, dtype):
    if isinstance(x, _C.Tensor):
        return x.to(dtype) if x.is_floating_point() and x.dtype is not _C.float64 else x
    if isinstance(x, dict):
        return {_cast(k, dtype): _cast(v, dtype) for k, v in x.items()}
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        return type(x)(_cast(v, dtype) for v in x)
    return x


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """For ``forward`` of an ``autograd.Function``: remembers whether autocast is on, or runs without it in ``cast_inputs``."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args, **kwargs):
        ctx = args[0]
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = is_autocast_enabled(device_type)
        if cast_inputs is None or not ctx._fwd_used_autocast:
            return fwd(*args, **kwargs)
        ctx._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args[1:], cast_inputs), **_cast(kwargs, cast_inputs))

    return forward


def custom_bwd(bwd=None, *, device_type):
    """For ``backward`` of an ``autograd.Function`` with ``custom_fwd``: autocast is as it was in forward."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(*args, **kwargs):
        with autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return backward

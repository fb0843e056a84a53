"""``amp`` for CUDA, of which there is none: all is accepted and runs in float32."""

import functools

from ...amp.autocast_mode import custom_bwd as _custom_bwd
from ...amp.autocast_mode import custom_fwd as _custom_fwd
from .autocast_mode import autocast
from .grad_scaler import GradScaler

custom_fwd = functools.partial(_custom_fwd, device_type="cuda")
custom_bwd = functools.partial(_custom_bwd, device_type="cuda")

__all__ = ["autocast", "custom_bwd", "custom_fwd", "GradScaler"]

"""``GradScaler`` for CUDA."""

from ...amp.grad_scaler import GradScaler as _GradScaler
from ...amp.grad_scaler import OptState


class GradScaler(_GradScaler):
    """``amp.GradScaler("cuda", ..)``, which does nothing here."""

    def __init__(self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)

"""``autocast`` for CUDA."""

from ... import _C
from ...amp.autocast_mode import autocast as _autocast


class autocast(_autocast):
    """``amp.autocast("cuda", ..)``, which does nothing here."""

    def __init__(self, enabled=True, dtype=_C.float16, cache_enabled=True):
        super().__init__("cuda", dtype, enabled, cache_enabled)

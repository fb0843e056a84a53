"""Anomaly mode: errors of backward name the line of forward, and NaN is one of them."""

import warnings

from .. import _C


def _set(mode, check_nan):
    _C._set_anomaly((2 if check_nan else 1) if mode else 0)


class detect_anomaly:
    """Until the end of the block, steps remember their line, and backward stops at NaN.

    A failure in backward gives a warning with the line of the op whose backward failed. With
    ``check_nan`` a gradient that holds NaN is a RuntimeError that names the step and the output.
    """

    def __init__(self, check_nan=True):
        self.check_nan = check_nan
        self._before = []
        warnings.warn("Anomaly Detection has been enabled. This mode is slow; use it to find an error only.", stacklevel=2)

    def __enter__(self):
        self._before.append(_C._anomaly())
        _set(True, self.check_nan)

    def __exit__(self, *exc):
        _C._set_anomaly(self._before.pop())


class set_detect_anomaly:
    """As ``detect_anomaly``, on or off; as a function it holds for good."""

    def __init__(self, mode, check_nan=True):
        self._before = _C._anomaly()
        _set(mode, check_nan)

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        _C._set_anomaly(self._before)


def is_anomaly_enabled():
    return _C._anomaly() > 0


def is_anomaly_check_nan_enabled():
    return _C._anomaly() == 2

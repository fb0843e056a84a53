"""Signals: their windows."""

from . import windows

__all__ = ["windows"]

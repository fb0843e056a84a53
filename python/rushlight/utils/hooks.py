"""Handles of hooks."""

from .._C import RemovableHandle

__all__ = ["RemovableHandle"]

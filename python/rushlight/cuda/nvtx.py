"""Marks for a profiler of CUDA: accepted and dropped."""

from contextlib import contextmanager


def range_push(msg):
    """Nothing is marked."""
    return 0


def range_pop():
    """Nothing is marked."""
    return 0


def mark(msg):
    """Nothing is marked."""


@contextmanager
def range(msg, *args, **kwargs):
    """Nothing is marked."""
    yield

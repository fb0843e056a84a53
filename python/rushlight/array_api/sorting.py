"""Sorting functions. Equal elements always keep their order, so ``stable=False`` changes nothing."""

from .._C import _functions as rows
from ._arrays import array


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """Where each of the sorted elements along ``axis`` comes from."""
    return rows["argsort"](array("argsort", x), axis, descending)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """The elements in order along ``axis``."""
    return rows["sort"](array("sort", x), axis, descending)[0]

"""The words of ``reduction``, and the flags that said it before."""

import warnings

_NAMES = ("none", "mean", "sum")


def get_enum(reduction):
    """The number of a word: 0 ``none``, 1 ``mean``, 2 ``sum``. ValueError: another word."""
    if reduction == "elementwise_mean":
        warnings.warn("reduction='elementwise_mean' is 'mean' now", stacklevel=2)
        return 1
    if reduction not in _NAMES:
        raise ValueError(f"reduction must be 'none', 'mean' or 'sum', not {reduction!r}")
    return _NAMES.index(reduction)


def legacy_get_string(size_average, reduce, emit_warning=True):
    """The word that two flags mean; None is True."""
    size_average, reduce = size_average is None or size_average, reduce is None or reduce
    word = "none" if not reduce else "mean" if size_average else "sum"
    if emit_warning:
        warnings.warn(f"size_average and reduce: use reduction={word!r}", stacklevel=2)
    return word


def legacy_get_enum(size_average, reduce, emit_warning=True):
    """The number of the word that two flags mean."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))

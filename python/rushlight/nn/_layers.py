"""Dropout, embeddings and normalisation."""

from .._C import _functions as _rows
from ._activations import _over


def dropout(input, p=0.5, training=True, inplace=False):
    """Zeros with probability ``p``, the rest scaled up, while training."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout: p must lie between 0 and 1, got {p}")
    if not training or p == 0:
        return input
    return _over(input, _rows["dropout"](input, p, training), inplace)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Rows of ``weight``, one for each index in ``input``."""
    if max_norm is not None or scale_grad_by_freq or sparse:
        raise NotImplementedError("embedding: max_norm, scale_grad_by_freq and sparse are not supported")
    if padding_idx is not None and not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise AssertionError(f"embedding: padding_idx {padding_idx} is no row of {weight.shape[0]}")
    if padding_idx is not None and padding_idx < 0:
        padding_idx += weight.shape[0]
    return _rows["embedding"](input, weight, padding_idx)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """Divided by the ``p``-norm along ``dim``, or by ``eps`` if that is smaller."""
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / length if out is None else _rows["div"](input, length, out=out)

"""Dropout, embeddings and normalisation."""

from .._C import _functions as _rows
from ._activations import _over


def _dropping(name, row, rank, training, doc):
    def drop(input, p=0.5, training=training, inplace=False):
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"{name}: p must lie between 0 and 1, got {p}")
        if rank and input.ndim not in (rank, rank + 1):
            import warnings

            warnings.warn(f"{name}: the input has {input.ndim} dimensions; {rank} or {rank + 1} are meant", stacklevel=2)
        # Without a batch the first dimension is that of channels.
        alone = rank > 1 and input.ndim == rank or name == "dropout1d" and input.ndim == 2
        x = input.unsqueeze(0) if alone and not inplace else input.unsqueeze_(0) if alone else input
        made = _rows[row + "_" if inplace else row](x, p, training)
        return (made.squeeze_(0) if inplace else made.squeeze(0)) if alone else made

    drop.__name__ = drop.__qualname__ = name
    drop.__doc__ = doc
    return drop


dropout = _dropping("dropout", "dropout", 0, True, "Zeros with probability ``p``, the rest scaled up, while training.")
alpha_dropout = _dropping("alpha_dropout", "alpha_dropout", 0, False, "``dropout`` that keeps mean 0 and variance 1 under ``selu``.")
dropout1d = _dropping("dropout1d", "feature_dropout", 2, True, "``dropout`` of whole channels of [N, C, L].")
dropout2d = _dropping("dropout2d", "feature_dropout", 0, True, "``dropout`` of whole channels of [N, C, H, W].")
dropout3d = _dropping("dropout3d", "feature_dropout", 4, True, "``dropout`` of whole channels of [N, C, D, H, W].")
feature_alpha_dropout = _dropping("feature_alpha_dropout", "feature_alpha_dropout", 0, False, "``alpha_dropout`` of whole channels.")


def _row_number(name, padding_idx, rows):
    """A row's number from the front; -1 for none."""
    if padding_idx is None:
        return -1
    if not -rows <= padding_idx < rows:
        raise AssertionError(f"{name}: padding_idx {padding_idx} is no row of {rows}")
    return padding_idx % rows if rows else -1


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Rows of ``weight``, one for each index in ``input``."""
    padding = _row_number("embedding", padding_idx, weight.shape[0])
    if max_norm is not None:
        _rows["embedding_renorm_"](weight, input, max_norm, norm_type)
    return _rows["embedding"](weight, input, padding, scale_grad_by_freq, sparse)


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):  # fmt: skip
    """Sums, means or maxima (``mode``) of bags of rows: the rows of a matrix of indices, or a vector from each offset on."""
    from .. import arange

    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"embedding_bag: mode must be 'sum', 'mean' or 'max', not {mode!r}")
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError("embedding_bag: a matrix of indices has its bags as rows and takes no offsets")
        offsets = arange(0, input.numel(), max(input.shape[1], 1)) if input.shape[1] else input.new_zeros(input.shape[0])
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    elif input.ndim != 1 or offsets is None or offsets.ndim != 1:
        raise ValueError("embedding_bag: a vector of indices needs a vector of offsets")
    elif include_last_offset:
        offsets = offsets[:-1]
    padding = _row_number("embedding_bag", padding_idx, weight.shape[0])
    if max_norm is not None:
        _rows["embedding_renorm_"](weight, input, max_norm, norm_type)
    kind = ("sum", "mean", "max").index(mode)
    return _embedding_bags(weight, input, offsets, scale_grad_by_freq, kind, per_sample_weights, padding)


_embedding_bags = _rows["_embedding_bags"]
bilinear, cosine_similarity, pairwise_distance, pdist = (_rows[_name] for _name in ("bilinear", "cosine_similarity", "pairwise_distance", "pdist"))


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5):
    """Normalises each channel of each element of the batch."""
    return _rows["instance_norm"](input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Divides by the mean square of the channels around each."""
    return _rows["local_response_norm"](input, size, alpha, beta, k)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """Divided by the ``p``-norm along ``dim``, or by ``eps`` if that is smaller."""
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / length if out is None else _rows["div"](input, length, out=out)

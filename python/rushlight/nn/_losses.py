"""Losses."""

from .._C import _functions as _rows


def _reduction(size_average, reduce, reduction):
    """The two flags that said it before `reduction` did."""
    if size_average is None and reduce is None:
        if reduction not in ("none", "mean", "sum"):
            raise ValueError(f"reduction must be 'none', 'mean' or 'sum', not {reduction!r}")
        return reduction
    import warnings

    warnings.warn("size_average and reduce: use reduction='none', 'mean' or 'sum'", stacklevel=3)
    if reduce is False:
        return "none"
    return "mean" if size_average in (None, True) else "sum"


def _check_shapes(name, input, target):
    if input.shape != target.shape:
        import warnings

        warnings.warn(f"{name}: shapes {list(target.shape)} and {list(input.shape)} are broadcast; is that meant?", stacklevel=3)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """``(input - target) ** 2``."""
    _check_shapes("mse_loss", input, target)
    reduction = _reduction(size_average, reduce, reduction)
    if weight is None:
        return _rows["mse_loss"](input, target, reduction=reduction)
    loss = _rows["mse_loss"](input, target, reduction="none") * weight
    if reduction == "none":
        return loss
    return loss.sum() if reduction == "sum" else loss.sum() / weight.sum()


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """``abs(input - target)``."""
    _check_shapes("l1_loss", input, target)
    return _rows["l1_loss"](input, target, reduction=_reduction(size_average, reduce, reduction))


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """Squared below ``beta``, straight beyond."""
    _check_shapes("smooth_l1_loss", input, target)
    reduction = _reduction(size_average, reduce, reduction)
    if beta == 0.0:
        return _rows["l1_loss"](input, target, reduction=reduction)
    return _rows["smooth_l1_loss"](input, target, reduction=reduction, beta=beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Squared below ``delta``, straight beyond."""
    _check_shapes("huber_loss", input, target)
    if weight is None:
        return _rows["huber_loss"](input, target, reduction=_reduction(None, None, reduction), delta=delta)
    loss = _rows["huber_loss"](input, target, reduction="none", delta=delta) * weight
    if reduction == "none":
        return loss
    return loss.sum() if reduction == "sum" else loss.sum() / weight.sum()


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    """How unlikely ``softmax(input)`` makes the target classes (or class probabilities)."""
    return _rows["cross_entropy"](
        input, target, weight=weight, ignore_index=ignore_index,
        reduction=_reduction(size_average, reduce, reduction), label_smoothing=label_smoothing,
    )  # fmt: skip


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """The negative of each row's element at its target class."""
    return _rows["nll_loss"](
        input, target, weight=weight, ignore_index=ignore_index, reduction=_reduction(size_average, reduce, reduction)
    )


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """How unlikely the probabilities ``input`` make the truth values ``target``."""
    if input.shape != target.shape:
        raise ValueError(f"binary_cross_entropy: input has shape {list(input.shape)}, target {list(target.shape)}")
    return _rows["binary_cross_entropy"](input, target, weight=weight, reduction=_reduction(size_average, reduce, reduction))


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    """As ``binary_cross_entropy`` of ``sigmoid(input)``, but exact for large inputs."""
    if input.shape != target.shape:
        raise ValueError(f"binary_cross_entropy_with_logits: input has shape {list(input.shape)}, target {list(target.shape)}")
    reduction = _reduction(size_average, reduce, reduction)
    return _rows["binary_cross_entropy_with_logits"](input, target, weight=weight, reduction=reduction, pos_weight=pos_weight)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """How far the distribution ``target`` is from the logarithms ``input``."""
    if reduction == "batchmean":
        return kl_div(input, target, reduction="sum", log_target=log_target) / input.shape[0]
    reduction = _reduction(size_average, reduce, reduction)
    if not log_target:
        return _rows["kl_div"](input, target, reduction=reduction)
    loss = target.exp() * (target - input)
    return loss if reduction == "none" else loss.sum() if reduction == "sum" else loss.mean()

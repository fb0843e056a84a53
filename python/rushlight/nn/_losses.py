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


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """``abs(input - target)``."""
    _check_shapes("l1_loss", input, target)
    reduction = _reduction(size_average, reduce, reduction)
    if weight is None:
        return _rows["l1_loss"](input, target, reduction=reduction)
    loss = _rows["l1_loss"](input, target, reduction="none") * weight
    if reduction == "none":
        return loss
    return loss.sum() if reduction == "sum" else loss.sum() / weight.sum()


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


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """``1 - cos`` of the inputs where the target is 1, ``max(0, cos - margin)`` where it is -1."""
    return _rows["cosine_embedding_loss"](input1, input2, target, margin=margin, reduction=_reduction(size_average, reduce, reduction))


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """``input`` where the target is 1, ``max(0, margin - input)`` where it is -1."""
    return _rows["hinge_embedding_loss"](input, target, margin=margin, reduction=_reduction(size_average, reduce, reduction))


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """``max(0, margin - target * (input1 - input2))``."""
    return _rows["margin_ranking_loss"](input1, input2, target, margin=margin, reduction=_reduction(size_average, reduce, reduction))


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """``log(1 + exp(-target * input))``."""
    return _rows["soft_margin_loss"](input, target, reduction=_reduction(size_average, reduce, reduction))


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """How far wrong classes come within ``margin`` of the right one."""
    if p not in (1, 2):
        raise ValueError(f"multi_margin_loss: p must be 1 or 2, not {p}")
    return _rows["multi_margin_loss"](input, target, p=p, margin=margin, weight=weight, reduction=_reduction(size_average, reduce, reduction))


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """How far other classes come within 1 of those in ``target``."""
    return _rows["multilabel_margin_loss"](input, target, reduction=_reduction(size_average, reduce, reduction))


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over classes of the cross entropy of ``sigmoid(input)``."""
    return _rows["multilabel_soft_margin_loss"](input, target, weight=weight, reduction=_reduction(size_average, reduce, reduction))


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"):
    """``max(0, |anchor - positive| - |anchor - negative| + margin)``."""
    reduction = _reduction(size_average, reduce, reduction)
    return _rows["triplet_margin_loss"](anchor, positive, negative, margin=margin, p=p, eps=eps, swap=swap, reduction=reduction)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    """``triplet_margin_loss`` with another distance."""
    if margin <= 0:
        raise ValueError(f"triplet_margin_with_distance_loss: margin must be positive, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError("triplet_margin_with_distance_loss: the three must have as many dimensions")
    distance = _rows["pairwise_distance"] if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _rows["minimum"](far, distance(positive, negative))
    loss = (near - far + margin).clamp_min(0)
    return loss if _reduction(None, None, reduction) == "none" else loss.mean() if reduction == "mean" else loss.sum()


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """Minus the log-likelihood of ``target`` under normal distributions of mean ``input`` and variance ``var``."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError(f"gaussian_nll_loss: a variance of {var} is negative")
        var = input.new_full(input.shape, var)
    return _rows["gaussian_nll_loss"](input, target, var, full=full, eps=eps, reduction=_reduction(None, None, reduction))


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    """Minus the log-likelihood of ``target`` under Poisson distributions of rate ``exp(input)``, or ``input``."""
    reduction = _reduction(size_average, reduce, reduction)
    return _rows["poisson_nll_loss"](input, target, log_input=log_input, full=full, eps=eps, reduction=reduction)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """Minus the log-probability of target sequences over all their alignments."""
    lengths = (list(x) if isinstance(x, tuple) else x for x in (input_lengths, target_lengths))
    return _rows["ctc_loss"](log_probs, targets, *lengths, blank, _reduction(None, None, reduction), zero_infinity)


def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean", ignore_index=None, label_smoothing=0.0, options=None):  # fmt: skip
    """``cross_entropy`` of ``linear(input, linear_weight, linear_bias)``: the weight is [C, in], or [C, d1, .., in]."""
    classes, *places, size = linear_weight.shape
    flat = linear_weight.reshape(-1, size)
    scores = _rows["linear"](input, flat, None if linear_bias is None else linear_bias.reshape(-1))
    return cross_entropy(
        scores.reshape(*input.shape[:-1], classes, *places), target, weight=weight, reduction=reduction,
        label_smoothing=label_smoothing, ignore_index=-100 if ignore_index is None else ignore_index,
    )  # fmt: skip

"""Functions of neural networks, with torch's names and arguments; the op table has what they compute.

Those of the table that take torch's arguments as they are stand in `_DIRECT`; the others say how.
"""

from .._C import _functions as _rows

#: Rows of the table as they are.
_DIRECT = """adaptive_avg_pool1d batch_norm conv1d conv2d conv_transpose1d
    conv_transpose2d group_norm layer_norm linear logsigmoid one_hot rms_norm softplus softsign tanhshrink""".split()
for _name in _DIRECT:
    if _name in _rows:
        globals()[_name] = _rows[_name]


def _over(input, result, inplace):
    """The result, written over the input if so wished."""
    return input.copy_(result) if inplace else result


# --- Activations ----------------------------------------------------------------------------------


def relu(input, inplace=False):
    """``max(input, 0)``."""
    return _rows["relu_"](input) if inplace else _rows["relu"](input)


def relu_(input):
    """As ``relu``, in place."""
    return _rows["relu_"](input)


def relu6(input, inplace=False):
    """``min(max(input, 0), 6)``."""
    return _over(input, _rows["relu6"](input), inplace)


def elu(input, alpha=1.0, inplace=False):
    """``input`` where positive, else ``alpha * (exp(input) - 1)``."""
    return (_rows["elu_"] if inplace else _rows["elu"])(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """``input`` where positive, else ``negative_slope * input``."""
    return (_rows["leaky_relu_"] if inplace else _rows["leaky_relu"])(input, negative_slope)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """``input`` held between ``min_val`` and ``max_val``."""
    return (_rows["hardtanh_"] if inplace else _rows["hardtanh"])(input, min_val, max_val)


elu_, leaky_relu_, hardtanh_ = _rows["elu_"], _rows["leaky_relu_"], _rows["hardtanh_"]


def hardsigmoid(input, inplace=False):
    """``relu6(input + 3) / 6``."""
    return _over(input, _rows["hardsigmoid"](input), inplace)


def silu(input, inplace=False):
    """``input * sigmoid(input)``."""
    return (_rows["silu_"] if inplace else _rows["silu"])(input)


def mish(input, inplace=False):
    """``input * tanh(softplus(input))``."""
    return _over(input, _rows["mish"](input), inplace)


def gelu(input, approximate="none"):
    """``input`` times the normal distribution function there; ``"tanh"`` takes the short formula for it."""
    if approximate == "none":
        return _rows["gelu"](input)
    if approximate != "tanh":
        raise RuntimeError(f"gelu: approximate must be 'none' or 'tanh', not {approximate!r}")
    return input * 0.5 * (1.0 + (0.7978845608028654 * (input + 0.044715 * input * input * input)).tanh())


def sigmoid(input):
    """``1 / (1 + exp(-input))``."""
    return _rows["sigmoid"](input)


def tanh(input):
    """The hyperbolic tangent."""
    return _rows["tanh"](input)


def _default_dim(name, ndim):
    import warnings

    warnings.warn(f"{name}: pass dim=; which one is meant without depends on the rank", stacklevel=3)
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """``exp(input)`` over its sum along ``dim``."""
    dim = _default_dim("softmax", input.ndim) if dim is None else dim
    return _rows["softmax"](input, dim, dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """The logarithm of ``softmax``, computed without forming it."""
    dim = _default_dim("log_softmax", input.ndim) if dim is None else dim
    return _rows["log_softmax"](input, dim, dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """``softmax`` of the negative."""
    return softmax(-input, dim, dtype=dtype)


def dropout(input, p=0.5, training=True, inplace=False):
    """Zeros with probability ``p``, the rest scaled up, while training."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout: p must lie between 0 and 1, got {p}")
    if not training or p == 0:
        return input
    return _over(input, _rows["dropout"](input, p, training), inplace)


# --- Pooling --------------------------------------------------------------------------------------


def _max_pool(rank):
    row, both, found = _rows[f"max_pool{rank}d"], _rows["_max_pool"], f"max_pool{rank}d_with_indices"

    def pool(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        stride = () if stride is None else stride
        if return_indices:
            return tuple(both(input, rank, kernel_size, stride, padding, dilation, ceil_mode))
        return row(input, kernel_size, stride, padding=padding, dilation=dilation, ceil_mode=ceil_mode)

    def pool_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=True):
        return pool(input, kernel_size, stride, padding, dilation, ceil_mode, True)

    for f, name in ((pool, f"max_pool{rank}d"), (pool_with_indices, found)):
        f.__name__ = f.__qualname__ = name
        f.__doc__ = f"The largest element under each place of the window, over the last {rank} dimension(s)."
        globals()[name] = f


def _each(value, rank):
    """One value for each of `rank` dimensions."""
    return (value,) * rank if isinstance(value, int) else tuple(value) * (rank if len(value) == 1 else 1)


def _window_sums(input, rank, size, stride, padding, out):
    """Sums of windows, as many along each of the last `rank` dimensions as `out` says."""
    edges = [n for p, k, s in zip(padding, size, stride) for n in (p, p + k + s)]
    # From the last dimension on.
    pairs = [edges[k : k + 2] for k in range(0, len(edges), 2)][::-1]
    x = _rows["constant_pad_nd"](input, [n for pair in pairs for n in pair])
    for d in range(rank):
        x = x.unfold(input.ndim - rank + d, size[d], stride[d]).narrow(input.ndim - rank + d, 0, out[d])
    return x.sum(tuple(range(-rank, 0)))


def _avg_pool(rank):
    row = _rows[f"avg_pool{rank}d"]

    def pool(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        stride = () if stride is None else stride
        mean = row(input, kernel_size, stride, padding=padding, ceil_mode=ceil_mode, count_include_pad=count_include_pad)
        if divisor_override is None:
            return mean
        if divisor_override == 0:
            raise RuntimeError(f"avg_pool{rank}d: divisor_override must not be 0")
        size = _each(kernel_size, rank)
        steps = _each(stride, rank) if stride != () else size
        return _window_sums(input, rank, size, steps, _each(padding, rank), mean.shape[-rank:]) / divisor_override

    pool.__name__ = pool.__qualname__ = f"avg_pool{rank}d"
    pool.__doc__ = f"The mean under each place of the window, over the last {rank} dimension(s)."
    globals()[pool.__name__] = pool


for _rank in (1, 2):
    _max_pool(_rank)
    _avg_pool(_rank)


def adaptive_avg_pool2d(input, output_size):
    """The mean of each of ``output_size`` parts; None keeps a dimension's size."""
    if isinstance(output_size, tuple | list):
        kept = input.shape[-len(output_size) :]
        output_size = [kept[k] if n is None else n for k, n in enumerate(output_size)]
    made = _rows["adaptive_avg_pool2d"](input, output_size)
    return made.clone() if made is input else made


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """The largest element of each of ``output_size`` parts."""
    if return_indices:
        raise NotImplementedError("adaptive_max_pool2d: return_indices is not supported yet")
    return _rows["adaptive_max_pool2d"](input, output_size)


# --- Tables and padding ---------------------------------------------------------------------------


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Rows of ``weight``, one for each index in ``input``."""
    if max_norm is not None or scale_grad_by_freq or sparse:
        raise NotImplementedError("embedding: max_norm, scale_grad_by_freq and sparse are not supported")
    if padding_idx is not None and not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise AssertionError(f"embedding: padding_idx {padding_idx} is no row of {weight.shape[0]}")
    if padding_idx is not None and padding_idx < 0:
        padding_idx += weight.shape[0]
    return _rows["embedding"](input, weight, padding_idx)


def pad(input, pad, mode="constant", value=None):
    """More elements at the edges: ``pad`` counts them from the last dimension on, before and after."""
    if mode == "circular" and any(n < 0 for n in pad):
        # What is cut off goes first; what is left runs in circles.
        input = _rows["constant_pad_nd"](input, [min(n, 0) for n in pad])
        pad = [max(n, 0) for n in pad]
    return _rows["pad"](input, pad, mode, 0 if value is None else value)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """Divided by the ``p``-norm along ``dim``, or by ``eps`` if that is smaller."""
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / length if out is None else _rows["div"](input, length, out=out)


# --- Losses ---------------------------------------------------------------------------------------


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

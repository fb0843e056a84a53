"""Convolutions, pools and padding: what walks over space."""

from .._C import _functions as _rows


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


def pad(input, pad, mode="constant", value=None):
    """More elements at the edges: ``pad`` counts them from the last dimension on, before and after."""
    if mode == "circular" and any(n < 0 for n in pad):
        # What is cut off goes first; what is left runs in circles.
        input = _rows["constant_pad_nd"](input, [min(n, 0) for n in pad])
        pad = [max(n, 0) for n in pad]
    return _rows["pad"](input, pad, mode, 0 if value is None else value)

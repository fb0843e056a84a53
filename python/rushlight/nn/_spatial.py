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


def _avg_pool(rank):
    row = _rows[f"avg_pool{rank}d"]

    def pool(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        stride = () if stride is None else stride
        return row(input, kernel_size, stride, padding=padding, ceil_mode=ceil_mode, count_include_pad=count_include_pad,
                   divisor_override=divisor_override)

    pool.__name__ = pool.__qualname__ = f"avg_pool{rank}d"
    pool.__doc__ = f"The mean under each place of the window, over the last {rank} dimension(s)."
    globals()[pool.__name__] = pool


def _sizes_of(input, output_size):
    """The sizes of an adaptive pool's result; None keeps a dimension's."""
    if not isinstance(output_size, tuple | list):
        return output_size
    kept = input.shape[-len(output_size) :]
    return [kept[k] if n is None else n for k, n in enumerate(output_size)]


def _adaptive(rank):
    mean, both = _rows[f"adaptive_avg_pool{rank}d"], _rows["_adaptive_max_pool"]

    def avg(input, output_size):
        return mean(input, _sizes_of(input, output_size))

    def largest(input, output_size, return_indices=False):
        found = both(input, rank, _sizes_of(input, output_size))
        return tuple(found) if return_indices else found[0]

    def with_indices(input, output_size, return_indices=False):
        return largest(input, output_size, True)

    with_indices.__name__ = with_indices.__qualname__ = f"adaptive_max_pool{rank}d_with_indices"
    with_indices.__doc__ = f"As ``adaptive_max_pool{rank}d``, with the places of the elements."
    globals()[with_indices.__name__] = with_indices
    for f, kind, what in ((avg, "avg", "mean"), (largest, "max", "largest element")):
        f.__name__ = f.__qualname__ = f"adaptive_{kind}_pool{rank}d"
        f.__doc__ = f"The {what} of each of ``output_size`` parts of the last {rank} dimension(s); None keeps a size."
        globals()[f.__name__] = f


def _lp_pool(rank):
    row = _rows["_lp_pool"]

    def pool(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        return row(input, rank, norm_type, kernel_size, () if stride is None else stride, ceil_mode)

    pool.__name__ = pool.__qualname__ = f"lp_pool{rank}d"
    pool.__doc__ = f"The ``norm_type``-norm of each window over the last {rank} dimension(s)."
    globals()[pool.__name__] = pool


def _max_unpool(rank):
    row = _rows["_max_unpool"]

    def unpool(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        kernel = _each(kernel_size, rank)
        step = kernel if stride is None or stride == () else _each(stride, rank)
        edge = _each(padding, rank)
        sizes = [(n - 1) * s + k - 2 * p for n, k, s, p in zip(input.shape[-rank:], kernel, step, edge)]
        if output_size is not None:
            wanted = list(output_size)[-rank:] if len(output_size) >= rank else list(output_size)
            if len(output_size) not in (rank, rank + 2):
                raise ValueError(f"max_unpool{rank}d: output_size {output_size} needs {rank} or {rank + 2} numbers")
            for n, m, s in zip(sizes, wanted, step):
                if not n - s < m < n + s:
                    raise ValueError(f"max_unpool{rank}d: output_size {wanted} is further than a stride from {sizes}")
            sizes = wanted
        return row(input, indices, rank, sizes)

    unpool.__name__ = unpool.__qualname__ = f"max_unpool{rank}d"
    unpool.__doc__ = "Zeros with the elements of a max pool's result back at its indices."
    globals()[unpool.__name__] = unpool


def _fractional(rank):
    row = _rows["_fractional_max_pool"]
    name = f"fractional_max_pool{rank}d"

    def pool(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name}: give output_size or output_ratio")
        if output_size is None:
            ratio = (output_ratio,) * rank if isinstance(output_ratio, int | float) else output_ratio
            output_size = [int(n * r) for n, r in zip(input.shape[-rank:], ratio)]
        if _random_samples is None:
            batch = 1 if input.ndim == rank + 1 else input.shape[0]
            size = (batch, input.shape[-rank - 1], rank)
            _random_samples = _rows["rand"](size, dtype=input.dtype, device=input.device)
        found = row(input, _random_samples, rank, kernel_size, output_size)
        return tuple(found) if return_indices else found[0]

    def pool_with_indices(
        input, kernel_size, output_size=None, output_ratio=None, return_indices=True, _random_samples=None
    ):
        return pool(input, kernel_size, output_size, output_ratio, True, _random_samples)

    for f, shown in ((pool, name), (pool_with_indices, f"{name}_with_indices")):
        f.__name__ = f.__qualname__ = shown
        f.__doc__ = f"The largest element of each of randomly placed windows over the last {rank} dimensions."
        globals()[shown] = f


for _rank in (1, 2, 3):
    _max_pool(_rank)
    _avg_pool(_rank)
    _adaptive(_rank)
    _lp_pool(_rank)
    _max_unpool(_rank)
for _rank in (2, 3):
    _fractional(_rank)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Every window of ``input`` [N, C, H, W] as a column: [N, C * kH * kW, windows]."""
    return _rows["im2col"](input, kernel_size, dilation, padding, stride)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Columns [N, C * kH * kW, windows] added into images of ``output_size``."""
    return _rows["col2im"](input, output_size, kernel_size, dilation, padding, stride)


def interpolate(
    input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False
):
    """``input`` [N, C, *spatial] at other sizes, given as they are or by the factors they grow by."""
    linear = mode in ("linear", "bilinear", "bicubic", "trilinear")
    if align_corners is not None and not linear:
        raise ValueError(f"interpolate: align_corners has no meaning for mode {mode!r}")
    rank = input.ndim - 2
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: give either size or scale_factor")
    if size is not None:
        if recompute_scale_factor:
            raise ValueError("interpolate: recompute_scale_factor has no meaning for a size")
        size = list(size) if isinstance(size, tuple | list) else [size] * rank
        if len(size) != rank:
            raise ValueError(f"interpolate: size {size} does not fit {rank} spatial dimensions")
        return _rows["_interpolate"](input, size, mode, bool(align_corners), antialias)
    factors = list(scale_factor) if isinstance(scale_factor, tuple | list) else [scale_factor] * rank
    if len(factors) != rank:
        raise ValueError(f"interpolate: scale_factor {factors} does not fit {rank} spatial dimensions")
    factors = [float(f) for f in factors]
    size = [int(n * f) for n, f in zip(input.shape[2:], factors)]
    scales = [None] * 3 if recompute_scale_factor else (factors + [None] * 3)[:3]
    return _rows["_interpolate"](input, size, mode, bool(align_corners), antialias, *scales)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """``interpolate`` under its former name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """``interpolate`` to the nearest place."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """``interpolate`` with corners upon each other."""
    return interpolate(input, size, scale_factor, "bilinear", True)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """``input`` [N, C, *spatial] at the points of ``grid`` [N, *out, spatial], which go from -1 to 1."""
    return _rows["_grid_sample"](input, grid, mode, padding_mode, bool(align_corners))


def affine_grid(theta, size, align_corners=None):
    """The grid of the affine maps ``theta`` [N, n, n + 1], for a result of ``size`` [N, C, *out]."""
    return _rows["_affine_grid"](theta, list(size), bool(align_corners))


def pad(input, pad, mode="constant", value=None):
    """More elements at the edges: ``pad`` counts them from the last dimension on, before and after."""
    if mode == "circular" and any(n < 0 for n in pad):
        # What is cut off goes first; what is left runs in circles.
        input = _rows["constant_pad_nd"](input, [min(n, 0) for n in pad])
        pad = [max(n, 0) for n in pad]
    return _rows["pad"](input, pad, mode, 0 if value is None else value)

"""Pools: one number for each place of a window. ``stride`` is ``kernel_size`` unless given."""

from .. import functional as F
from .module import Module
from .utils import _pair, _single, _triple

__all__ = """MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d AvgPool1d AvgPool2d AvgPool3d
    FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d LPPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d
    AdaptiveMaxPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d""".split()


class _MaxPoolNd(Module):
    """What max pools have in common."""

    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def _arguments(self):
        return self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices

    def extra_repr(self):
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest element under each place of the window, over [N, C, L]; ``return_indices``: and where it was."""

    def forward(self, input):
        return F.max_pool1d(input, *self._arguments())


class MaxPool2d(_MaxPoolNd):
    """The largest element under each place of the window, over [N, C, H, W]; ``return_indices``: and where it was."""

    def forward(self, input):
        return F.max_pool2d(input, *self._arguments())


class MaxPool3d(_MaxPoolNd):
    """The largest element under each place of the window, over [N, C, D, H, W]; ``return_indices``: and where it was."""

    def forward(self, input):
        return F.max_pool3d(input, *self._arguments())


class _MaxUnpoolNd(Module):
    """What the ways back from max pools have in common."""

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Zeros with the elements of a ``MaxPool1d``'s result back at its indices."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride, self.padding = _single(kernel_size if stride is None else stride), _single(padding)

    def forward(self, input, indices, output_size=None):
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    """Zeros with the elements of a ``MaxPool2d``'s result back at its indices."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = _pair(kernel_size)
        self.stride, self.padding = _pair(kernel_size if stride is None else stride), _pair(padding)

    def forward(self, input, indices, output_size=None):
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpoolNd):
    """Zeros with the elements of a ``MaxPool3d``'s result back at its indices."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = _triple(kernel_size)
        self.stride, self.padding = _triple(kernel_size if stride is None else stride), _triple(padding)

    def forward(self, input, indices, output_size=None):
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class _AvgPoolNd(Module):
    """What means of windows have in common."""

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean under each place of the window, over [N, C, L]."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride, self.padding = _single(kernel_size if stride is None else stride), _single(padding)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input):
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPoolSpace(_AvgPoolNd):
    """The arguments of two and three dimensions."""

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"]

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        super().__init__()
        # torch's pool takes 0 for a stride that was not given.
        self.kernel_size, self.stride, self.padding = kernel_size, stride or kernel_size, padding
        self.ceil_mode, self.count_include_pad, self.divisor_override = ceil_mode, count_include_pad, divisor_override

    def _arguments(self):
        return self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override


class AvgPool2d(_AvgPoolSpace):
    """The mean under each place of the window, over [N, C, H, W]; ``divisor_override``: the sum over this number."""

    def forward(self, input):
        return F.avg_pool2d(input, *self._arguments())


class AvgPool3d(_AvgPoolSpace):
    """The mean under each place of the window, over [N, C, D, H, W]; ``divisor_override``: the sum over this number."""

    def forward(self, input):
        return F.avg_pool3d(input, *self._arguments())


class _FractionalMaxPool(Module):
    """Maxima of windows that are placed at random, for results of any size (Graham 2014)."""

    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]

    def _take(self, each, kernel_size, output_size, output_ratio, return_indices, _random_samples):
        name = type(self).__name__
        self.kernel_size, self.return_indices = each(kernel_size), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else each(output_size)
        self.output_ratio = None if output_ratio is None else each(output_ratio)
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"{name}: give either output_size or output_ratio")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"{name}: output_ratio must lie between 0 and 1, got {output_ratio}")

    def _pooled(self, function, input):
        return function(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
            _random_samples=self._random_samples,
        )  # fmt: skip


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest element of each of randomly placed windows, over [N, C, H, W]."""

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        self._take(_pair, kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def forward(self, input):
        return self._pooled(F.fractional_max_pool2d, input)


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest element of each of randomly placed windows, over [N, C, D, H, W]."""

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        self._take(_triple, kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def forward(self, input):
        return self._pooled(F.fractional_max_pool3d, input)


class _LPPoolNd(Module):
    """What norms of windows have in common."""

    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def _arguments(self):
        return float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode

    def extra_repr(self):
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, ceil_mode={self.ceil_mode}"


class LPPool1d(_LPPoolNd):
    """The ``norm_type``-norm of each window, over [N, C, L]."""

    def forward(self, input):
        return F.lp_pool1d(input, *self._arguments())


class LPPool2d(_LPPoolNd):
    """The ``norm_type``-norm of each window, over [N, C, H, W]."""

    def forward(self, input):
        return F.lp_pool2d(input, *self._arguments())


class LPPool3d(_LPPoolNd):
    """The ``norm_type``-norm of each window, over [N, C, D, H, W]."""

    def forward(self, input):
        return F.lp_pool3d(input, *self._arguments())


class _AdaptiveMaxPoolNd(Module):
    """What max pools with results of a given size have in common."""

    __constants__ = ["output_size", "return_indices"]

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def extra_repr(self):
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest element of each of ``output_size`` parts of [N, C, L]."""

    def forward(self, input):
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest element of each of ``output_size`` parts of [N, C, H, W]; None keeps a size."""

    def forward(self, input):
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest element of each of ``output_size`` parts of [N, C, D, H, W]; None keeps a size."""

    def forward(self, input):
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _AdaptiveAvgPoolNd(Module):
    """What means with results of a given size have in common."""

    __constants__ = ["output_size"]

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def extra_repr(self):
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The mean of each of ``output_size`` parts of [N, C, L]."""

    def forward(self, input):
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The mean of each of ``output_size`` parts of [N, C, H, W]; None keeps a size."""

    def forward(self, input):
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The mean of each of ``output_size`` parts of [N, C, D, H, W]; None keeps a size."""

    def forward(self, input):
        return F.adaptive_avg_pool3d(input, self.output_size)

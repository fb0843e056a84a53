"""Convolutions. Those that are transposed are in ``_conv_transposed``."""

import math

from ... import _C
from ...autograd import no_grad
from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module
from .utils import _pair, _reverse_repeat_tuple, _single, _triple

__all__ = """Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d LazyConv2d LazyConv3d
    LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d""".split()

_empty = _C._functions["empty"]


class _ConvNd(Module):
    """What convolutions have in common. Weights and biases start uniform within 1 / sqrt(in / groups * kernel)."""

    __constants__ = """stride padding dilation groups padding_mode output_padding in_channels out_channels
        kernel_size""".split()

    def __init__(
        self, in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding, groups,
        bias, padding_mode, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        name = type(self).__name__
        if groups <= 0:
            raise ValueError(f"{name}: groups must be positive, got {groups}")
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"{name}: {groups} groups do not divide {in_channels} input and {out_channels} output channels")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"{name}: padding must be numbers, 'same' or 'valid', not {padding!r}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError(f"{name}: padding='same' needs a stride of 1, got {tuple(stride)}")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(f"{name}: padding_mode must be 'zeros', 'reflect', 'replicate' or 'circular', not {padding_mode!r}")
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, kernel_size
        self.stride, self.padding, self.dilation = stride, padding, dilation
        self.transposed, self.output_padding, self.groups, self.padding_mode = transposed, output_padding, groups, padding_mode
        self._reversed_padding_repeated_twice = self._edges()
        channels = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(_empty((*channels, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _edges(self):
        """The padding as `pad` takes it: of the last dimension first, before and after."""
        if not isinstance(self.padding, str):
            return _reverse_repeat_tuple(self.padding, 2)
        edges = [0, 0] * len(self.kernel_size)
        if self.padding == "same":
            for k, (d, size) in enumerate(zip(self.dilation, self.kernel_size)):
                total = d * (size - 1)
                at = 2 * (len(self.kernel_size) - 1 - k)
                edges[at], edges[at + 1] = total // 2, total - total // 2
        return edges

    def reset_parameters(self):
        """Random values again."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = init._calculate_fan_in_and_fan_out(self.weight)[0]
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def _convolved(self, function, input, weight, bias):
        if self.padding_mode == "zeros":
            return function(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return function(padded, weight, bias, self.stride, (0,) * len(self.kernel_size), self.dilation, self.groups)

    def extra_repr(self):
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * len(self.kernel_size):
            text += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.kernel_size):
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * len(self.kernel_size):
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        return text + (f", padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else "")

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


class Conv1d(_ConvNd):
    """The cross-correlation of [N, in, L] with a kernel [out, in / groups, k]."""

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
        padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, _single(kernel_size), _single(stride),
            padding if isinstance(padding, str) else _single(padding), _single(dilation), False, _single(0), groups,
            bias, padding_mode, device=device, dtype=dtype,
        )  # fmt: skip

    def _conv_forward(self, input, weight, bias):
        return self._convolved(F.conv1d, input, weight, bias)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv2d(_ConvNd):
    """The cross-correlation of [N, in, H, W] with a kernel [out, in / groups, kH, kW]."""

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
        padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, _pair(kernel_size), _pair(stride),
            padding if isinstance(padding, str) else _pair(padding), _pair(dilation), False, _pair(0), groups, bias,
            padding_mode, device=device, dtype=dtype,
        )  # fmt: skip

    def _conv_forward(self, input, weight, bias):
        return self._convolved(F.conv2d, input, weight, bias)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv3d(_ConvNd):
    """The cross-correlation of [N, in, D, H, W] with a kernel [out, in / groups, kD, kH, kW]."""

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
        padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, _triple(kernel_size), _triple(stride),
            padding if isinstance(padding, str) else _triple(padding), _triple(dilation), False, _triple(0), groups,
            bias, padding_mode, device=device, dtype=dtype,
        )  # fmt: skip

    def _conv_forward(self, input, weight, bias):
        return self._convolved(F.conv3d, input, weight, bias)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class _LazyConvXdMixin(LazyModuleMixin):
    """What lazy convolutions have in common."""

    def _wait(self, out_channels, bias, device, dtype):
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self):
        """Random values again, once there is a shape."""
        if self.in_channels != 0 and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs):
        """Takes the shape from the first input."""
        if not self.has_uninitialized_params():
            if self.in_channels == 0:
                # The weight was loaded, and has a shape already.
                self.in_channels = self.weight.shape[0] if self.transposed else self.weight.shape[1] * self.groups
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups:
            raise ValueError(f"{type(self).__name__}: {self.groups} groups do not divide {self.in_channels} input channels")
        pair = (self.in_channels, self.out_channels // self.groups)
        if not self.transposed:
            pair = (self.out_channels, self.in_channels // self.groups)
        with no_grad():
            self.weight.materialize((*pair, *self.kernel_size))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()

    def _get_in_channels(self, input):
        rank = self._get_num_spatial_dims()
        if input.ndim not in (rank + 1, rank + 2):
            raise RuntimeError(f"{type(self).__name__}: takes {rank + 1} or {rank + 2} dimensions, not {input.ndim}")
        return input.shape[-rank - 1]

    def _get_num_spatial_dims(self):
        raise NotImplementedError(f"{type(self).__name__}: has no number of spatial dimensions")


class _LazyConv(_LazyConvXdMixin):
    """The arguments of lazy convolutions."""

    def __init__(
        self, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros",
        device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
        self._wait(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """``Conv1d`` whose ``in_channels`` the first input decides."""

    cls_to_become = Conv1d

    def _get_num_spatial_dims(self):
        return 1


class LazyConv2d(_LazyConv, Conv2d):
    """``Conv2d`` whose ``in_channels`` the first input decides."""

    cls_to_become = Conv2d

    def _get_num_spatial_dims(self):
        return 2


class LazyConv3d(_LazyConv, Conv3d):
    """``Conv3d`` whose ``in_channels`` the first input decides."""

    cls_to_become = Conv3d

    def _get_num_spatial_dims(self):
        return 3


from ._conv_transposed import (  # noqa: E402
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    LazyConvTranspose1d,
    LazyConvTranspose2d,
    LazyConvTranspose3d,
    _ConvTransposeNd,
)

for _class in (
    ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d,
    _ConvTransposeNd,
):  # fmt: skip
    _class.__module__ = __name__

"""Transposed convolutions: the gradients of convolutions, as layers."""

from .. import functional as F
from .conv import _ConvNd, _LazyConvXdMixin
from .utils import _pair, _single, _triple


class _ConvTransposeNd(_ConvNd):
    """What transposed convolutions have in common."""

    def __init__(
        self, in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding, groups,
        bias, padding_mode, device=None, dtype=None,
    ):  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f"{type(self).__name__}: padding_mode must be 'zeros', not {padding_mode!r}")
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding, groups, bias,
            padding_mode, device=device, dtype=dtype,
        )  # fmt: skip

    def _output_padding(self, input, output_size, stride, padding, kernel_size, num_spatial_dims, dilation=None):
        """What to add at the far edge for a result of ``output_size``; a stride allows that many sizes."""
        if output_size is None:
            return list(_single(self.output_padding))
        wanted = list(output_size)
        if len(wanted) == input.ndim:
            wanted = wanted[-num_spatial_dims:]
        if len(wanted) != num_spatial_dims:
            raise ValueError(
                f"{type(self).__name__}: output_size {list(output_size)} needs {num_spatial_dims} or {input.ndim} numbers"
            )
        extra = []
        for k, want in enumerate(wanted):
            reach = (1 if dilation is None else dilation[k]) * (kernel_size[k] - 1) + 1
            least = (input.shape[k - num_spatial_dims] - 1) * stride[k] - 2 * padding[k] + reach
            if not least <= want < least + stride[k]:
                raise ValueError(
                    f"{type(self).__name__}: output_size {wanted} is not possible for an input of {list(input.shape)}; "
                    f"dimension {k} can be {least} to {least + stride[k] - 1}"
                )
            extra.append(want - least)
        return extra

    def _run(self, function, rank, input, output_size):
        extra = self._output_padding(input, output_size, self.stride, self.padding, self.kernel_size, rank, self.dilation)
        return function(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)


class ConvTranspose1d(_ConvTransposeNd):
    """A transposed convolution of [N, in, L] with a kernel [in, out / groups, k]."""

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
        dilation=1, padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, _single(kernel_size), _single(stride), _single(padding), _single(dilation), True,
            _single(output_padding), groups, bias, padding_mode, device=device, dtype=dtype,
        )  # fmt: skip

    def forward(self, input, output_size=None):
        return self._run(F.conv_transpose1d, 1, input, output_size)


class ConvTranspose2d(_ConvTransposeNd):
    """A transposed convolution of [N, in, H, W] with a kernel [in, out / groups, kH, kW]."""

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
        dilation=1, padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, _pair(kernel_size), _pair(stride), _pair(padding), _pair(dilation), True,
            _pair(output_padding), groups, bias, padding_mode, device=device, dtype=dtype,
        )  # fmt: skip

    def forward(self, input, output_size=None):
        return self._run(F.conv_transpose2d, 2, input, output_size)


class ConvTranspose3d(_ConvTransposeNd):
    """A transposed convolution of [N, in, D, H, W] with a kernel [in, out / groups, kD, kH, kW]."""

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
        dilation=1, padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, _triple(kernel_size), _triple(stride), _triple(padding), _triple(dilation), True,
            _triple(output_padding), groups, bias, padding_mode, device=device, dtype=dtype,
        )  # fmt: skip

    def forward(self, input, output_size=None):
        return self._run(F.conv_transpose3d, 3, input, output_size)


class _LazyTransposed(_LazyConvXdMixin):
    """The arguments of lazy transposed convolutions."""

    def __init__(
        self, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1,
        padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode, device, dtype)
        self._wait(out_channels, bias, device, dtype)


class LazyConvTranspose1d(_LazyTransposed, ConvTranspose1d):
    """``ConvTranspose1d`` whose ``in_channels`` the first input decides."""

    cls_to_become = ConvTranspose1d

    def _get_num_spatial_dims(self):
        return 1


class LazyConvTranspose2d(_LazyTransposed, ConvTranspose2d):
    """``ConvTranspose2d`` whose ``in_channels`` the first input decides."""

    cls_to_become = ConvTranspose2d

    def _get_num_spatial_dims(self):
        return 2


class LazyConvTranspose3d(_LazyTransposed, ConvTranspose3d):
    """``ConvTranspose3d`` whose ``in_channels`` the first input decides."""

    cls_to_become = ConvTranspose3d

    def _get_num_spatial_dims(self):
        return 3

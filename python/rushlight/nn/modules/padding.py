"""More elements at the edges: ``padding`` counts them from the last dimension on, before and after; one number for all."""

from .. import functional as F
from .batchnorm import _ranks
from .module import Module
from .utils import _ntuple, _pair, _quadruple

__all__ = """CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d
    ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d
    ZeroPad3d""".split()

_six = _ntuple(6)


class _PadNd(Module):
    """What layers that pad have in common."""

    __constants__ = ["padding"]
    #: How many numbers a padding has, and what fills the edges.
    _each, _mode = _pair, "constant"

    def __init__(self, padding):
        super().__init__()
        self.padding = type(self)._each(padding)

    def forward(self, input):
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self):
        return f"{self.padding}"


class _CircularPadNd(_PadNd):
    """The other end again."""

    _mode, _ranks = "circular", ()

    def forward(self, input):
        self._check_input_dim(input)
        return super().forward(input)

    def _check_input_dim(self, input):
        _ranks(self, input, *self._ranks)


class CircularPad1d(_CircularPadNd):
    """The other end again, of [N, C, L] or [C, L]."""

    _each, _ranks = _pair, (2, 3)

    def __init__(self, padding):
        super().__init__(padding)


class CircularPad2d(_CircularPadNd):
    """The other end again, of [N, C, H, W] or [C, H, W]."""

    _each, _ranks = _quadruple, (3, 4)


class CircularPad3d(_CircularPadNd):
    """The other end again, of [N, C, D, H, W] or [C, D, H, W]."""

    _each, _ranks = _six, (4, 5)


class _ConstantPadNd(_PadNd):
    """One value everywhere."""

    __constants__ = ["padding", "value"]

    def __init__(self, value):
        Module.__init__(self)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """One value at the edges of the last dimension."""

    def __init__(self, padding, value):
        super().__init__(value)
        self.padding = _pair(padding)


class ConstantPad2d(_ConstantPadNd):
    """One value at the edges of the last two dimensions."""

    def __init__(self, padding, value):
        super().__init__(value)
        self.padding = _quadruple(padding)


class ConstantPad3d(_ConstantPadNd):
    """One value at the edges of the last three dimensions."""

    def __init__(self, padding, value):
        super().__init__(value)
        self.padding = _six(padding)


class _ReflectionPadNd(_PadNd):
    """The elements before the edge in reverse, without the one at the edge."""

    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """A mirror at the edges of [N, C, L] or [C, L]."""

    _each = _pair


class ReflectionPad2d(_ReflectionPadNd):
    """A mirror at the edges of [N, C, H, W] or [C, H, W]."""

    _each = _quadruple


class ReflectionPad3d(_ReflectionPadNd):
    """A mirror at the edges of [N, C, D, H, W] or [C, D, H, W]."""

    _each = _six


class _ReplicationPadNd(_PadNd):
    """The element at the edge again and again."""

    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """The outermost elements of [N, C, L] or [C, L] again."""

    _each = _pair


class ReplicationPad2d(_ReplicationPadNd):
    """The outermost elements of [N, C, H, W] or [C, H, W] again."""

    _each = _quadruple


class ReplicationPad3d(_ReplicationPadNd):
    """The outermost elements of [N, C, D, H, W] or [C, D, H, W] again."""

    _each = _six


class ZeroPad1d(ConstantPad1d):
    """Zeros at the edges of the last dimension."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Zeros at the edges of the last two dimensions."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Zeros at the edges of the last three dimensions."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"

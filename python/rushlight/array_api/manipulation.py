"""Manipulation functions: other shapes and orders of the same elements. Views where strides allow."""

import operator

from .. import _C, _functions
from .._C import Tensor
from .._C import _functions as rows
from .._size import Size
from ._arrays import array, axes_of, promoted, shape_of


def broadcast_arrays(*arrays):
    """The arrays as views of the shape that all broadcast to."""
    if not arrays:
        return ()
    return tuple(rows["broadcast_tensors"]([array("broadcast_arrays", x) for x in arrays]))


def broadcast_shapes(*shapes):
    """The shape that arrays of these shapes broadcast to; ``ValueError`` where they do not."""
    try:
        return tuple(_functions.broadcast_shapes(*shapes)) if shapes else ()
    except RuntimeError as e:
        raise ValueError(str(e)) from None


def broadcast_to(x, /, shape):
    """A view of ``shape``, in which stretched elements share memory."""
    return rows["broadcast_to"](array("broadcast_to", x), Size(shape_of("broadcast_to", shape)))


def concat(arrays, /, *, axis=0):
    """The arrays one after the other along ``axis``; flattened before with ``axis=None``."""
    arrays = promoted(*(array("concat", x) for x in arrays))
    if axis is None:
        return rows["cat"]([x.reshape(-1) for x in arrays], 0)
    return rows["cat"](list(arrays), axis)


def expand_dims(x, /, axis):
    """A new axis of size 1 at each position of the result that ``axis`` names."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    places = axes_of("expand_dims", axes, array("expand_dims", x).ndim + len(axes))
    if len(set(places)) < len(places):
        raise ValueError(f"expand_dims: the axes {axes} name one position twice")
    for place in sorted(places):
        x = x.unsqueeze(place)
    return x


def flip(x, /, *, axis=None):
    """Elements in reverse along ``axis``: all axes, one, or those of a tuple."""
    if axis is None:
        axis = tuple(range(array("flip", x).ndim))
    return rows["flip"](x, axes_of("flip", axis, x.ndim))


def moveaxis(x, source, destination, /):
    """Axes at other positions; the rest keep their order."""
    return rows["movedim"](array("moveaxis", x), source, destination)


def permute_dims(x, /, axes):
    """The axes in the order of ``axes``."""
    return rows["permute"](array("permute_dims", x), tuple(axes))


def repeat(x, repeats, /, *, axis=None):
    """Each element (each slice along ``axis``) so many times: a number, or an array with one for each."""
    if isinstance(repeats, Tensor):
        repeats = repeats.to(_C.int64)
        if repeats.numel() == 1:
            repeats = operator.index(repeats.reshape(()))
    if axis is None:
        return rows["repeat_interleave"](array("repeat", x).reshape(-1), repeats, 0)
    return rows["repeat_interleave"](x, repeats, axis)


def reshape(x, /, shape, *, copy=None):
    """The elements in order in another shape; a view where strides allow, which ``copy=False`` insists on."""
    shape = Size(shape_of("reshape", shape))
    if copy:
        return array("reshape", x).clone().reshape(shape)
    if copy is None:
        return array("reshape", x).reshape(shape)
    try:
        return x.view(shape)
    except RuntimeError as e:
        raise ValueError(f"reshape: needs a copy, which copy=False excludes ({e})") from None


def roll(x, /, shift, *, axis=None):
    """Elements moved on by ``shift`` along ``axis``, the last ones to the front; flattened for it without an axis."""
    if axis is None:
        return rows["roll"](array("roll", x), shift)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    shifts = (shift,) * len(axes) if isinstance(shift, int) else tuple(shift)
    return rows["roll"](array("roll", x), shifts, axes)


def squeeze(x, /, axis):
    """Without the named axes, which must be of size 1."""
    axes = axes_of("squeeze", axis, array("squeeze", x).ndim)
    for a in axes:
        if x.shape[a] != 1:
            raise ValueError(f"squeeze: axis {a} is of size {x.shape[a]}, not 1")
    return x.squeeze(axes)


def stack(arrays, /, *, axis=0):
    """Arrays of one shape side by side along a new axis."""
    return rows["stack"](list(promoted(*(array("stack", x) for x in arrays))), axis)


def tile(x, repetitions, /):
    """Copies of ``x`` side by side, so many along each of the last axes."""
    return rows["tile"](array("tile", x), tuple(repetitions))


def unstack(x, /, *, axis=0):
    """The slices along ``axis``, as views."""
    return tuple(array("unstack", x).unbind(axis))

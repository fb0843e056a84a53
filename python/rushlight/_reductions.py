"""Functions around rows that reduce, sort and count: torch's ways to call them."""

from . import return_types
from ._C import Tensor, _functions, float64, tensor
from ._functions import _corrected, _tensor, both, function


def _several(made, inverse, counts):
    """The parts of what `unique` gives that were asked for."""
    values, which, often = made
    parts = (values, *((which,) if inverse else ()), *((often,) if counts else ()))
    return parts if len(parts) > 1 else values


@both
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """Every value once, in order; with ``dim``, every slice along it.

    With ``return_inverse`` also which of them each element is, with ``return_counts`` how often each occurs.
    """
    made = _functions["_unique"](_tensor("unique", input), sorted, return_inverse, return_counts, dim)
    return _several(made, return_inverse, return_counts)


@both
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The first of each run of equal values, or slices along ``dim``; else as ``unique``."""
    made = _functions["_unique_consecutive"](_tensor("unique_consecutive", input), return_inverse, return_counts, dim)
    return _several(made, return_inverse, return_counts)


def _with_mean(name, doc):
    row = _functions["_" + name]

    def reduce(input, dim=None, unbiased=None, keepdim=False, *, correction=None, axis=None, out=None):
        dim, correction = _corrected(name, axis if dim is None else dim, unbiased, correction)
        parts = tuple(row(_tensor(name, input), dim, correction=correction, keepdim=keepdim))
        if out is None:
            return parts
        return tuple(_functions["add"](part, 0, out=target) for part, target in zip(parts, out))

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = doc
    function(reduce)


_with_mean("std_mean", "The standard deviation and the mean over ``dim``.")
_with_mean("var_mean", "The variance and the mean over ``dim``.")


@function
def gradient(input, *, spacing=None, dim=None, edge_order=1):
    """The slopes of values along each of ``dim``: a list.

    ``spacing`` is a distance for all dimensions, one for each, or a vector of places for each.
    """
    _tensor("gradient", input)
    if dim is None:
        dims = list(range(input.ndim))
    else:
        dims = [dim] if isinstance(dim, int) else list(dim)
    spacing = 1 if spacing is None else spacing
    if isinstance(spacing, Tensor) and spacing.ndim == 0:
        spacing = spacing.item()
    if isinstance(spacing, (int, float, complex)):
        return list(_functions["_gradient"](input, spacing, dims, edge_order))
    spacing = [spacing] if isinstance(spacing, Tensor) else list(spacing)
    if len(spacing) != len(dims):
        raise RuntimeError(f"gradient: {len(spacing)} spacings for {len(dims)} dimensions; give one for each")
    if all(isinstance(s, Tensor) for s in spacing):
        return list(_functions["_gradient_at"](input, spacing, dims, edge_order))
    if any(isinstance(s, Tensor) for s in spacing):
        raise TypeError("gradient: spacing must be numbers or tensors, not both")
    _functions["_gradient"](input, 1, dims, edge_order)  # refuses what any of them would
    return [_functions["_gradient"](input, s, [d], edge_order)[0] for s, d in zip(spacing, dims)]


def _edges(op, points, bins, range):
    """The edges of bins: as given, or of so many."""
    if all(isinstance(b, Tensor) for b in bins):
        return list(bins)
    if any(isinstance(b, Tensor) for b in bins):
        raise TypeError(f"{op}: bins must be numbers or tensors, not both")
    limits = None if range is None else tensor([float(x) for x in range], dtype=float64)
    return list(_functions["_histogram_edges"](points, bins, limits))


@both
def histogram(input, bins=100, *, range=None, weight=None, density=False, out=None):
    """How many elements lie in each of the bins, and the bins' edges.

    ``bins`` is their number, or a rising vector of edges; ``range`` the first and the last edge.
    """
    points = _tensor("histogram", input).reshape(-1, 1)
    weight = None if weight is None else weight.reshape(-1)
    edges = _edges("histogram", points, [bins], range)
    hist = _functions["_histogramdd"](points, edges, weight=weight, density=density)
    if out is not None:
        hist, edges = _functions["add"](hist, 0, out=out[0]), [_functions["add"](edges[0], 0, out=out[1])]
    elif isinstance(bins, Tensor):
        edges = [bins.detach().clone()]
    return return_types._class("histogram", ("hist", "bin_edges"))((hist, edges[0]))


@function
def histogramdd(input, bins, range=None, weight=None, density=False):
    """How many points, whose coordinates are in the last dimension, lie in each bin, and the bins' edges.

    ``bins`` is a number for all coordinates, or a number or a rising vector of edges for each;
    ``range`` the first and the last edge of each.
    """
    count = _tensor("histogramdd", input).shape[-1] if input.ndim else 0
    bins = [bins] * count if isinstance(bins, int) else list(bins)
    edges = _edges("histogramdd", input, bins, range)
    hist = _functions["_histogramdd"](input, edges, weight=weight, density=density)
    return return_types._class("histogramdd", ("hist", "bin_edges"))((hist, tuple(edges)))


_searchsorted = _functions["searchsorted"]


@function
def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None, out=None):
    """For each value the place in ``sorted_sequence`` (along the last dimension) before which it belongs.

    Among equals that is the first place; with ``right``, or ``side="right"``, the one after the last.
    """
    options = dict(out_int32=out_int32, right=right, side=side or "", sorter=sorter)
    if out is not None:
        options["out"] = out
    return _searchsorted(sorted_sequence, input, **options)


def argwhere(input):
    """A row of positions for each element that is not zero."""
    return _functions["nonzero"](_tensor("argwhere", input))


both(argwhere)


@function
def unravel_index(indices, shape):
    """Positions in a flattened tensor of that ``shape`` as a tuple of positions, one tensor a dimension."""
    if not isinstance(indices, Tensor):
        raise TypeError(f"unravel_index: indices must be a Tensor, not {type(indices).__name__}")
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    return tuple(_functions["_unravel_index"](indices, sizes).unbind(-1))

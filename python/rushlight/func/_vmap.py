"""``vmap``: a function of single samples as one of batches.

It calls the function once for each sample and stacks what it gives: exact for every function, with
gradients, and as quick as that loop.
"""

import functools

from .. import _C
from .._C import Tensor, _functions
from ._trees import flatten, spread


def _axes(op, in_dims, args):
    """Leaves of the arguments, and the axis of each that counts samples, or ``None``."""
    if isinstance(in_dims, list):
        in_dims = tuple(in_dims)
    if not isinstance(in_dims, (int, tuple)) and in_dims is not None:
        raise ValueError(f"{op}: in_dims must be an int or a tuple nested as the inputs, not {type(in_dims).__name__}")
    if not args:
        raise ValueError(f"{op}: got no inputs; there must be one to map over")
    if isinstance(in_dims, tuple) and len(in_dims) != len(args):
        raise ValueError(f"{op}: in_dims {in_dims} is not compatible with {len(args)} inputs")
    leaves, rebuild = flatten(args)
    dims = spread(in_dims, args)
    if dims is None:
        raise ValueError(f"{op}: in_dims {in_dims} is not compatible with the structure of the inputs")
    placed = []
    for x, dim in zip(leaves, dims):
        if isinstance(dim, bool) or not (dim is None or isinstance(dim, int)):
            raise ValueError(f"{op}: in_dims has {dim!r} for an input; ints and None are meant")
        if dim is not None:
            if not isinstance(x, Tensor):
                if not isinstance(in_dims, tuple):
                    dim = None
                else:
                    raise ValueError(f"{op}: Got in_dim={dim} for an input of type {type(x).__name__}; only tensors are mapped over")
            elif not -x.dim() <= dim < x.dim():
                raise ValueError(f"{op}: Got in_dim={dim} for a tensor of dimensionality {x.dim()}")
            else:
                dim %= x.dim()
        placed.append(dim)
    return leaves, placed, rebuild


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that maps ``func`` over an axis of its inputs.

    ``in_dims``: that axis, or nested as the inputs; ``None`` hands an input on whole. ``out_dims``: where
    the axis is in the results. ``randomness``: ``"error"`` refuses random ops, ``"different"`` draws anew
    for each sample, ``"same"`` draws the same. ``chunk_size`` is accepted.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"vmap: randomness is {randomness!r}; 'error', 'different' and 'same' are known")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def run(*args, **kwargs):
        op = f"vmap({getattr(func, '__name__', 'function')})"
        leaves, dims, rebuild = _axes(op, in_dims, args)
        sizes = {x.shape[d] for x, d in zip(leaves, dims) if d is not None}
        if not sizes:
            raise ValueError(f"{op}: at least one input must be a tensor that is mapped over")
        if len(sizes) > 1:
            raise ValueError(f"{op}: Expected all tensors to have the same size in the mapped dimension, got sizes {sorted(sizes)}")
        count = sizes.pop()
        columns = [[x] * max(count, 1) if d is None else _slices(x, d) for x, d in zip(leaves, dims)]
        rows = [func(*rebuild(list(row)), **kwargs) for row in _guarded(op, zip(*columns), randomness)]
        return _stacked(op, rows, out_dims, count)

    return run


def _slices(x, dim):
    """The samples; one of zeros in place of none, which tells what the function gives."""
    if x.shape[dim]:
        return list(x.unbind(dim))
    return [x.new_zeros([n for d, n in enumerate(x.shape) if d != dim])]


def _guarded(op, rows, randomness):
    """The rows, and the random generator between them as asked for."""
    generator = _C.default_generator
    start = None if randomness == "different" else generator.get_state()
    for k, row in enumerate(rows):
        if randomness == "same" and k:
            generator.set_state(start)
        yield row
        if randomness == "error" and k == 0 and not _functions["eq"](generator.get_state(), start).all():
            raise RuntimeError(f"{op}: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness flags on vmap or perform the randomness operation out of vmap")


def _stacked(op, rows, out_dims, count):
    first, build = flatten(rows[0])
    dims = spread(tuple(out_dims) if isinstance(out_dims, list) else out_dims, rows[0])
    if dims is None:
        raise ValueError(f"{op}: out_dims {out_dims} is not compatible with the structure of the outputs")
    columns = list(zip(*(flatten(row)[0] for row in rows)))
    made = []
    for column, dim in zip(columns, dims):
        if not isinstance(column[0], Tensor):
            raise ValueError(f"{op}: must only return Tensors, got type {type(column[0]).__name__}. Did you mean to set out_dims= to None for output?")
        if dim is None:
            made.append(column[0])
            continue
        if not -column[0].dim() - 1 <= dim <= column[0].dim():
            raise IndexError(f"{op}: out_dims has {dim} for a result of {column[0].dim()} dimensions")
        stacked = _functions["stack"](list(column), dim)
        made.append(stacked if count else stacked.narrow(dim, 0, 0))
    return build(made)

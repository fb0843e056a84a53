"""Functions of the module that are no rows of the op table: other ways to call one, or a few together.

`function` puts one into the module, `both` on Tensor as well.
"""

import builtins

from . import _C
from ._C import Tensor, _functions
from ._C import dtype as _dtype

#: What `rushlight` shows of this file.
FUNCTIONS = {}


def function(f):
    """Makes `f` a function of the module."""
    FUNCTIONS[f.__name__] = f
    return f


def both(f):
    """Makes `f` a function of the module and a method of Tensor."""
    setattr(Tensor, f.__name__, f)
    return function(f)


def _tensor(op, x):
    if not isinstance(x, Tensor):
        raise TypeError(f"{op}: input must be a Tensor, not {type(x).__name__}")
    return x


def spread(args):
    """The tensors of `f(a, b)` or of `f([a, b])`."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        return list(args[0])
    return list(args)


# --- Questions ------------------------------------------------------------------------------------


@function
def is_tensor(obj):
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, Tensor)


@function
def is_storage(obj):
    """Whether ``obj`` is the memory under a tensor."""
    from .storage import TypedStorage

    return isinstance(obj, (_C.UntypedStorage, TypedStorage))


@function
def typename(obj):
    """The name of an object's type; of a tensor, its old type's."""
    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    module = getattr(kind, "__module__", "")
    return kind.__qualname__ if module in ("", "builtins", None) else f"{module}.{kind.__qualname__}"


def _question(name):
    method = getattr(Tensor, name)

    def ask(input):
        return method(_tensor(name, input))

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = method.__doc__ or f"As the method ``{name}`` of a tensor."
    function(ask)


for _name in ("is_floating_point", "is_complex", "is_signed", "is_inference", "numel", "detach", "detach_"):
    _question(_name)


@both
def is_same_size(input, other):
    """Whether the shapes are equal."""
    return _tensor("is_same_size", input).shape == _tensor("is_same_size", other).shape


@both
def is_nonzero(input):
    """The truth of a tensor's one element."""
    return builtins.bool(_tensor("is_nonzero", input))


@both
def get_device(input):
    """The number of the device; -1 for the CPU."""
    index = _tensor("get_device", input).device.index
    return -1 if index is None else index


@both
def is_conj(input):
    """Whether the tensor is a conjugate that waits to be computed: never, here."""
    _tensor("is_conj", input)
    return False


@both
def is_neg(input):
    """Whether the tensor is a negative that waits to be computed: never, here."""
    _tensor("is_neg", input)
    return False


both(_C.equal)
Tensor.equal = lambda self, other: _C.equal(self, other)


@both
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether every pair of elements is close, as ``isclose`` says."""
    with _no_grad():
        return builtins.bool(_functions["isclose"](input, other, rtol, atol, equal_nan).all())


def _no_grad():
    from .autograd.grad_mode import no_grad

    return no_grad()


@function
def broadcast_shapes(*shapes):
    """The shape that tensors of these shapes broadcast to."""
    from ._size import Size

    result = []
    for shape in shapes:
        shape = (shape,) if isinstance(shape, builtins.int) else tuple(shape)
        if any(size < 0 for size in shape):
            raise RuntimeError(f"broadcast_shapes: sizes must not be negative, got {shape}")
        result = [1] * (len(shape) - len(result)) + result
        for k, size in enumerate(shape, len(result) - len(shape)):
            if size != 1 and result[k] not in (1, size):
                raise RuntimeError(f"broadcast_shapes: {list(shapes)} do not broadcast: {result[k]} against {size}")
            result[k] = result[k] if size == 1 else size
    return Size(result)


# --- Several tensors in a row ---------------------------------------------------------------------


@function
def einsum(equation, *operands):
    """Sums of products along named dimensions, as ``'ij,jk->ik'`` says."""
    return _functions["einsum"](equation, spread(operands))


@function
def meshgrid(*tensors, indexing=None):
    """A grid for each of the 1-d tensors, all of the shape that they span."""
    if indexing is None:
        import warnings

        warnings.warn("meshgrid: pass indexing='ij' or 'xy'; the default will change", stacklevel=2)
        indexing = "ij"
    return _functions["meshgrid"](spread(tensors), indexing=indexing)


@function
def broadcast_tensors(*tensors):
    """The tensors, each expanded to the shape that all broadcast to."""
    return _functions["broadcast_tensors"](spread(tensors))


@function
def cartesian_prod(*tensors):
    """All combinations of one element of each of the 1-d tensors, a row each."""
    tensors = spread(tensors)
    if any(t.ndim != 1 for t in tensors):
        raise RuntimeError(f"cartesian_prod: takes 1-d tensors, got ranks {[t.ndim for t in tensors]}")
    if len(tensors) == 1:
        return tensors[0]
    grids = _functions["meshgrid"](tensors, indexing="ij")
    return _functions["stack"]([g.flatten() for g in grids], dim=1)


@function
def block_diag(*tensors):
    """A matrix with the tensors along its diagonal and zeros elsewhere."""
    return _functions["block_diag"](spread(tensors))


def _at_least(name):
    row = _functions[name]

    def reach(*tensors):
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return row(tensors[0])
        return tuple(row(t) for t in spread(tensors))

    reach.__name__ = reach.__qualname__ = name
    reach.__doc__ = row.__doc__
    function(reach)


for _name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    _at_least(_name)


@function
def split(tensor, split_size_or_sections, dim=0):
    """Consecutive views along ``dim``: of one size (the last may be smaller), or of the listed sizes."""
    return _functions["split"](tensor, split_size_or_sections, dim=dim)


@both
def tensor_split(input, indices_or_sections, dim=0):
    """Views along ``dim``: so many, nearly equal ones, or those between the indices."""
    parts = indices_or_sections
    if isinstance(parts, Tensor):
        if parts.ndim > 1 or parts.is_floating_point():
            raise ValueError("tensor_split: indices must be a 1-d tensor of integers")
        parts = parts.tolist()
    return _functions["tensor_split"](input, parts, dim)


@both
def take_along_dim(input, indices, dim=None):
    """The elements at ``indices`` along ``dim``; of the flattened tensor without one. Negative ones count back."""
    if not isinstance(indices, Tensor) or indices.dtype is not _C.int64:
        raise RuntimeError("take_along_dim: indices must be a tensor of int64")
    count = input.numel() if dim is None else input.size(dim)
    return _functions["take_along_dim"](input, _functions["where"](indices < 0, indices + count, indices), dim)


@function
def tensordot(a, b, dims=2, out=None, *, axes=None):
    """Sums over pairs of dimensions: the last ``dims`` of ``a`` with the first of ``b``, or two lists of them.

    ``axes`` is NumPy's name for ``dims``.
    """
    dims = dims if axes is None else axes
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, builtins.int):
        if dims < 0:
            raise RuntimeError(f"tensordot: dims must not be negative, got {dims}")
        dims = [list(builtins.range(a.ndim - dims, a.ndim)), list(builtins.range(dims))]
    made = _functions["tensordot"](a, b, *([d] if isinstance(d, builtins.int) else list(d) for d in dims))
    return made if out is None else _functions["add"](made, 0, out=out)


# --- Reductions -----------------------------------------------------------------------------------


def _corrected(op, dim, unbiased, correction):
    if isinstance(dim, builtins.bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None:
            raise TypeError(f"{op}: give correction or unbiased, not both")
        correction = builtins.int(unbiased)
    return dim, 1 if correction is None else correction


def _spread_of(name, doc):
    row = _functions[name]

    def reduce(input, dim=None, unbiased=None, keepdim=False, *, correction=None, axis=None, out=None):
        dim, correction = _corrected(name, axis if dim is None else dim, unbiased, correction)
        if out is not None:
            return row(input, dim, correction=correction, keepdim=keepdim, out=out)
        return row(input, dim, correction=correction, keepdim=keepdim)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = doc
    both(reduce)


_spread_of("std", "The standard deviation over ``dim``; the divisor is the count less ``correction``.")
_spread_of("var", "The variance over ``dim``; the divisor is the count less ``correction``.")


@function
def trace(input):
    """The sum of a matrix's diagonal."""
    if _tensor("trace", input).ndim != 2:
        raise RuntimeError(f"trace: takes a matrix; the tensor has {input.ndim} dimensions")
    return input.diagonal().sum()


# The module `trace` stands for the function where programs call it.
Tensor.trace = FUNCTIONS.pop("trace")


@both
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The ``p``-norm over ``dim``; ``"fro"`` is 2, ``"nuc"`` the sum of a matrix's singular values."""
    if p == "nuc":
        dim = (-2, -1) if dim is None else dim
        input = input if dtype is None else input.to(dtype)
        return _functions["nuclear_norm"](input, dim, keepdim, out=out)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"norm: p must be a number, 'fro' or 'nuc', not {p!r}")
    if dtype is not None:
        input = input.to(dtype)
    p = 2.0 if p == "fro" or p is None else builtins.float(p)
    if out is not None:
        return _functions["norm"](input, p, dim, keepdim, out=out)
    return _functions["norm"](input, p, dim, keepdim)


@both
def sort(input, dim=-1, descending=False, stable=False, *, out=None):
    """The sorted values along ``dim`` and where each came from; equal ones keep their order."""
    if isinstance(out, tuple):
        return _functions["sort"](input, dim, descending, out=out)
    return _functions["sort"](input, dim, descending)


@both
def argsort(input, dim=-1, descending=False, stable=False):
    """Where each of the sorted values along ``dim`` comes from."""
    return _functions["argsort"](input, dim, descending)


@both
def topk(input, k, dim=-1, largest=True, sorted=True, *, out=None):
    """The ``k`` largest (or smallest) values along ``dim``, sorted, and where they are."""
    if out is not None:
        return _functions["topk"](input, k, dim, largest, out=out)
    return _functions["topk"](input, k, dim, largest)


# --- Arithmetic -----------------------------------------------------------------------------------


def _rounded(op, input, other, mode):
    if mode == "floor":
        return _functions["floor_divide"](input, other)
    if mode != "trunc":
        raise RuntimeError(f"{op}: rounding_mode must be None, 'trunc' or 'floor', not {mode!r}")
    whole = result_type(input, other)
    if whole.is_floating_point or whole.is_complex:
        return _functions["div"](input, other).trunc()
    # Exact, and for integers of any size: the remainder goes first.
    return _functions["floor_divide"](input - _functions["fmod"](input, other), other)


result_type = _C.result_type


def _divisions(name):
    row, row_ = _functions[name], _functions[name + "_"]

    def divide(input, other, *, rounding_mode=None, out=None):
        if rounding_mode is None:
            return row(input, other) if out is None else row(input, other, out=out)
        result = _rounded(name, input, other, rounding_mode)
        return result if out is None else _functions["add"](result, 0, out=out)

    def divide_(self, other, *, rounding_mode=None):
        if rounding_mode is None:
            return row_(self, other)
        return write_over(name + "_", self, _rounded(name, self, other, rounding_mode))

    for f, n in ((divide, name), (divide_, name + "_")):
        f.__name__ = f.__qualname__ = n
        f.__doc__ = row.__doc__
    both(divide)
    setattr(Tensor, name + "_", divide_)


_divisions("div")
_divisions("divide")


def write_over(op, target, result):
    """Writes the result of an op into its first argument, as the op's in-place form."""
    if result.shape != target.shape:
        raise RuntimeError(f"{op}: the result has shape {list(result.shape)}, the tensor {list(target.shape)}")
    if not _C.can_cast(result.dtype, target.dtype):
        raise RuntimeError(f"{op}: a result of {result.dtype} cannot be written to a tensor of {target.dtype}")
    return target.copy_(result)


@both
def round(input, *, decimals=0, out=None):
    """The nearest whole numbers, ties to even; or the nearest with that many decimals."""
    row = _functions["round"]
    if decimals == 0 or not input.is_floating_point():
        return row(input) if out is None else row(input, out=out)
    scale = 10.0 ** abs(decimals)
    scaled = row(input * scale) / scale if decimals > 0 else row(input / scale) * scale
    return scaled if out is None else _functions["add"](scaled, 0, out=out)


def round_(self, *, decimals=0):
    """As ``round``, in place."""
    return _functions["round_"](self) if decimals == 0 else write_over("round_", self, round(self, decimals=decimals))


FUNCTIONS["round_"] = Tensor.round_ = round_


@both
def square(input, *, out=None):
    """``input * input``; truth values count as 0 and 1."""
    if isinstance(input, Tensor) and input.dtype is _C.bool:
        input = input.to(_C.int64)
    return _functions["square"](input) if out is None else _functions["square"](input, out=out)


@function
def rsub(input, other, *, alpha=1):
    """``other - alpha * input``."""
    return other - (input if alpha == 1 else input * alpha)


@both
def positive(input):
    """The tensor itself."""
    if _tensor("positive", input).dtype is _C.bool:
        raise NotImplementedError("positive: is not defined for bool; convert with to()")
    return input


@both
def conj(input):
    """The complex conjugate; a real tensor is its own."""
    if not _tensor("conj", input).is_complex():
        return input
    return complex(input.real, -input.imag)


FUNCTIONS["conj_physical"] = Tensor.conj_physical = conj


@both
def resolve_conj(input):
    """The tensor itself: conjugates are computed at once."""
    return _tensor("resolve_conj", input)


@both
def resolve_neg(input):
    """The tensor itself: negatives are computed at once."""
    return _tensor("resolve_neg", input)


@both
def adjoint(input):
    """The last two dimensions exchanged, and conjugate."""
    if _tensor("adjoint", input).ndim == 1:
        raise RuntimeError("adjoint: takes matrices, or a batch of them; the tensor has 1 dimension")
    return conj(input if input.ndim == 0 else input.transpose(-2, -1))


@function
def complex(real, imag, *, out=None):
    """Complex numbers from their parts."""
    if _tensor("complex", real).dtype is not _tensor("complex", imag).dtype:
        raise RuntimeError(f"complex: the parts are of different dtypes: {real.dtype} and {imag.dtype}")
    if real.dtype not in (_C.float32, _C.float64):
        raise RuntimeError(f"complex: parts must be float32 or float64, not {real.dtype}")
    real, imag = broadcast_tensors(real, imag)
    made = _functions["view_as_complex"](_functions["stack"]([real, imag], dim=-1))
    return made if out is None else _functions["add"](made, 0, out=out)


@function
def polar(abs, angle, *, out=None):
    """Complex numbers from their absolute values and angles."""
    return complex(abs * angle.cos(), abs * angle.sin(), out=out)


@both
def nonzero(input, *, as_tuple=False, out=None):
    """Where elements are not zero: a row of positions for each, or a tuple with one tensor a dimension."""
    row = _functions["nonzero"]
    if as_tuple:
        found = row(input.reshape(1) if input.ndim == 0 else input)
        return tuple(found.unbind(1))
    return row(input) if out is None else row(input, out=out)


def _scatter(name, inplace):
    row = _functions[name]

    def scatter(input, dim, index, src=None, *, value=None, reduce=None):
        if (src is None) == (value is None):
            raise TypeError(f"{name}: give src or value, one of them")
        source = value if src is None else src
        return row(input, dim, index, source) if reduce is None else row(input, dim, index, source, reduce=reduce)

    scatter.__name__ = scatter.__qualname__ = name
    scatter.__doc__ = row.__doc__
    setattr(Tensor, name, scatter)
    if not inplace:
        function(scatter)


_scatter("scatter", False)
_scatter("scatter_", True)


@both
def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Each element (or slice along ``dim``) so many times; with repeats alone, their positions."""
    if repeats is None:
        repeats, input = input, _functions["arange"](len(input), device=input.device)
        dim = 0
    result = _functions["repeat_interleave"](input, repeats, dim)
    if output_size is not None and result.shape[dim or 0] != output_size:
        raise RuntimeError(f"repeat_interleave: output_size is {output_size}, the result has {result.shape[dim or 0]}")
    return result


# --- New tensors ----------------------------------------------------------------------------------


def _like(input, dtype, device, requires_grad, memory_format, fill):
    """A tensor that `fill(empty)` fills, of the shape and, where they are dense, strides of `input`."""
    dtype = input.dtype if dtype is None else dtype
    device = input.device if device is None else device
    made = _functions["zeros_like"](input, dtype=dtype, device=device, memory_format=memory_format)
    with _no_grad():
        fill(made)
    return made.requires_grad_() if requires_grad else made


@function
def empty_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """A tensor of the same shape with any values."""
    return _like(input, dtype, device, requires_grad, memory_format, lambda made: None)


@function
def rand_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, generator=None, pin_memory=False):
    """A tensor of the same shape, uniform in [0, 1)."""
    return _like(input, dtype, device, requires_grad, memory_format, lambda made: made.uniform_(generator=generator))


@function
def randn_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, generator=None, pin_memory=False):
    """A tensor of the same shape, of the standard normal distribution."""
    return _like(input, dtype, device, requires_grad, memory_format, lambda made: made.normal_(generator=generator))


@function
def randint_like(input, low=None, high=None, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """A tensor of the same shape with whole numbers from ``low`` (or 0) up to below ``high``."""
    if high is None:
        low, high = 0, low
    if high is None:
        raise TypeError("randint_like: missing high")
    draw = _functions["randint"]
    return _like(input, dtype, device, requires_grad, memory_format, lambda made: made.copy_(draw(low, high, made.shape)))


@function
def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of that shape and those strides with any values."""
    size, stride = tuple(size), tuple(stride)
    if len(size) != len(stride):
        raise RuntimeError(f"empty_strided: {len(size)} sizes, but {len(stride)} strides")
    if any(s < 0 for s in size) or any(s < 0 for s in stride):
        raise RuntimeError(f"empty_strided: sizes and strides must not be negative, got {size} and {stride}")
    count = 0 if 0 in size else 1 + sum((n - 1) * s for n, s in zip(size, stride))
    flat = _functions["empty"](count, dtype=dtype, device=device)
    made = _C._from_storage(flat.untyped_storage(), 0, size, stride, flat.dtype)
    return made.requires_grad_() if requires_grad else made


@function
def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A dense tensor of that shape; ``physical_layout`` lists its dimensions from the slowest."""
    if sorted_of(physical_layout) != list(range_of(len(size))):
        raise RuntimeError(f"empty_permuted: {physical_layout} is no order of {len(size)} dimensions")
    stride, step = [0] * len(size), 1
    for d in reversed(physical_layout):
        stride[d], step = step, step * max_of(size[d], 1)
    return empty_strided(size, stride, dtype=dtype, device=device, requires_grad=requires_grad)


sorted_of, range_of, max_of = builtins.sorted, builtins.range, builtins.max


@function
def scalar_tensor(s, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A 0-d tensor; of the default float dtype unless told."""
    made = _functions["full"]((), s, dtype=dtype or _C.get_default_dtype(), device=device)
    return made.requires_grad_() if requires_grad else made


@function
def range(start=0, end=None, step=1, *, dtype=None, device=None, requires_grad=False):
    """Numbers from ``start`` to ``end``, which is the last one if the steps hit it. Use arange."""
    import warnings

    warnings.warn("range: is out of use, as its result includes the end; use arange", UserWarning, stacklevel=2)
    if end is None:
        start, end = 0, start
    count = builtins.int((end - start) / step) + 1
    whole = _functions["arange"](count, dtype=_C.float64) * step + start
    made = whole.to(dtype or _C.get_default_dtype())
    return made.requires_grad_() if requires_grad else made


@function
def normal(
    mean=0.0, std=1.0, size=None, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False,
    pin_memory=False, out=None,
):  # fmt: skip
    """Normally distributed numbers: of one mean and deviation and a size, or a mean or deviation for each."""
    tensors = [x for x in (mean, std) if isinstance(x, Tensor)]
    if not isinstance(std, Tensor) and std < 0:
        raise RuntimeError(f"normal: std must not be negative, got {std}")
    if not tensors:
        if size is None:
            raise TypeError("normal: needs a size when mean and std are numbers")
        made = _functions["empty"](size, dtype=dtype, device=device).normal_(mean, std, generator=generator)
    else:
        if size is not None:
            raise TypeError("normal: takes a size only when mean and std are numbers")
        shape = broadcast_shapes(*(x.shape for x in tensors))
        drawn = _functions["empty"](shape, dtype=tensors[0].dtype).normal_(0, 1, generator=generator)
        made = (drawn * std + mean).detach()
    if out is not None:
        return _functions["add"](made, 0, out=out)
    return made.requires_grad_() if requires_grad else made


@both
def bernoulli(input, p=None, *, generator=None, out=None):
    """1 with the probability that each element says, or ``p``; else 0."""
    chance = input if p is None else _functions["full_like"](input, p)
    drawn = _functions["bernoulli"](chance, generator=generator)
    return drawn if out is None else _functions["add"](drawn, 0, out=out)


def _triangle(name, keep):
    def indices(row, col, offset=0, *, dtype=None, device=None, layout=None):
        ones = _functions["ones"]((row, col), dtype=_C.bool)
        found = _functions[keep](ones, offset).nonzero().t().contiguous()
        return found if dtype is None else found.to(dtype)

    indices.__name__ = indices.__qualname__ = name
    indices.__doc__ = f"Rows and columns of the elements that ``{keep}`` keeps of a matrix of that size."
    function(indices)


_triangle("tril_indices", "tril")
_triangle("triu_indices", "triu")


@function
def fill(input, value):
    """A tensor of the same shape with that value everywhere."""
    return input.clone().fill_(value)


def zero_(input):
    """Writes zeros over the tensor."""
    return input.fill_(0)


def resize_as_(input, the_template, *, memory_format=None):
    """Gives the tensor another's shape, in place."""
    return input.resize_as_(the_template)


FUNCTIONS["resize_as_"] = resize_as_
FUNCTIONS["zero_"] = Tensor.zero_ = zero_


# --- The process ----------------------------------------------------------------------------------


@function
def set_default_dtype(d):
    """The float dtype that results get when integers meet floats, for the whole process."""
    if not isinstance(d, _dtype):
        raise TypeError(f"set_default_dtype: takes a floating point dtype, not {d!r}")
    _C._set_default_dtype(d)


@function
def set_default_tensor_type(t):
    """As ``set_default_dtype``, by an old type's name."""
    from ._types import named_dtype

    set_default_dtype(named_dtype(t) if isinstance(t, str) else getattr(t, "dtype", t))


@function
def get_default_device():
    """Where new tensors are made: the CPU."""
    return _C.device("cpu")


@function
def set_default_device(device):
    """Where new tensors are made; only the CPU can be."""
    if device is not None and _C.device(device).type != "cpu":
        raise RuntimeError(f"set_default_device: {device} cannot be the default; pass device= where a tensor is made")


@function
def compile(model=None, **options):
    """The function itself: there is no compiler, and ops are quick to call."""
    return (lambda f: f) if model is None else model


_state = {"deterministic": False, "warn_only": False, "precision": "highest", "interop": 1, "warn_always": False}


@function
def use_deterministic_algorithms(mode, *, warn_only=False):
    """Remembers the wish; every op here gives the same result each time."""
    _state["deterministic"], _state["warn_only"] = builtins.bool(mode), warn_only


@function
def are_deterministic_algorithms_enabled():
    """What ``use_deterministic_algorithms`` was told last."""
    return _state["deterministic"]


@function
def set_float32_matmul_precision(precision):
    """Remembers the wish; products of float32 matrices are always computed in float32."""
    if precision not in ("highest", "high", "medium"):
        raise ValueError(f"set_float32_matmul_precision: takes 'highest', 'high' or 'medium', not {precision!r}")
    _state["precision"] = precision


@function
def get_float32_matmul_precision():
    """What ``set_float32_matmul_precision`` was told last."""
    return _state["precision"]


@function
def get_num_interop_threads():
    """Threads that run ops side by side."""
    return _state["interop"]


@function
def set_num_interop_threads(int):
    """Remembers the wish; ops run one after another in each thread."""
    if int <= 0:
        raise RuntimeError("set_num_interop_threads: takes a positive number")
    _state["interop"] = int


@function
def set_flush_denormal(mode):
    """False: numbers below the smallest normal one are kept."""
    return False

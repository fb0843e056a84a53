"""Methods of Tensor that are no rows of the op table: other ways to call one, or a few together."""

from . import _C, _functions
from ._C import Tensor
from ._C import _functions as rows
from ._functions import write_over
from ._types import OLD_NAMES, named_dtype


def method(f):
    """Makes `f` a method of Tensor."""
    setattr(Tensor, f.__name__, f)
    return f


def attribute(f):
    """Makes `f` an attribute of Tensor that is computed when read."""
    setattr(Tensor, f.__name__, property(f))
    return f


# --- Attributes -----------------------------------------------------------------------------------


@attribute
def T(self):
    """All dimensions in reverse."""
    if self.ndim not in (0, 2):
        import warnings

        warnings.warn("T: is for matrices; use mT, or permute for other ranks", stacklevel=2)
    return self.permute(*range(self.ndim - 1, -1, -1))


@attribute
def H(self):
    """A matrix transposed and conjugate."""
    if self.ndim not in (0, 2):
        raise RuntimeError(f"H: takes a matrix; the tensor has {self.ndim} dimensions; use mH")
    return _functions.conj(self.transpose(0, 1) if self.ndim else self)


@attribute
def mT(self):
    """The last two dimensions exchanged."""
    if self.ndim == 1:
        raise RuntimeError("mT: takes matrices, or a batch of them; the tensor has 1 dimension")
    return self.transpose(-2, -1) if self.ndim else self


@attribute
def mH(self):
    """The last two dimensions exchanged, and conjugate."""
    return _functions.adjoint(self)


class _NoImaginaryPart(TypeError, AttributeError):
    """Also an AttributeError, for programs that ask which attributes there are."""


@attribute
def imag(self):
    """The imaginary parts, a view."""
    if not self.is_complex():
        raise _NoImaginaryPart(f"imag: takes a complex tensor, not {self.dtype}")
    return rows["imag"](self)


@attribute
def layout(self):
    """How elements are kept: by strides, always."""
    return strided


class _Layout:
    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return f"torch.{self._name}"

    def __reduce__(self):
        return self._name


_Layout.__name__ = _Layout.__qualname__ = "layout"
_Layout.__module__ = "rushlight"
layout_type = _Layout
strided, sparse_coo, sparse_csr = _Layout("strided"), _Layout("sparse_coo"), _Layout("sparse_csr")

Tensor.is_meta = property(lambda self: self.device.type == "meta", doc="Whether there is no memory behind it.")
Tensor.is_cuda = property(lambda self: self.device.type == "cuda", doc="Whether it is on a CUDA device.")
for _name in ("sparse", "sparse_csr", "mkldnn", "quantized", "nested", "mps", "xla", "xpu", "ipu", "vulkan", "mtia", "maia"):
    setattr(Tensor, f"is_{_name}", property(lambda self: False, doc="False: there is no such kind of tensor here."))
Tensor.name = None


# --- Conversions ----------------------------------------------------------------------------------


@method
def type(self, dtype=None, non_blocking=False):
    """The tensor's old type name; or the tensor with another dtype, itself if it has it."""
    if dtype is None:
        place = "" if self.device.type == "cpu" else f"{self.device.type}."
        return f"torch.{place}{OLD_NAMES[self.dtype]}Tensor"
    if isinstance(dtype, _C.dtype):
        return self.to(dtype)
    if isinstance(dtype, str):
        return self.to(named_dtype(dtype))
    kind = getattr(dtype, "dtype", None)
    if isinstance(kind, _C.dtype):
        return self.to(kind)
    if dtype is Tensor:
        return self.to(_C.get_default_dtype())
    raise ValueError(f"type: takes a dtype or a type's name, not {dtype!r}")


@method
def cuda(self, device=None, non_blocking=False, memory_format=None):
    """Fails: there is no CUDA here."""
    return self.to("cuda" if device is None else _C.device("cuda", device) if isinstance(device, int) else device)


@method
def pin_memory(self, device=None):
    """Fails: there is no device to which pinned memory would be quicker to copy."""
    raise RuntimeError("pin_memory: there is no device that pinned memory would be for")


@method
def is_pinned(self, device=None):
    """False."""
    return False


@method
def share_memory_(self):
    """The tensor itself; threads share all memory, and processes inherit it."""
    return self


@method
def is_shared(self):
    """Whether other processes see writes: no."""
    return False


# --- New tensors like this one --------------------------------------------------------------------


def _new(name, doc):
    make = rows[name]

    def new(self, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, **rest):
        if "size" in rest:
            size = (rest.pop("size"),)
        if rest:
            raise TypeError(f"new_{name}: there is no argument called {next(iter(rest))}")
        dtype = self.dtype if dtype is None else dtype
        device = self.device if device is None else device
        return make(*size, dtype=dtype, device=device, requires_grad=requires_grad)

    new.__name__ = new.__qualname__ = f"new_{name}"
    new.__doc__ = doc + ", of this tensor's dtype and device unless told."
    method(new)


_new("zeros", "Zeros")
_new("ones", "Ones")
_new("empty", "Any values")


@method
def new_full(self, size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A tensor of ``fill_value``, of this tensor's dtype and device unless told."""
    dtype = self.dtype if dtype is None else dtype
    device = self.device if device is None else device
    return rows["full"](size, fill_value, dtype=dtype, device=device, requires_grad=requires_grad)


@method
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A tensor with a copy of ``data``, of this tensor's dtype and device unless told."""
    dtype = self.dtype if dtype is None else dtype
    device = self.device if device is None else device
    return _C.tensor(data, dtype=dtype, device=device, requires_grad=requires_grad)


@method
def new_empty_strided(self, size, stride, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A tensor of that shape and those strides with any values."""
    dtype = self.dtype if dtype is None else dtype
    device = self.device if device is None else device
    return _functions.empty_strided(size, stride, dtype=dtype, device=device, requires_grad=requires_grad)


@method
def new(self, *args):
    """As the old constructor: of sizes, or of data."""
    made = Tensor(*args)
    return made.to(self.dtype) if made.numel() else rows["empty"](made.shape, dtype=self.dtype)


# --- Writing --------------------------------------------------------------------------------------


@method
def bernoulli_(self, p=0.5, *, generator=None):
    """Writes 1 with probability ``p`` (a number, or a tensor with one for each), else 0."""
    like = p.expand(self.shape) if isinstance(p, Tensor) else rows["full"](self.shape, p, dtype=_C.float32)
    with _functions._no_grad():
        return self.copy_(rows["bernoulli"](like.detach(), generator=generator))


@method
def random_(self, from_=None, to=None, *, generator=None):
    """Writes whole numbers from ``from_`` up to below ``to``; without those, all that the dtype can hold."""
    low, high = (0, from_) if to is None else (from_, to)
    if high is None:
        exact = {_C.float16: 11, _C.bfloat16: 8, _C.float32: 24, _C.float64: 53, _C.bool: 1}
        bits = exact.get(self.dtype, self.itemsize * 8 - self.dtype.is_signed)
        high = 2 ** min(bits, 63) - (bits >= 63) + (self.dtype in (_C.float16, _C.bfloat16, _C.float32, _C.float64))
    if low >= high:
        raise RuntimeError(f"random_: from ({low}) must be below to ({high})")
    with _functions._no_grad():
        return self.copy_(rows["randint"](low, high, self.shape, generator=generator))


@method
def fill_diagonal_(self, fill_value, wrap=False):
    """Writes a number over the diagonal; with ``wrap``, of a tall matrix again and again."""
    if self.ndim < 2:
        raise RuntimeError(f"fill_diagonal_: takes at least 2 dimensions; the tensor has {self.ndim}")
    if self.ndim > 2 and len(set(self.shape)) > 1:
        raise RuntimeError(f"fill_diagonal_: all dimensions must be equal beyond matrices, got {list(self.shape)}")
    step = sum(self.stride())
    size = min(self.shape)
    if wrap and self.ndim == 2 and self.shape[0] > self.shape[1] + 1:
        rows_, columns = self.shape
        for start in range(0, rows_, columns + 1):
            self[start : start + columns].diagonal().fill_(fill_value)
        return self
    if size:
        self.as_strided((size,), (step,), self.storage_offset()).fill_(fill_value)
    return self


def _in_place(name, function=None):
    """The in-place form of an op that has none: the result is written over the tensor."""
    compute = function or getattr(Tensor, name)

    def write(self, *args, **kwargs):
        return write_over(f"{name}_", self, compute(self, *args, **kwargs))

    write.__name__ = write.__qualname__ = f"{name}_"
    write.__doc__ = f"As ``{name}``, in place."
    method(write)


def _compared(name):
    """As `_in_place`, for results that are bool and stay of the tensor's dtype."""
    compute = getattr(Tensor, name)

    def write(self, other):
        result = compute(self, other)
        return write_over(f"{name}_", self, result.to(self.dtype))

    write.__name__ = write.__qualname__ = f"{name}_"
    write.__doc__ = f"As ``{name}``, in place; the dtype stays."
    method(write)


for _name in """eq ne lt le gt ge greater greater_equal less less_equal not_equal logical_and logical_or
    logical_xor""".split():
    if _name + "_" not in rows:
        _compared(_name)
for _name in """addmm addmv baddbmm addbmm addr bitwise_left_shift bitwise_right_shift lcm gcd copysign
    conj_physical""".split():
    if _name + "_" not in rows and hasattr(Tensor, _name):
        _in_place(_name)


@method
def logical_not_(self):
    """As ``logical_not``, in place; the dtype stays."""
    return self.copy_(self.logical_not())


@method
def apply_(self, callable):
    """Writes what a Python function gives for each element. Slow; meant for initialising."""
    if self.requires_grad and _C.is_grad_enabled():
        raise RuntimeError("apply_: the tensor requires grad, and a Python function has none; use detach()")
    flat = [callable(x) for x in self.flatten().tolist()] if self.ndim else [callable(self.item())]
    with _functions._no_grad():
        return self.copy_(_C.tensor(flat, dtype=self.dtype).reshape(self.shape))


@method
def map_(self, tensor, callable):
    """Writes what a Python function gives for each pair of elements. Slow."""
    if (self.requires_grad or tensor.requires_grad) and _C.is_grad_enabled():
        raise RuntimeError("map_: a tensor requires grad, and a Python function has none; use detach()")
    other = tensor.expand(self.shape)
    pairs = zip(self.reshape(-1).tolist(), other.reshape(-1).tolist())
    with _functions._no_grad():
        return self.copy_(_C.tensor([callable(a, b) for a, b in pairs], dtype=self.dtype).reshape(self.shape))


# --- Other ways to call a row ---------------------------------------------------------------------


@method
def where(self, condition, other):
    """This tensor's elements where ``condition`` holds, those of ``other`` elsewhere."""
    return rows["where"](condition, self, other)


@method
def sum_to_size(self, *size):
    """Summed over the dimensions along which ``size`` would have to be expanded to reach this shape."""
    size = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    if not size:
        return self.sum()
    lead = self.ndim - len(size)
    fits = lead >= 0 and all(n in (1, have) for n, have in zip(size, self.shape[max(lead, 0) :]))
    if not fits:
        raise RuntimeError(f"sum_to_size: {list(size)} does not expand to {list(self.shape)}")
    result = self.sum(tuple(range(lead))) if lead else self
    kept = tuple(d for d, n in enumerate(size) if n == 1 and result.shape[d] != 1)
    return result.sum(kept, keepdim=True) if kept else result


@method
def unsafe_split(self, split_size, dim=0):
    """As ``split``."""
    return self.split(split_size, dim)


@method
def unsafe_chunk(self, chunks, dim=0):
    """As ``chunk``."""
    return self.chunk(chunks, dim)


@method
def index(self, indices):
    """As ``x[indices]``."""
    return self[tuple(indices)]



# --- The array API standard -----------------------------------------------------------------------


@method
def __array_namespace__(self, *, api_version=None):
    """The module ``rushlight.array_api``, which follows the Python array API standard."""
    from . import array_api

    return array_api.namespace(api_version)


@method
def to_device(self, device, /, *, stream=None):
    """The tensor on another device, itself if it is there."""
    return self.to(device)

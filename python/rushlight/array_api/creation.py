"""Creation functions: new arrays. ``shape`` is an integer or a tuple; ``device`` a device or its name."""

import builtins

from .. import _C, _functions
from .._C import Tensor
from .._C import _functions as rows
from ._arrays import array, promoted, shape_of


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """``obj`` as an array: a number, nested sequences of numbers and 0-d arrays, or what shares memory.

    ``copy=False`` raises ``ValueError`` where memory cannot be shared, ``copy=True`` never shares.
    """
    if copy is False and isinstance(obj, (builtins.bool, int, float, complex)):
        raise ValueError(f"asarray: a {type(obj).__name__} has no memory to share; leave copy=False out")
    return _C.asarray(obj, dtype=dtype, device=device, copy=copy)


def from_dlpack(x, /, *, device=None, copy=None):
    """The array behind an object with ``__dlpack__``, sharing its memory unless ``copy``."""
    return _C.from_dlpack(x, device=device, copy=copy)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """Numbers from ``start`` (0 if only one is given) up to before ``stop``."""
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        whole = builtins.all(isinstance(x, int) for x in (start, stop, step))
        dtype = _C.int64 if whole else _C.get_default_dtype()
    if step == 0:
        raise ValueError("arange: step must not be 0")
    if (stop - start) / step <= 0:
        return rows["empty"]((0,), dtype=dtype, device=device)
    return rows["arange"](start, stop, step, dtype=dtype, device=device)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """``num`` numbers from ``start`` to ``stop``, which is the last one, or with ``endpoint=False`` the next."""
    if num < 0:
        raise ValueError(f"linspace: num must not be negative, got {num}")
    if isinstance(start, complex) or isinstance(stop, complex) or dtype is not None and dtype.is_complex:
        dtype = dtype or _C.result_type(rows["empty"](()), 1j)
        start, stop, part = complex(start), complex(stop), dtype.to_real()
        real = linspace(start.real, stop.real, num, dtype=part, device=device, endpoint=endpoint)
        imag = linspace(start.imag, stop.imag, num, dtype=part, device=device, endpoint=endpoint)
        return _functions.complex(real, imag)
    made = rows["linspace"](start, stop, num if endpoint else num + 1, dtype=dtype, device=device)
    return made if endpoint else made[:num]


def _filled(name, doc):
    make = rows[name]

    def create(shape, *, dtype=None, device=None):
        return make(shape_of(name, shape), dtype=dtype, device=device)

    create.__name__ = create.__qualname__ = name
    create.__doc__ = doc
    return create


empty = _filled("empty", "An array of any values.")
ones = _filled("ones", "An array of ones.")
zeros = _filled("zeros", "An array of zeros.")


def full(shape, fill_value, *, dtype=None, device=None):
    """An array of one value: a number, or a 0-d array."""
    shape = shape_of("full", shape)
    if isinstance(fill_value, Tensor):
        if fill_value.ndim:
            raise ValueError(f"full: fill_value must be a number or a 0-d array, not of shape {tuple(fill_value.shape)}")
        return fill_value.to(dtype=dtype or fill_value.dtype, device=device or fill_value.device).expand(shape).clone()
    return rows["full"](shape, fill_value, dtype=dtype, device=device)


def _like(name, doc):
    def create(x, /, *, dtype=None, device=None):
        array(f"{name}_like", x)
        return rows[name](x.shape, dtype=dtype or x.dtype, device=device or x.device)

    create.__name__ = create.__qualname__ = f"{name}_like"
    create.__doc__ = doc
    return create


empty_like = _like("empty", "An array of any values, of the shape, dtype and device of ``x``.")
ones_like = _like("ones", "An array of ones, of the shape, dtype and device of ``x``.")
zeros_like = _like("zeros", "An array of zeros, of the shape, dtype and device of ``x``.")


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """An array of one value, of the shape, dtype and device of ``x``."""
    array("full_like", x)
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device or x.device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """A matrix with ones on its ``k``-th diagonal and zeros elsewhere."""
    made = zeros((n_rows, n_rows if n_cols is None else n_cols), dtype=dtype, device=device)
    made.diagonal(k).fill_(1)
    return made


def tril(x, /, *, k=0):
    """The lower triangle of matrices, up to their ``k``-th diagonal; zeros elsewhere."""
    return rows["tril"](array("tril", x), k)


def triu(x, /, *, k=0):
    """The upper triangle of matrices, from their ``k``-th diagonal on; zeros elsewhere."""
    return rows["triu"](array("triu", x), k)


def meshgrid(*arrays, indexing="xy"):
    """A grid for each of the 1-d arrays, all of the shape that they span; ``"xy"`` exchanges the first two."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', not {indexing!r}")
    if not arrays:
        return ()
    return tuple(rows["meshgrid"](list(promoted(*arrays)), indexing=indexing))



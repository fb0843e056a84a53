"""Linear algebra of the module whose arguments torch arranges in Python, and what torch has removed."""

from ._C import Tensor, _functions
from ._functions import both, function, spread


@function
def chain_matmul(*matrices, out=None):
    """The product of matrices in the order that takes the fewest multiplications."""
    return _functions["chain_matmul"](spread(matrices), out=out)


@function
def lu(A, pivot=True, get_infos=False, out=None):
    """``A = P L U`` in one matrix, and the row exchanges; with ``get_infos`` what went wrong, an int32 a matrix."""
    made = _functions["linalg_lu_factor_ex"](A, pivot=pivot)
    if not get_infos and bool(made.info.any()):
        raise RuntimeError("lu: a matrix is singular; get_infos=True says which")
    parts = tuple(made) if get_infos else tuple(made)[:2]
    if out is None:
        return parts
    for target, part in zip(out, parts):
        target.resize_as_(part).copy_(part)
    return out


Tensor.lu = lambda self, pivot=True, get_infos=False: lu(self, pivot, get_infos)


def _removed(name, instead, method=True):
    def gone(*args, **kwargs):
        raise RuntimeError(f"{name} is no longer part of torch; use {instead}")

    gone.__name__ = gone.__qualname__ = name
    gone.__doc__ = f"Removed from torch; use ``{instead}``."
    (both if method else function)(gone)


_removed("cholesky", "linalg.cholesky")
_removed("eig", "linalg.eig")
_removed("lstsq", "linalg.lstsq, with the arguments the other way round")
_removed("matrix_rank", "linalg.matrix_rank", method=False)
_removed("qr", "linalg.qr")
_removed("solve", "linalg.solve, with the arguments the other way round")
_removed("symeig", "linalg.eigh")

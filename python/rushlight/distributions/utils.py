"""What distributions share: broadcast parameters, logits and probabilities, values computed once."""

from functools import update_wrapper

import rushlight as torch

from .._C import Tensor

__all__ = """broadcast_all logits_to_probs clamp_probs probs_to_logits lazy_property tril_matrix_to_vec
    vec_to_tril_matrix""".split()

euler_constant = 0.57721566490153286060


def broadcast_all(*values):
    """The values as tensors of one shape; numbers take the dtype of the tensors.

    ValueError: something else than tensors and numbers.
    """
    for v in values:
        if not isinstance(v, (Tensor, int, float, complex)):
            raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__.")
    like = next((v for v in values if isinstance(v, Tensor)), None)
    if like is None:
        made = [torch.tensor(v, dtype=torch.get_default_dtype()) for v in values]
    else:
        made = [v if isinstance(v, Tensor) else torch.tensor(v, dtype=like.dtype, device=like.device) for v in values]
    return torch.broadcast_tensors(*made)


def _standard_normal(shape, dtype, device):
    return torch.randn(shape, dtype=dtype, device=device)


def _uniform_open(shape, dtype, device):
    """Uniform numbers in ``(0, 1)``, both ends left out."""
    info = torch.finfo(dtype)
    return torch.rand(shape, dtype=dtype, device=device).clamp(min=info.tiny, max=1 - info.eps)


def _sum_rightmost(value, dim):
    """The sum over the last ``dim`` dimensions."""
    return value if dim == 0 else value.reshape(value.shape[: value.dim() - dim] + (-1,)).sum(-1)


def logits_to_probs(logits, is_binary=False):
    """Probabilities of log-odds, or of unnormalised logarithms along the last dimension."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def clamp_probs(probs):
    """Probabilities kept off 0 and 1 by the dtype's precision."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    """Log-odds of probabilities, or their logarithms."""
    p = clamp_probs(probs)
    return p.log() - (-p).log1p() if is_binary else p.log()


class lazy_property:
    """A property that is computed once, and then is an attribute."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        update_wrapper(self, wrapped)

    def __get__(self, instance, owner=None):
        if instance is None:
            return _Described(self.wrapped)
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _Described(property):
    """What a lazy property is on the class."""

    def __init__(self, wrapped):
        super().__init__(wrapped)


def tril_matrix_to_vec(mat, diag=0):
    """The lower triangle, row by row."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = torch.tril_indices(n, n, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec, diag=0):
    """A matrix with this lower triangle. ValueError: no triangle has so many entries."""
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if not round(n) - n == 0 and abs(n - round(n)) > 1e-9:
        raise ValueError(f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as the lower triangular part of a square D x D matrix.")
    n = round(n)
    rows, columns = torch.tril_indices(n, n, diag)
    flat = torch.zeros(vec.shape[:-1] + (n * n,), dtype=vec.dtype, device=vec.device)
    places = (rows * n + columns).expand(vec.shape)
    return flat.scatter(-1, places, vec).reshape(vec.shape[:-1] + (n, n))

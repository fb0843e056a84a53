"""Embeddings."""

from ... import _C
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module

__all__ = ["Embedding", "EmbeddingBag"]


def _row(name, padding_idx, rows):
    """A row's number from the front; None for none."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError(f"{name}: padding_idx {padding_idx} is no row of {rows}")
    return padding_idx + rows if padding_idx < 0 else padding_idx


class _Table(Module):
    """Rows that are learned."""

    def _start(self, _weight, freeze, device, dtype):
        size = [self.num_embeddings, self.embedding_dim]
        if _weight is None:
            self.weight = Parameter(_C._functions["empty"](size, device=device, dtype=dtype), requires_grad=not freeze)
            self.reset_parameters()
            return
        if list(_weight.shape) != size:
            raise AssertionError(f"{type(self).__name__}: _weight has shape {list(_weight.shape)}; {size} fits")
        self.weight = Parameter(_weight, requires_grad=not freeze)

    def reset_parameters(self):
        """Normal numbers again, and zeros in the row of padding."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self):
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])


class Embedding(_Table):
    """One row of ``embedding_dim`` numbers for each index: [*] to [*, embedding_dim].

    ``padding_idx``: a row that starts as zeros and gets no gradient. ``max_norm``: longer rows are shortened,
    in place, when they are used.
    """

    __constants__ = "num_embeddings embedding_dim padding_idx max_norm norm_type scale_grad_by_freq sparse".split()

    def __init__(
        self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
        sparse=False, _weight=None, _freeze=False, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = _row("Embedding", padding_idx, num_embeddings)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self._start(_weight, _freeze, device, dtype)

    def forward(self, input):
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self):
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return text + (", sparse=True" if self.sparse is not False else "")

    @classmethod
    def from_pretrained(
        cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False
    ):
        """An embedding of these rows, which are not learned unless ``freeze`` is False."""
        if embeddings.ndim != 2:
            raise AssertionError(f"Embedding.from_pretrained: takes a matrix, not {embeddings.ndim} dimensions")
        return cls(
            *embeddings.shape, _weight=embeddings, _freeze=freeze, padding_idx=padding_idx, max_norm=max_norm,
            norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse,
        )  # fmt: skip


class EmbeddingBag(_Table):
    """Sums, means or maxima (``mode``) of bags of rows: [B, n], or a vector and the offsets where bags begin, to [B, embedding_dim]."""

    __constants__ = """num_embeddings embedding_dim max_norm norm_type scale_grad_by_freq mode sparse include_last_offset
        padding_idx""".split()

    def __init__(
        self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean",
        sparse=False, _weight=None, include_last_offset=False, padding_idx=None, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.padding_idx = _row("EmbeddingBag", padding_idx, num_embeddings)
        self._start(_weight, False, device, dtype)
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
            per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self):
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        text += f", mode={self.mode!r}"
        return text + (f", padding_idx={self.padding_idx}" if self.padding_idx is not None else "")

    @classmethod
    def from_pretrained(
        cls, embeddings, freeze=True, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean", sparse=False,
        include_last_offset=False, padding_idx=None,
    ):  # fmt: skip
        """Bags of these rows, which are not learned unless ``freeze`` is False."""
        if embeddings.ndim != 2:
            raise AssertionError(f"EmbeddingBag.from_pretrained: takes a matrix, not {embeddings.ndim} dimensions")
        made = cls(
            *embeddings.shape, _weight=embeddings, max_norm=max_norm, norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq, mode=mode, sparse=sparse, include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )  # fmt: skip
        made.weight.requires_grad = not freeze
        return made

"""Attention whose scores a function of one's own changes.

Such functions take a score and the numbers of batch, head, query and key. Here they are called once, with tensors that
broadcast against each other, so they must be made of operations on tensors.
"""

from ... import _C
from ..._C import _functions as _rows

__all__ = """BlockMask flex_attention create_block_mask create_mask or_masks and_masks noop_mask""".split()


def noop_mask(batch, head, token_q, token_kv):
    """Hides nothing."""
    return batch.new_ones((), dtype=_C.bool)


def or_masks(*mask_mods):
    """Shows what any of these shows."""

    def mask_mod(b, h, q, kv):
        shown = b.new_zeros((), dtype=_C.bool)
        for mod in mask_mods:
            shown = shown | mod(b, h, q, kv)
        return shown

    return mask_mod


def and_masks(*mask_mods):
    """Shows what all of these show."""

    def mask_mod(b, h, q, kv):
        shown = b.new_ones((), dtype=_C.bool)
        for mod in mask_mods:
            shown = shown & mod(b, h, q, kv)
        return shown

    return mask_mod


def _places(sizes, device):
    """The numbers along each of four dimensions, to broadcast."""
    for k, n in enumerate(sizes):
        yield _rows["arange"](0, n, device=device).reshape([-1 if j == k else 1 for j in range(4)])


def create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device=None):
    """The mask [B, H, Q, KV] that a mask function shows, or the scores that a score function makes of zeros; None is 1."""
    import inspect

    sizes = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    places = list(_places(sizes, "cpu" if device is None else device))
    count = len([p for p in inspect.signature(mod_fn).parameters.values() if p.default is p.empty and p.kind is not p.VAR_POSITIONAL])
    if count == 5:
        return mod_fn(_rows["zeros"](sizes, device=places[0].device), *places).expand(sizes)
    return mod_fn(*places).expand(sizes)


class BlockMask:
    """A mask function and the sizes it was made for. Every block is computed here, so no list of them is kept."""

    def __init__(self, mask_mod, mask, block_size=(128, 128)):
        self.mask_mod, self._mask, self.BLOCK_SIZE = mask_mod, mask, block_size

    @property
    def shape(self):
        """[B, H, Q, KV]."""
        return tuple(self._mask.shape)

    def numel(self):
        """How many pairs of queries and keys there are."""
        return self._mask.numel()

    def sparsity(self):
        """The part of pairs, in percent, that is hidden."""
        return 100.0 * (1.0 - self._mask.sum().item() / max(self._mask.numel(), 1))

    def to(self, device):
        """On another device."""
        return BlockMask(self.mask_mod, self._mask.to(device), self.BLOCK_SIZE)


def create_block_mask(
    mask_mod, B, H, Q_LEN, KV_LEN, device=None, BLOCK_SIZE=128, _compile=False, separate_full_blocks=True,
    compute_dq_write_order=False, dq_kv_order=True,
):  # fmt: skip
    """The mask of a function, for ``flex_attention``. Sizes of blocks change nothing here."""
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
    return BlockMask(mask_mod, create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device), size)


def flex_attention(
    query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, return_lse=False,
    kernel_options=None, *, return_aux=None,
):  # fmt: skip
    """``softmax(score_mod(query @ key^T * scale)) @ value`` where the mask shows: query [B, H, L, E], key and value [B, H, S, E].

    ``enable_gqa``: each head of key and value serves several of query. ``return_lse``: also the logarithm of each sum
    of exponentials, [B, H, L]. A query that sees nothing gives zeros.
    """
    if query.ndim != 4 or key.ndim != 4 or value.ndim != 4:
        raise ValueError("flex_attention: query, key and value must have 4 dimensions")
    if return_aux is not None:
        raise NotImplementedError("flex_attention: return_aux is not known here; return_lse gives the sums")
    heads = query.shape[1]
    if key.shape[1] != heads:
        if not enable_gqa or heads % key.shape[1]:
            raise ValueError(f"flex_attention: {heads} heads of query and {key.shape[1]} of key; enable_gqa needs a multiple")
        key, value = (x.repeat_interleave(heads // x.shape[1], 1) for x in (key, value))
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if score_mod is not None:
        scores = score_mod(scores, *_places(scores.shape, query.device)).to(query.dtype)
    if block_mask is not None:
        shown = block_mask._mask
        if tuple(shown.shape[-2:]) != tuple(scores.shape[-2:]):
            raise ValueError(f"flex_attention: a mask of {list(shown.shape[-2:])} for scores of {list(scores.shape[-2:])}")
        scores = scores.masked_fill(~shown, float("-inf"))
    blind = (scores == float("-inf")).all(-1, keepdim=True)
    weights = scores.softmax(-1).masked_fill(blind, 0.0)
    out = weights @ value
    return (out, scores.logsumexp(-1)) if return_lse else out

"""Masks of attention that say what they are."""

from enum import IntEnum, auto

from ..._C import Tensor, _functions

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """Which corner the last query (or the first) sees: that of the last key, or of the first."""

    UPPER_LEFT = auto()
    LOWER_RIGHT = auto()


class CausalBias(Tensor):
    """A mask [L, S], true where a query sees a key; for ``attn_mask`` of ``scaled_dot_product_attention``."""

    def __new__(cls, variant, seq_len_q, seq_len_kv):
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"CausalBias: takes a CausalVariant, not {variant!r}")
        from ... import bool as dtype

        shift = 0 if variant == CausalVariant.UPPER_LEFT else seq_len_kv - seq_len_q
        made = Tensor.__new__(cls, _functions["ones"]((seq_len_q, seq_len_kv), dtype=dtype).tril(shift))
        made.variant, made.seq_len_q, made.seq_len_kv = variant, seq_len_q, seq_len_kv
        return made


def _pair(name, size):
    if len(size) != 2:
        raise AssertionError(f"{name}: takes the lengths of queries and keys, got {len(size)} numbers")
    return size


def causal_upper_left(*size):
    """Query ``i`` sees keys up to ``i``: [L, S]."""
    return CausalBias(CausalVariant.UPPER_LEFT, *_pair("causal_upper_left", size))


def causal_lower_right(*size):
    """The last query sees all keys, the one before all but the last, and so on: [L, S]."""
    return CausalBias(CausalVariant.LOWER_RIGHT, *_pair("causal_lower_right", size))

"""Attention of several heads."""

from ... import _C
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module

_empty = _C._functions["empty"]


class MultiheadAttention(Module):
    """Attention of ``num_heads`` heads, as in Vaswani et al. 2017.

    query [L, N, embed_dim], key [S, N, kdim], value [S, N, vdim]; [N, L, ..] with ``batch_first``; N may be
    missing. Gives [L, N, embed_dim] and, if ``need_weights``, the weights: [N, L, S], the mean over heads, or
    [N, heads, L, S]. ``add_bias_kv`` adds a learned key and value, ``add_zero_attn`` one of zeros.
    """

    __constants__ = ["batch_first"]

    def __init__(
        self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None,
        vdim=None, batch_first=False, device=None, dtype=None,
    ):  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"MultiheadAttention: embed_dim and num_heads must be positive, got {embed_dim} and {num_heads}")
        super().__init__()
        like = {"device": device, "dtype": dtype}
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads, self.dropout, self.batch_first = num_heads, dropout, batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError(f"MultiheadAttention: {num_heads} heads do not divide embed_dim {embed_dim}")
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(_empty((3 * embed_dim, embed_dim), **like))
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = Parameter(_empty((embed_dim, embed_dim), **like))
            self.k_proj_weight = Parameter(_empty((embed_dim, self.kdim), **like))
            self.v_proj_weight = Parameter(_empty((embed_dim, self.vdim), **like))
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = Parameter(_empty(3 * embed_dim, **like))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **like)
        if add_bias_kv:
            self.bias_k = Parameter(_empty((1, 1, embed_dim), **like))
            self.bias_v = Parameter(_empty((1, 1, embed_dim), **like))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self):
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("_qkv_same_embed_dim", True)

    def forward(
        self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True,
        is_causal=False,
    ):  # fmt: skip
        turned = self.batch_first and query.ndim == 3
        if turned:
            # What is one tensor stays one.
            q = query.transpose(1, 0)
            k = q if key is query else key.transpose(1, 0)
            query, key, value = q, k, (k if value is key else value.transpose(1, 0))
        apart = {} if self._qkv_same_embed_dim else {
            "use_separate_proj_weight": True, "q_proj_weight": self.q_proj_weight,
            "k_proj_weight": self.k_proj_weight, "v_proj_weight": self.v_proj_weight,
        }  # fmt: skip
        out, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias,
            training=self.training, key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            average_attn_weights=average_attn_weights, is_causal=is_causal, **apart,
        )  # fmt: skip
        return (out.transpose(1, 0) if turned else out), weights

    def merge_masks(self, attn_mask, key_padding_mask, query):
        """The two masks as one, and which kind it is: 0 attention, 1 padding, 2 both; None where there is none."""
        if key_padding_mask is None:
            return attn_mask, (None if attn_mask is None else 0)
        if attn_mask is None:
            return key_padding_mask, 1
        batch, length = query.shape[0], key_padding_mask.shape[1]
        wide = attn_mask.reshape(batch, self.num_heads, *attn_mask.shape[1:]) if attn_mask.ndim == 3 else attn_mask.expand(batch, self.num_heads, -1, -1)
        return wide + key_padding_mask.reshape(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1), 2

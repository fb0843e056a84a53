"""Attention."""

from .._C import _functions as _rows

scaled_dot_product_attention = _rows["scaled_dot_product_attention"]


def _additive(mask, name, dtype):
    """A mask as floats that are added to the scores."""
    if mask is None:
        return None
    if mask.dtype.is_floating_point:
        return mask.to(dtype)
    if str(mask.dtype) not in ("torch.bool", "torch.uint8"):
        raise AssertionError(f"{name}: must be bool or floats, not {mask.dtype}")
    return mask.new_zeros(mask.shape, dtype=dtype).masked_fill_(mask.bool(), float("-inf"))


def _projected(query, key, value, weights, bias, size):
    """Query, key and value each through their own part of the projection."""
    parts = [None] * 3 if bias is None else bias.chunk(3)
    for x, w in zip((query, key, value), weights):
        if x.shape[-1] != w.shape[1]:
            raise AssertionError(f"multi_head_attention_forward: an input of {x.shape[-1]} features meets a weight of {w.shape[1]}")
    return [_rows["linear"](x, w, b) for x, w, b in zip((query, key, value), weights, parts)]


def multi_head_attention_forward(
    query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
    dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None,
    use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None,
    static_v=None, average_attn_weights=True, is_causal=False,
):  # fmt: skip
    """Attention of several heads; query [L, N, E], key and value [S, N, E]. Gives [L, N, E] and the weights, if wanted."""
    name = "multi_head_attention_forward"
    alone = query.ndim == 2
    if alone:
        query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    if query.ndim != 3 or key.ndim != 3 or value.ndim != 3:
        raise AssertionError(f"{name}: query, key and value must have two or three dimensions alike")
    length, batch, size = query.shape
    if size != embed_dim_to_check:
        raise AssertionError(f"{name}: the query has {size} features; {embed_dim_to_check} are expected")
    if size % num_heads:
        raise AssertionError(f"{name}: {num_heads} heads do not divide {size} features")
    if key.shape[:2] != value.shape[:2]:
        raise AssertionError(f"{name}: key and value have shapes {list(key.shape)} and {list(value.shape)}")
    if is_causal and attn_mask is None:
        raise RuntimeError(f"{name}: is_causal says of attn_mask that it is causal; give it")
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        is_causal = False
        attn_mask = _additive(attn_mask, name, query.dtype)
    key_padding_mask = _additive(key_padding_mask, name, query.dtype)
    if use_separate_proj_weight:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    else:
        weights = in_proj_weight.chunk(3)
    q, k, v = _projected(query, key, value, weights, in_proj_bias, size)
    if attn_mask is not None:
        attn_mask = attn_mask.unsqueeze(0) if attn_mask.ndim == 2 else attn_mask
        want = [(1, length, key.shape[0]), (batch * num_heads, length, key.shape[0])]
        if tuple(attn_mask.shape) not in want:
            raise RuntimeError(f"{name}: attn_mask has shape {list(attn_mask.shape)}; {want[0]} or {want[1]} fit")

    def longer(mask):
        return None if mask is None else _rows["constant_pad_nd"](mask, [0, 1])

    if bias_k is not None and bias_v is not None:
        k = _rows["cat"]([k, bias_k.repeat(1, batch, 1)])
        v = _rows["cat"]([v, bias_v.repeat(1, batch, 1)])
        attn_mask, key_padding_mask = longer(attn_mask), longer(key_padding_mask)
    each = size // num_heads

    def heads(x, static):
        return x.reshape(x.shape[0], batch * num_heads, each).transpose(0, 1) if static is None else static

    q, k, v = heads(q, None), heads(k, static_k), heads(v, static_v)
    if add_zero_attn:
        k, v = (_rows["cat"]([x, x.new_zeros(x.shape[0], 1, each)], 1) for x in (k, v))
        attn_mask, key_padding_mask = longer(attn_mask), longer(key_padding_mask)
    source = k.shape[1]
    if key_padding_mask is not None:
        if tuple(key_padding_mask.shape) != (batch, source):
            raise AssertionError(f"{name}: key_padding_mask has shape {list(key_padding_mask.shape)}; {[batch, source]} fits")
        padding = key_padding_mask.reshape(batch, 1, 1, source).expand(-1, num_heads, -1, -1).reshape(batch * num_heads, 1, source)
        attn_mask = padding if attn_mask is None else attn_mask + padding
    dropout_p = dropout_p if training else 0.0
    if need_weights:
        scores = q * each**-0.5 @ k.transpose(-2, -1)
        weights = (scores if attn_mask is None else scores + attn_mask).softmax(-1)
        weights = _rows["dropout"](weights, dropout_p, True) if dropout_p > 0.0 else weights
        out = weights @ v
    else:
        if attn_mask is not None:
            attn_mask = attn_mask.unsqueeze(0) if attn_mask.shape[0] == 1 else attn_mask.reshape(batch, num_heads, -1, source)
        q, k, v = (x.reshape(batch, num_heads, -1, each) for x in (q, k, v))
        out = scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal).reshape(batch * num_heads, length, each)
    out = _rows["linear"](out.transpose(0, 1).reshape(length * batch, size), out_proj_weight, out_proj_bias).reshape(length, batch, -1)
    if need_weights:
        weights = weights.reshape(batch, num_heads, length, source)
        weights = weights.mean(1) if average_attn_weights else weights
        weights = weights.squeeze(0) if alone else weights
    return (out.squeeze(1) if alone else out), (weights if need_weights else None)


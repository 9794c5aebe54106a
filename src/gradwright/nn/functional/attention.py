"""Attention: each query takes the mean of the values, weighted by how well their keys fit it."""

from __future__ import annotations

import math
from typing import Any

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.errors import size
from gradwright.engine.apply import apply
from gradwright.engine.numbers import number
from gradwright.face.creation import full
from gradwright.face.functions import elementwise as e
from gradwright.face.functions import reduce as _reduce
from gradwright.face.functions.activation import floating_arg
from gradwright.face.functions.algebra.linalg import linear, matmul
from gradwright.face.functions.join import cat, chunk
from gradwright.face.tensor import Tensor
from gradwright.nn.functional.dropout import dropout
from gradwright.ops.activation import masked_softmax

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]

_MINUS = float("-inf")


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
                                 dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
                                 enable_gqa: bool = False) -> Tensor:  # fmt: skip
    """softmax(scale q k^T + mask) v for q (..., l, d), k (..., s, d), v (..., s, e): (..., l, e).

    ``scale`` is 1/sqrt(d) unless given. A boolean mask (..., l, s) is True where a query may see a key; another is
    added. ``is_causal`` lets query i see the keys up to i. A query that may see nothing gets 0. ``dropout_p`` drops
    weights. ``enable_gqa`` shares each head of k and v (dim -3) among several of q.

    Raises RuntimeError for tensors of fewer than 2 dims or of different dtypes, and for both masks at once.

    >>> q = k = gw.zeros(2, 4)
    >>> gw.nn.functional.scaled_dot_product_attention(q, k, gw.tensor([[1.0], [3.0]]), is_causal=True)
    tensor([[1.],
            [2.]])
    """
    q, k, v = (floating_arg("scaled_dot_product_attention", x, name)
               for name, x in (("query", query), ("key", key), ("value", value)))  # fmt: skip
    for name, x in (("key", k), ("value", v)):
        if backends.differ("scaled_dot_product_attention", x.array, q.array):
            raise RuntimeError("Expected query, key, and value to have the same dtype, but got query.dtype: "
                               f"{q.dtype} and {name}.dtype: {x.dtype} instead. Convert one: "
                               f"{name}.to({q.dtype})")  # fmt: skip
    if min(x.array.ndim for x in (q, k, v)) < 2:
        got = ", ".join(size(x.array.shape) for x in (q, k, v))
        raise RuntimeError(f"scaled_dot_product_attention(): expected tensors of at least 2 dims, but got sizes {got}")
    if is_causal and attn_mask is not None:
        raise RuntimeError("scaled_dot_product_attention(): Explicit attn_mask should not be set when is_causal=True")
    if enable_gqa:
        k, v = (_shared(x, q.array.shape[-3]) for x in (k, v))
    if is_causal:
        attn_mask = full((q.array.shape[-2], k.array.shape[-2]), _MINUS, dtype=q.dtype, device=q.device)
        attn_mask = attn_mask.triu(1)
    elif attn_mask is not None and attn_mask.dtype is dtypes.boolean:
        attn_mask = e.where(attn_mask, 0.0, _MINUS)
    return attend(q, k, v, attn_mask, dropout_p, scale)[0]


def _shared(x: Any, heads: int) -> Any:
    """Each head of ``x`` (..., h, s, d) repeated, heads / h times in a row."""
    *lead, own, length, width = x.array.shape
    if heads % own:
        raise RuntimeError(f"scaled_dot_product_attention(): {heads} heads of query do not divide into {own} of key")
    return x.unsqueeze(-3).expand(*lead, own, heads // own, length, width).reshape(*lead, heads, length, width)


def attend(q: Any, k: Any, v: Any, mask: Any, dropout_p: float, scale: float | None = None) -> tuple[Any, Any]:
    """The mean of the values for each query, and the weights it was taken with; the mask is added to the scores."""
    scores = matmul(q * (1 / math.sqrt(q.array.shape[-1] or 1) if scale is None else scale), k.transpose(-2, -1))
    if mask is None:
        weights = _reduce.softmax(scores, -1)
    else:
        weights = apply(masked_softmax, (scores, mask.to(scores.dtype)), {"axis": -1})
    weights = dropout(weights, dropout_p) if number("attention", "dropout_p", dropout_p) else weights
    return matmul(weights, v), weights


def _added(mask: Any, like: Any, name: str) -> Any:
    """A mask as numbers to be added: -inf where a boolean one is True."""
    if mask is None or dtypes.kind(mask.array.dtype) == "f":
        return mask
    if mask.dtype is not dtypes.boolean:
        raise AssertionError(f"only bool and floating types of {name} are supported, but got {mask.dtype}")
    return e.where(mask, _MINUS, 0.0).to(like.dtype)


def _projected(inputs: tuple[Any, ...], separate: Any, packed: Any, bias: Any) -> Any:
    """Queries, keys and values, each by its own weight and third of the bias: at once if they are one tensor."""
    if packed is not None and inputs[0] is inputs[1] is inputs[2]:
        return chunk(linear(inputs[0], packed, bias), 3, -1)
    each = chunk(packed, 3) if packed is not None else separate
    biases = chunk(bias, 3) if bias is not None else (None, None, None)
    return [linear(x, w, b) for x, w, b in zip(inputs, each, biases, strict=True)]


def multi_head_attention_forward(query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
                                 in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None,
                                 bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor,
                                 out_proj_bias: Tensor | None, training: bool = True,
                                 key_padding_mask: Tensor | None = None, need_weights: bool = True,
                                 attn_mask: Tensor | None = None, use_separate_proj_weight: bool = False,
                                 q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None,
                                 v_proj_weight: Tensor | None = None, static_k: Tensor | None = None,
                                 static_v: Tensor | None = None, average_attn_weights: bool = True,
                                 is_causal: bool = False, batch_first: bool = False) -> tuple[Tensor,
                                 Tensor | None]:  # fmt: skip
    """Attention in ``num_heads`` parts of the width, between projections: query (l, n, width) gives (l, n, width).

    Keys and values are (s, n, ...); all three may leave out n. The second result is the weights (n, l, s), averaged
    over the heads or (n, heads, l, s), or None unless ``need_weights``. Masks are True, or -inf, where a key must not
    be seen: ``key_padding_mask`` (n, s), ``attn_mask`` (l, s) or (n heads, l, s). ``bias_k`` and ``bias_v`` are one key
    and value more, ``add_zero_attn`` adds one of zeros. ``is_causal`` says that ``attn_mask`` is the causal one. With
    ``batch_first``, query, key, value and result are (n, l, ...).

    Weights: ``in_proj_weight`` (3 width, width) and ``in_proj_bias`` (3 width,), ``out_proj_weight`` (width, width);
    see `nn.MultiheadAttention`. Raises AssertionError for dims, sizes or dtypes that do not fit.

    >>> layer = gw.nn.MultiheadAttention(4, 2)
    >>> x = gw.ones(3, 1, 4)
    >>> out, weights = gw.nn.functional.multi_head_attention_forward(
    ...     x, x, x, 4, 2, layer.in_proj_weight, layer.in_proj_bias, None, None, False, 0.0,
    ...     layer.out_proj.weight, layer.out_proj.bias)
    >>> out.shape, weights.shape
    (torch.Size([3, 1, 4]), torch.Size([1, 3, 3]))
    """
    _check_dims(query, key, value, key_padding_mask, attn_mask)
    single, time, batch_dim = query.ndim == 2, int(batch_first), int(not batch_first)
    if single:
        same = query is key is value
        query, key, value = (x.unsqueeze(batch_dim) for x in (query, key, value))
        key, value = (query, query) if same else (key, value)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    (length, batch, width), swapped = query.array.shape, (1, 2, 0, 3)
    if batch_first:
        length, batch, swapped = batch, length, (0, 2, 1, 3)
    if width != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}")
    if width % num_heads:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {num_heads}")
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
                           "`generate_square_subsequent_mask` to create this mask.")  # fmt: skip
    pair = key.array.shape, value.array.shape
    if use_separate_proj_weight and pair[0][:2] != pair[1][:2]:
        raise AssertionError(
            f"key's sequence and batch dims {size(pair[0][:2])} do not match value's {size(pair[1][:2])}"
        )
    if not use_separate_proj_weight and pair[0] != pair[1]:
        raise AssertionError(f"key shape {size(pair[0])} does not match value shape {size(pair[1])}")
    packed = None if use_separate_proj_weight else in_proj_weight
    separate = (q_proj_weight, k_proj_weight, v_proj_weight)
    q, k, v = _projected((query, key, value), separate, packed, in_proj_bias)
    padding, mask = _added(key_padding_mask, q, "key_padding_mask"), _added(attn_mask, q, "attn_mask")
    extra = 0
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("of bias_k and bias_v only one is given")
    if bias_k is not None and bias_v is not None:
        row = (batch, 1, width) if batch_first else (1, batch, width)
        k, v = (cat([x, b.expand(row)], time) for x, b in ((k, bias_k), (v, bias_v)))
        extra += 1

    def heads(x: Any) -> Any:
        return x.reshape(*x.array.shape[:2], num_heads, x.array.shape[2] // num_heads).permute(swapped)

    q, k, v = heads(q), heads(k), heads(v)
    if static_k is not None:
        k = static_k.reshape(batch, num_heads, *static_k.shape[1:])
    if static_v is not None:
        v = static_v.reshape(batch, num_heads, *static_v.shape[1:])
    if add_zero_attn:
        k, v = (cat([x, x.new_zeros((batch, num_heads, 1, x.size(-1)))], 2) for x in (k, v))
        extra += 1
    keys = k.array.shape[2]
    if mask is not None:
        wanted = (length, keys - extra) if mask.ndim == 2 else (batch * num_heads, length, keys - extra)
        if mask.array.shape != wanted:
            raise RuntimeError(f"The shape of the {mask.ndim}D attn_mask is {size(mask.array.shape)}, but should be "
                               f"{size(wanted)}.")  # fmt: skip
        mask = _widened(mask, extra)
        mask = mask if mask.ndim == 2 else mask.reshape(batch, num_heads, length, keys)
    if padding is not None:
        if padding.array.shape != (batch, keys - extra):
            raise RuntimeError(f"key_padding_mask should have shape {size((batch, keys - extra))}, but got "
                               f"{size(padding.array.shape)}")  # fmt: skip
        padding = _widened(padding, extra).reshape(batch, 1, 1, keys)
        mask = padding if mask is None else mask + padding
    out, weights = attend(q, k, v, mask, dropout_p if training else 0.0)
    joined = out.permute((0, 2, 1, 3) if batch_first else (2, 0, 1, 3)).reshape(query.shape)
    out = linear(joined, out_proj_weight, out_proj_bias)
    if need_weights and average_attn_weights:
        weights = weights.mean(1)
    if single:
        out, weights = out.squeeze(batch_dim), weights.squeeze(0)
    return out, weights if need_weights else None


def _check_dims(query: Any, key: Any, value: Any, padding: Any, mask: Any) -> None:
    """AssertionError unless key, value and masks have the numbers of dims that go with the query's."""
    dims = query.ndim
    if dims not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor")
    start = f"For {'batched' if dims == 3 else 'unbatched'} ({dims}-D) `query`, expected"
    if not key.ndim == value.ndim == dims:
        raise AssertionError(f"{start} `key` and `value` to be {dims}-D but found {key.ndim}-D and {value.ndim}-D "
                             "tensors respectively")  # fmt: skip
    for name, given, wanted, told in (("key_padding_mask", padding, (dims - 1,), f" or {dims - 1}-D"),
                                      ("attn_mask", mask, (2, 3), ", 2-D or 3-D")):  # fmt: skip
        if given is not None and given.ndim not in wanted:
            raise AssertionError(f"{start} `{name}` to be `None`{told} but found {given.ndim}-D tensor instead")


def _widened(mask: Any, extra: int) -> Any:
    """The mask with columns of zeros for keys that were added."""
    return cat([mask, mask.new_zeros((*mask.shape[:-1], extra))], -1) if extra else mask

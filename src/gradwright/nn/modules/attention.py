"""Multi-head attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwright.nn import functional as F
from gradwright.nn import init
from gradwright.nn.modules.linear import Linear
from gradwright.nn.modules.parametric import Parametric, check_whole
from gradwright.nn.parameter import Parameter

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, Tensor

__all__ = ["MultiheadAttention"]



class NonDynamicallyQuantizableLinear(Linear):
    """A `Linear`, by the name under which PyTorch prints that of an attention's output."""


class MultiheadAttention(Parametric):
    """softmax(q k^T / sqrt(d)) v of projected queries, keys and values for each head; all heads together, projected.

    Args:
        embed_dim: the last size of the query and of the result.
        num_heads: the number of heads, of size d = embed_dim / num_heads each.
        dropout: the probability with which a weight is dropped in training.
        bias: whether the projections have biases.
        add_bias_kv: append a learnt key and value to the others.
        add_zero_attn: append a key and value of zeros.
        kdim: the last size of the keys; embed_dim if None.
        vdim: the last size of the values; embed_dim if None.
        batch_first: whether query, key, value and result are (n, t, ...), not (t, n, ...).
        device: where the parameters live.
        dtype: their dtype; the default one (float32) if None.

    Attributes: ``in_proj_weight`` (3 embed_dim, embed_dim), or if kdim or vdim is another ``q_proj_weight``,
    ``k_proj_weight`` and ``v_proj_weight``, Xavier uniform; ``in_proj_bias`` (3 embed_dim,), 0; ``bias_k`` and
    ``bias_v`` (1, 1, embed_dim), Xavier normal, or None; ``out_proj``, a `Linear`.

    Raises ValueError for sizes that are not positive, AssertionError if num_heads does not divide embed_dim.

    >>> attend, x = MultiheadAttention(8, 2, batch_first=True), gw.ones(3, 5, 8)
    >>> y, weights = attend(x, x, x)
    >>> y.shape, weights.shape
    (torch.Size([3, 5, 8]), torch.Size([3, 5, 5]))
    """

    in_proj_weight: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: DeviceLike = None, dtype: DType = None,
    ) -> None:  # fmt: skip
        super().__init__()
        check_whole(self, embed_dim=embed_dim, num_heads=num_heads)
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError("embed_dim and num_heads must be greater than 0, got "
                             f"embed_dim={embed_dim} and num_heads={num_heads} instead")  # fmt: skip
        if embed_dim % num_heads:
            raise AssertionError(f"embed_dim must be divisible by num_heads, but got {embed_dim} and {num_heads}")
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        self.add_zero_attn = add_zero_attn
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        separate = ["q_proj_weight", "k_proj_weight", "v_proj_weight"]
        without = separate if self.kdim == self.vdim == embed_dim else ["in_proj_weight"]
        without += [] if bias else ["in_proj_bias"]
        without += [] if add_bias_kv else ["bias_k", "bias_v"]
        self._allocate(device, dtype, without)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        n = self.embed_dim
        return {"in_proj_weight": (3 * n, n), "q_proj_weight": (n, n), "k_proj_weight": (n, self.kdim),
                "v_proj_weight": (n, self.vdim), "in_proj_bias": (3 * n,), "bias_k": (1, 1, n), "bias_v": (1, 1, n),
                }  # fmt: skip

    def reset_parameters(self) -> None:
        """Draw weights and the learnt key and value anew, and set all other biases to 0."""
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)
        for row in (self.bias_k, self.bias_v):
            if row is not None:
                init.xavier_normal_(row)

    _reset_parameters = reset_parameters

    def forward(self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
                need_weights: bool = True, attn_mask: Tensor | None = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """The result, of the query's shape, and the weights of the keys, (n, t, s).

        Args:
            query: (t, n, embed_dim), or without n; see also ``batch_first``.
            key: (s, n, kdim).
            value: (s, n, vdim).
            key_padding_mask: (n, s), True or -inf at keys that no query may see. A query that may see none gets 0.
            need_weights: if False, the second result is None.
            attn_mask: (t, s), or (n num_heads, t, s): True or -inf where a query must not see a key; other numbers are
                added to the scores.
            average_attn_weights: the mean of the weights over the heads; if False, those of each, (n, num_heads, t, s).
            is_causal: says that ``attn_mask``, which must be given, is the causal one.
        """
        return F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training,
            key_padding_mask, need_weights, attn_mask, self.in_proj_weight is None, self.q_proj_weight,
            self.k_proj_weight, self.v_proj_weight, average_attn_weights=average_attn_weights, is_causal=is_causal,
            batch_first=self.batch_first,
        )  # fmt: skip

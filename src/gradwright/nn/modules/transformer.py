"""Transformers: layers of attention and of a small network at each place, both beside a path that leads past them.

Sequences are (t, n, d_model), or (n, t, d_model) with ``batch_first``, or (t, d_model). Masks are as in
`MultiheadAttention`: ``..._mask`` (t, s) between places, ``..._key_padding_mask`` (n, s), True or -inf where a place
must not be seen. The arguments that all layers have:

    d_model: the last size of the sequences.
    nhead: the number of heads of attention.
    dim_feedforward: the size between the two linear layers of the small network.
    dropout: the probability with which entries are dropped in training, after each part and within.
    activation: "relu" or "gelu" (RuntimeError for another name), or a function of a tensor.
    layer_norm_eps: the ``eps`` of `LayerNorm`.
    batch_first: see above.
    norm_first: y = x + f(norm(x)) for each part f, not y = norm(x + f(x)).
    bias: whether the linear layers and the norms have biases.
    device: where the parameters live.
    dtype: their dtype; the default one (float32) if None.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from gradwright.face.creation import full
from gradwright.nn import functional as F
from gradwright.nn import init
from gradwright.nn.container import ModuleList
from gradwright.nn.module import Module
from gradwright.nn.modules.attention import MultiheadAttention
from gradwright.nn.modules.dropout import Dropout
from gradwright.nn.modules.linear import Linear
from gradwright.nn.modules.norm import LayerNorm
from gradwright.nn.modules.parametric import check_whole

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, Tensor

__all__ = [
    "TransformerEncoderLayer", "TransformerDecoderLayer", "TransformerEncoder", "TransformerDecoder", "Transformer",
]  # fmt: skip

Activation = str | Callable[[Any], Any]


class _Layer(Module):
    """The parts of a layer, each with a norm and a dropout: attentions, and the small network."""

    _attentions: ClassVar[tuple[str, ...]]
    activation: Callable[[Any], Any]

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Activation = F.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: DeviceLike = None, dtype: DType = None,
    ) -> None:  # fmt: skip
        super().__init__()
        check_whole(self, d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        for name in self._attentions:
            made = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **place)
            self.add_module(name, made)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **place)
        self.norm_first = norm_first
        parts = range(1, len(self._attentions) + 2)
        for i in parts:
            self.add_module(f"norm{i}", LayerNorm(d_model, layer_norm_eps, bias=bias, **place))
        for i in parts:
            self.add_module(f"dropout{i}", Dropout(dropout))
        if isinstance(activation, str):
            if activation not in ("relu", "gelu"):
                raise RuntimeError(f"activation should be relu/gelu, not {activation}")
            activation = F.relu if activation == "relu" else F.gelu
        self.activation = activation

    def _past(self, norm: Any, x: Any, part: Callable[..., Any], *args: Any) -> Any:
        """x + part(x), with the norm where it belongs."""
        return x + part(norm(x), *args) if self.norm_first else norm(x + part(x, *args))

    def _sa_block(self, x: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False) -> Any:
        return self.dropout1(self.self_attn(x, x, x, key_padding_mask, False, attn_mask, is_causal=is_causal)[0])

    def _feed(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """norm2(y + f(y)) with y = norm1(x + attention(x)), f being linear, activation, dropout, linear.

    The arguments are told in the module.

    >>> TransformerEncoderLayer(8, 2, 16, batch_first=True)(gw.ones(3, 5, 8)).shape
    torch.Size([3, 5, 8])
    """

    _attentions = ("self_attn",)

    def forward(self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
                is_causal: bool = False) -> Tensor:  # fmt: skip
        """``src`` (t, n, d_model) to the same shape; ``is_causal`` says that ``src_mask`` is the causal one."""
        x = self._past(self.norm1, src, self._sa_block, src_mask, src_key_padding_mask, is_causal)
        return self._past(self.norm2, x, self._ff_block)

    def _ff_block(self, x: Any) -> Any:
        return self.dropout2(self._feed(x))


class TransformerDecoderLayer(_Layer):
    """norm3(z + f(z)) with z = norm2(y + attention of y to the memory) and y = norm1(x + attention(x)).

    f is linear, activation, dropout, linear. The arguments are told in the module.

    >>> TransformerDecoderLayer(8, 2, 16)(gw.ones(5, 3, 8), gw.ones(7, 3, 8)).shape
    torch.Size([5, 3, 8])
    """

    _attentions = ("self_attn", "multihead_attn")

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
                tgt_is_causal: bool = False, memory_is_causal: bool = False) -> Tensor:  # fmt: skip
        """``tgt`` (t, n, d_model), beside a ``memory`` (s, n, d_model), to the same shape.

        ``memory_mask`` is (t, s). ``tgt_is_causal`` and ``memory_is_causal`` say that a mask is the causal one.
        """
        x = self._past(self.norm1, tgt, self._sa_block, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        x = self._past(self.norm2, x, self._mha_block, memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        return self._past(self.norm3, x, self._ff_block)

    def _mha_block(self, x: Any, mem: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False) -> Any:
        y = self.multihead_attn(x, mem, mem, key_padding_mask, False, attn_mask, is_causal=is_causal)[0]
        return self.dropout2(y)

    def _ff_block(self, x: Any) -> Any:
        return self.dropout3(self._feed(x))


class _Stack(Module):
    def __init__(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def _through(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        for layer in self.layers:
            x = layer(x, *args, **kwargs)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """Copies of a layer, one after another, and perhaps a norm.

    Args:
        encoder_layer: a `TransformerEncoderLayer`, or a module that is called alike.
        num_layers: how many copies.
        norm: a module for the end.
        enable_nested_tensor: no effect: there are none. (PyTorch, in evaluation, gives 0 at padded places.)
        mask_check: no effect.

    >>> TransformerEncoder(TransformerEncoderLayer(8, 2, 16), 2)(gw.ones(5, 3, 8)).shape
    torch.Size([5, 3, 8])
    """

    def __init__(
        self, encoder_layer: Module, num_layers: int, norm: Module | None = None, enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(encoder_layer, num_layers, norm)
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(self, src: Tensor, mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
                is_causal: bool | None = None) -> Tensor:  # fmt: skip
        """``src`` (t, n, d_model) to the same shape; ``is_causal`` says that ``mask`` is the causal one."""
        return self._through(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask, is_causal=bool(is_causal))


class TransformerDecoder(_Stack):
    """Copies of a layer, one after another, and perhaps a norm.

    Args:
        decoder_layer: a `TransformerDecoderLayer`, or a module that is called alike.
        num_layers: how many copies.
        norm: a module for the end.

    >>> TransformerDecoder(TransformerDecoderLayer(8, 2, 16), 2)(gw.ones(5, 3, 8), gw.ones(7, 3, 8)).shape
    torch.Size([5, 3, 8])
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
                tgt_is_causal: bool | None = None, memory_is_causal: bool = False) -> Tensor:  # fmt: skip
        """``tgt`` (t, n, d_model) beside ``memory``, as in `TransformerDecoderLayer`."""
        return self._through(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=bool(tgt_is_causal),
            memory_is_causal=memory_is_causal,
        )  # fmt: skip


class Transformer(Module):
    """An encoder of the source, and a decoder of the target beside what the encoder gives.

    The arguments are told in the module, but for these:

    Args:
        num_encoder_layers: how many layers encode.
        num_decoder_layers: how many decode.
        custom_encoder: a module in place of the encoder.
        custom_decoder: one in place of the decoder.

    Matrices among the parameters are Xavier uniform. Vaswani et al., arXiv:1706.03762.

    >>> net = Transformer(8, 2, 1, 1, 16)
    >>> net(gw.ones(7, 3, 8), gw.ones(5, 3, 8), tgt_mask=net.generate_square_subsequent_mask(5)).shape
    torch.Size([5, 3, 8])
    """

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: Activation = F.relu,
        custom_encoder: Module | None = None, custom_decoder: Module | None = None, layer_norm_eps: float = 1e-5,
        batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: DeviceLike = None,
        dtype: DType = None,
    ) -> None:  # fmt: skip
        super().__init__()
        common = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias,
                  device, dtype)  # fmt: skip
        norm = (d_model, layer_norm_eps, True, bias, device, dtype)
        self.encoder = custom_encoder if custom_encoder is not None else TransformerEncoder(
            TransformerEncoderLayer(*common), num_encoder_layers, LayerNorm(*norm))  # fmt: skip
        self.decoder = custom_decoder if custom_decoder is not None else TransformerDecoder(
            TransformerDecoderLayer(*common), num_decoder_layers, LayerNorm(*norm))  # fmt: skip
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the matrices among the parameters anew."""
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)

    _reset_parameters = reset_parameters

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None,
                memory_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
                src_is_causal: bool | None = None, tgt_is_causal: bool | None = None,
                memory_is_causal: bool = False) -> Tensor:  # fmt: skip
        """``src`` (s, n, d_model) and ``tgt`` (t, n, d_model) to the shape of ``tgt``; ``memory_mask`` is (t, s).

        Raises RuntimeError if the batches or the last sizes do not fit.
        """
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal, but their shapes are "
                               f"{tuple(src.shape)} and {tuple(tgt.shape)}")  # fmt: skip
        if not src.size(-1) == tgt.size(-1) == self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model, but their shapes are "
                               f"{tuple(src.shape)} and {tuple(tgt.shape)}, and d_model is {self.d_model}")  # fmt: skip
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: DeviceLike = None, dtype: DType = None) -> Any:
        """The causal mask (sz, sz): -inf above the diagonal, 0 elsewhere.

        >>> Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        return full((sz, sz), float("-inf"), dtype=dtype, device=device).triu(1)

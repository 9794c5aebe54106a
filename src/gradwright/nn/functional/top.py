"""PyTorch's top-level forms of these functions, with arguments in another order, and those it calls native."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from gradwright.base import dtypes
from gradwright.face.creation import empty
from gradwright.face.functions.elementwise import mul
from gradwright.face.functions.forms import inplace
from gradwright.face.random.laws import tried
from gradwright.face.reference import attach
from gradwright.face.tensor import Tensor
from gradwright.nn.functional import ctc as _ctc
from gradwright.nn.functional import loss as _loss
from gradwright.nn.functional import norm as _norm
from gradwright.nn.functional import sparse as _sparse
from gradwright.nn.functional.activation import celu, celu_, relu_, rrelu, rrelu_, selu, selu_, threshold, threshold_
from gradwright.nn.functional.distance import bilinear, cosine_similarity, pairwise_distance, pdist
from gradwright.nn.functional.dropout import alpha_dropout, dropout, dropped, feature_alpha_dropout
from gradwright.nn.functional.norm import affine, per_channel, rms_norm, standardized

__all__ = [
    "alpha_dropout", "alpha_dropout_", "batch_norm", "bilinear", "binary_cross_entropy_with_logits", "celu",
    "celu_", "cosine_embedding_loss", "cosine_similarity", "ctc_loss", "dropout", "dropout_", "embedding",
    "feature_alpha_dropout", "feature_alpha_dropout_", "feature_dropout", "feature_dropout_", "group_norm",
    "hinge_embedding_loss", "instance_norm", "kl_div", "layer_norm", "margin_ranking_loss", "native_batch_norm",
    "native_dropout", "native_group_norm", "native_layer_norm", "pairwise_distance",
    "pdist", "poisson_nll_loss", "relu_", "rms_norm", "rrelu", "rrelu_", "selu", "selu_", "threshold", "threshold_",
    "triplet_margin_loss", "_batch_norm_with_update", "_native_batch_norm_legit", "_softmax_backward_data",
]  # fmt: skip


def _ordered(function: Callable[..., Tensor], parameters: str) -> Callable[..., Tensor]:
    """``function`` with its parameters in this order; a reduction may be a number."""
    names = parameters.split()

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(**dict(zip(names, args, strict=False)), **kwargs)

    call.__name__ = call.__qualname__ = function.__name__
    known = inspect.signature(function)
    vars(call)["__signature__"] = known.replace(parameters=[known.parameters[name] for name in names])
    call.__doc__ = f"`nn.functional.{function.__name__}`; the arguments are {', '.join(names)}."
    return call


ctc_loss = _ordered(_ctc.ctc_loss, "log_probs targets input_lengths target_lengths blank reduction zero_infinity")
kl_div = _ordered(_loss.kl_div, "input target reduction log_target")
binary_cross_entropy_with_logits = _ordered(
    _loss.binary_cross_entropy_with_logits, "input target weight pos_weight reduction"
)
hinge_embedding_loss = _ordered(_loss.hinge_embedding_loss, "input target margin reduction")
margin_ranking_loss = _ordered(_loss.margin_ranking_loss, "input1 input2 target margin reduction")
cosine_embedding_loss = _ordered(_loss.cosine_embedding_loss, "input1 input2 target margin reduction")
poisson_nll_loss = _ordered(_loss.poisson_nll_loss, "input target log_input full eps reduction")
triplet_margin_loss = _ordered(_loss.triplet_margin_loss, "anchor positive negative margin p eps swap reduction")

dropout_, alpha_dropout_ = inplace(dropout), inplace(alpha_dropout)
feature_alpha_dropout_ = inplace(feature_alpha_dropout)


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Whole channels (dim 1) set to 0 with probability p, the others divided by 1 - p."""
    return dropped("feature_dropout", input, p, train, False, channels=True, alpha=False)


feature_dropout_ = inplace(feature_dropout)


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """`dropout`, and which entries were kept."""
    kept = tried(1 - p if train is not False else 1, input.shape, dtypes.float32, input.device)
    return mul(input, kept.to(input.dtype) * (1 / (1 - p) if train is not False and p < 1 else 1.0)), kept


def embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False,
              sparse: bool = False) -> Tensor:  # fmt: skip
    """`nn.functional.embedding` with the table first; a negative ``padding_idx`` is none."""
    return _sparse.embedding(indices, weight, None if padding_idx < 0 else padding_idx, None, 2.0, scale_grad_by_freq)


def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-5, cudnn_enable: bool = True) -> Tensor:  # fmt: skip
    """`nn.functional.layer_norm`."""
    return _norm.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-5, cudnn_enabled: bool = True) -> Tensor:  # fmt: skip
    """`nn.functional.group_norm`."""
    return _norm.group_norm(input, num_groups, weight, bias, eps)


def batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
               running_var: Tensor | None, training: bool, momentum: float, eps: float,
               cudnn_enabled: bool = True) -> Tensor:  # fmt: skip
    """`nn.functional.batch_norm` with weight and bias first."""
    return _norm.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
                  running_var: Tensor | None, use_input_stats: bool, momentum: float, eps: float,
                  cudnn_enabled: bool = True) -> Tensor:  # fmt: skip
    """`nn.functional.instance_norm` with weight and bias first."""
    return _norm.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def native_layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None,
                      eps: float) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """`layer_norm`, the mean, and 1/sqrt(var + eps); these two as constants."""
    axis = _norm.trailing("native_layer_norm", input, normalized_shape, weight=weight, bias=bias)
    y, mean, var = standardized(input, axis, eps)
    return affine(y, weight, bias), mean.detach(), (var.detach() + eps).rsqrt()


def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`group_norm`, and the mean and 1/sqrt(var + eps) of each group, (N, group)."""
    y, mean, var = _norm.grouped(input, group, weight, bias, eps)
    return y, mean.reshape(N, group), (var + eps).rsqrt().reshape(N, group)


def native_batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
                      running_var: Tensor | None, training: bool, momentum: float, eps: float) -> tuple[Tensor,
                      ...]:  # fmt: skip
    """`batch_norm`, and the mean and 1/sqrt(var + eps) of each channel, as constants; empty if not in training."""
    if not training:
        y = _norm.batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
        return y, *(empty(0, dtype=y.dtype, device=y.device) for _ in range(2))
    y, mean, var = _norm.batch_statistics(input, running_mean, running_var, momentum, eps)
    y = affine(y, per_channel(weight, input.ndim), per_channel(bias, input.ndim))
    return y, mean.detach().reshape(-1), (var.detach() + eps).rsqrt().reshape(-1)


def _native_batch_norm_legit(input: Any, weight: Any, bias: Any, *rest: Any, **named: Any) -> tuple[Tensor, ...]:
    """`native_batch_norm`; the running statistics may be left out."""
    if rest and isinstance(rest[0], bool):
        rest = (None, None, *rest)
    return native_batch_norm(input, weight, bias, *rest, **named)


def _batch_norm_with_update(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, momentum: float, eps: float
) -> tuple[Tensor, ...]:
    """`native_batch_norm` in training, and an empty tensor."""
    results = native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return *results, empty(0, dtype=dtypes.uint8, device=input.device)


def native_dropout_backward(grad_output: Any, mask: Any, scale: float) -> Any:
    """The derivative of `native_dropout`: grad_output mask scale."""
    return mul(mul(grad_output, mask), scale)


def _softmax_backward_data(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    """The derivative of `softmax` with result ``output``: output (g - sum(g output))."""
    product = grad_output * output
    return (product - output * product.sum(dim, keepdim=True)).to(input_dtype)


attach(globals(), "layers")

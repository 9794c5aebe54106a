"""Losses between tensors of one shape, and between pairs of vectors.

Where the sizes of input and target differ and broadcast, most warn. ``reduction`` is ``"mean"``, ``"sum"`` or
``"none"`` (a loss for each entry), or else a ValueError; ``size_average`` and ``reduce`` are its old forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.errors import size
from gradwright.base.source_line import warn
from gradwright.engine.apply import apply
from gradwright.engine.numbers import number
from gradwright.face.creation import ones_like
from gradwright.face.functions import elementwise as e
from gradwright.face.functions.algebra.matrices import legacy
from gradwright.face.reading.require import require, within
from gradwright.face.reading.torch import result_type, tensor_arg, to_dtype
from gradwright.face.special_names import entr
from gradwright.face.tensor import Tensor
from gradwright.nn.functional.activation import logsigmoid
from gradwright.nn.functional.distance import pairwise_distance
from gradwright.nn.functional.reduction import mode, reduced
from gradwright.ops import loss as _ops

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "gaussian_nll_loss",
    "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "margin_ranking_loss", "mse_loss", "poisson_nll_loss",
    "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss", "triplet_margin_with_distance_loss",
]  # fmt: skip


def _pair(name: str, input: Any, target: Any) -> tuple[Any, Any]:
    """Both tensors; sizes that differ broadcast, with a warning, since that is seldom what was meant."""
    x, y = tensor_arg(name, input), tensor_arg(name, target, "target", 2)
    if x.array.shape != y.array.shape:
        warn(
            f"Using a target size ({y.shape}) that is different to the input size ({x.shape}). This will likely lead "
            "to incorrect results due to broadcasting. Please ensure they have the same size."
        )
    return x, y


def _pointwise(op: Any, x: Any, y: Any, **static: Any) -> Any:
    """An elementwise operation of two real tensors."""
    d = result_type(x, y)
    return apply(op, (to_dtype(x, d), to_dtype(y, d)), static)


def _weighted(losses: Any, input: Any, weight: Any, reduction: str, over: Any, node: str | None = None) -> Any:
    """``reduced`` for losses with a weight each; a mean is divided by ``over``."""
    if weight is None:
        return reduced(losses, reduction, node=node)
    if weight.array.shape != input.array.shape:
        raise ValueError("Weights and input must have the same size.")
    total = reduced(losses * weight, "sum" if reduction == "mean" else reduction)
    return total / over if reduction == "mean" else total


def mse_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
             reduction: str = "mean", weight: Tensor | None = None) -> Tensor:  # fmt: skip
    """The squared error (x - y)**2.

    ``weight``, of the input's size, multiplies each entry's loss; a mean is then divided by the sum of weights.

    Sizes that differ broadcast, with a warning. Raises TypeError if either is no tensor, RuntimeError if they do not.

    >>> mse_loss(gw.tensor([1.0, 2.0]), gw.tensor([1.0, 4.0]))
    tensor(2.)
    """
    how = mode(reduction, size_average, reduce)
    x, y = _pair("mse_loss", input, target)
    return _weighted(e.square(x - y), x, weight, how, None if weight is None else weight.sum(), "MseLossBackward0")


def l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
            reduction: str = "mean", weight: Tensor | None = None) -> Tensor:  # fmt: skip
    """The absolute error, abs(x - y); slope 0 where x = y. Arguments and errors are those of `mse_loss`.

    >>> gw.nn.functional.l1_loss(gw.tensor([1.0, 2.0]), gw.tensor([1.0, 4.0]))
    tensor(1.)
    """
    how = mode(reduction, size_average, reduce)
    x, y = _pair("l1_loss", input, target)
    return _weighted(e.abs(x - y), x, weight, how, None if weight is None else weight.sum())


def smooth_l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
                   reduction: str = "mean", beta: float = 1.0) -> Tensor:  # fmt: skip
    """d**2/(2 beta) for a difference d of at most beta, abs d - beta/2 beyond; beta = 0 is `l1_loss`.

    Shape: input and target alike (others broadcast, with a warning); the result () or, with "none", as they.

    Raises RuntimeError for a negative ``beta``, ValueError for another ``reduction``.

    >>> gw.nn.functional.smooth_l1_loss(gw.tensor([1.0, 3.0]), gw.tensor([0.5, 0.0]), reduction="none")
    tensor([0.1250, 2.5000])
    """
    beta = number("smooth_l1_loss", "beta", beta)
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss does not support negative values for beta, but got {beta}")
    x, y = _pair("smooth_l1_loss", input, target)
    losses = _pointwise(_ops.huber, x, y, delta=float(beta)) if beta else e.abs(x - y)
    losses = losses if beta in (0, 1) else losses / beta
    return reduced(losses, reduction, size_average, reduce, "SmoothL1LossBackward0")


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0,
               weight: Tensor | None = None) -> Tensor:  # fmt: skip
    """d**2/2 for a difference d of at most delta, delta (abs d - delta/2) beyond.

    ``weight``, of the input's size, multiplies each; the mean is over the entries, not over the weights.

    Raises RuntimeError unless ``delta`` is positive, ValueError for another ``reduction``.

    >>> gw.nn.functional.huber_loss(gw.tensor([1.0, 3.0]), gw.zeros(2), reduction="none", delta=2.0)
    tensor([0.5000, 4.0000])
    """
    delta = number("huber_loss", "delta", delta)
    if delta <= 0:
        raise RuntimeError(f"huber_loss does not support non-positive values for delta, but got {delta}")
    x, y = _pair("huber_loss", input, target)
    losses = _pointwise(_ops.huber, x, y, delta=float(delta))
    return _weighted(losses, x, weight, mode(reduction), losses.array.size, "HuberLossBackward0")


def _same_size(name: str, input: Any, target: Any) -> tuple[Any, Any]:
    x, y = tensor_arg(name, input), tensor_arg(name, target, "target", 2)
    if x.array.shape != y.array.shape:
        raise ValueError(
            f"{name}(): Target size ({size(y.array.shape)}) must be the same as input size ({size(x.array.shape)})"
        )
    return x, y


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
                         reduce: bool | None = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    """-t log x - (1 - t) log(1 - x) for probabilities x; each logarithm is at least -100.

    Raises RuntimeError for an x outside [0, 1], ValueError if the sizes differ.

    Shape: input and target alike; ``weight`` broadcasts. RuntimeError for a target of another dtype.

    >>> gw.nn.functional.binary_cross_entropy(gw.tensor([0.5, 0.0]), gw.tensor([1.0, 1.0]), reduction="none")
    tensor([  0.6931, 100.0000])
    """
    how = mode(reduction, size_average, reduce)
    x, t = _same_size("binary_cross_entropy", input, target)
    within(x.array, 0.0, 1.0, lambda _: "binary_cross_entropy(): all elements of input should be between 0 and 1")
    if backends.differ("binary_cross_entropy", x.array, t.array):
        raise RuntimeError(f"Found dtype {legacy(t)} but expected {legacy(x)}: convert the target of "
                           f"binary_cross_entropy with target.to({x.dtype})")  # fmt: skip
    losses = _pointwise(_ops.binary_cross_entropy, x, t)
    return reduced(losses if weight is None else losses * weight, how, node="BinaryCrossEntropyBackward0")


def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                     size_average: bool | None = None, reduce: bool | None = None,
                                     reduction: str = "mean", pos_weight: Tensor | None = None) -> Tensor:  # fmt: skip
    """`binary_cross_entropy` of sigmoid(x), without overflow; ``pos_weight`` multiplies its first term.

    Shape: input and target alike; ``weight`` and ``pos_weight`` broadcast. Raises ValueError if the sizes differ.

    >>> gw.nn.functional.binary_cross_entropy_with_logits(gw.tensor(-1000.0), gw.tensor(1.0))
    tensor(1000.)
    """
    how = mode(reduction, size_average, reduce)
    x, t = _same_size("binary_cross_entropy_with_logits", input, target)
    if pos_weight is None:
        losses = _pointwise(_ops.binary_cross_entropy_with_logits, x, t)
    else:
        losses = (1 - t) * x - (1 + (pos_weight - 1) * t) * logsigmoid(x)
    return reduced(losses if weight is None else losses * weight, how, node="BinaryCrossEntropyWithLogitsBackward0")


def kl_div(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
           reduction: str = "mean", log_target: bool = False) -> Tensor:  # fmt: skip
    """t (log t - x) for log-probabilities x; with ``log_target`` t is given by its logarithm.

    ``reduction="batchmean"`` divides the sum by the length of dim 0: that is the Kullback-Leibler divergence.

    0 where t is 0, with slope -inf by t. "mean" divides by all entries, and warns. Raises RuntimeError for tensors of
    whole numbers.

    >>> gw.nn.functional.kl_div(gw.tensor([[0.5, 0.5]]).log(), gw.tensor([[1.0, 0.0]]), reduction="batchmean")
    tensor(0.6931)
    """
    x, t = _pair("kl_div", input, target)
    for name, given in (("input", x), ("target", t)):
        if dtypes.kind(given.array.dtype) in "biu":
            raise RuntimeError(f"kl_div: Integral inputs not supported: {name} is of {given.dtype}; convert it with "
                               ".to(dtype)")  # fmt: skip
    if log_target:
        losses = e.exp(t) * (t - x)
    else:
        losses = -e.where(t < 0, math.nan, entr(t)) - t * x
    if size_average is None and reduce is None:
        if reduction == "batchmean":
            return reduced(losses, "sum") / (x.size(0) if x.ndim else 1)
        if reduction == "mean":
            warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' "
                "divides only by the batch size, and aligns with the KL div math definition. 'mean' will be changed to "
                "behave the same as 'batchmean' in the next major release."
            )
    return reduced(losses, reduction, size_average, reduce)


def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, size_average: bool | None = None,
    eps: float = 1e-8, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """e**x - t x for the logarithm x of a Poisson rate, or x - t log(x + eps) for the rate itself.

    ``full`` adds Stirling's approximation of log t!, for t > 1.

    >>> gw.nn.functional.poisson_nll_loss(gw.tensor([0.0]), gw.tensor([2.0]))
    tensor(1.)
    """
    how = mode(reduction, size_average, reduce)
    x, t = _pair("poisson_nll_loss", input, target)
    losses = e.exp(x) - t * x if log_input else x - t * e.log(x + eps)
    if full:
        large = t.detach() > 1
        safe = e.where(large, t, 2.0)
        losses = losses + e.where(large, safe * e.log(safe) - safe + 0.5 * e.log(2 * math.pi * safe), 0.0)
    return reduced(losses, how)


def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6,
                      reduction: str = "mean") -> Tensor:  # fmt: skip
    """(log v + (x - t)**2/v)/2 for the variance v, at least eps; ``full`` adds log(2 pi)/2.

    ``var`` is a number, or a tensor of the input's size, or without its last dim or with one of length 1. Raises
    ValueError if it has another size or a negative entry.

    ``eps`` is a floor for the value alone: the gradient by ``var`` is that above it.

    >>> gw.nn.functional.gaussian_nll_loss(gw.tensor([1.0]), gw.tensor([3.0]), gw.tensor([4.0]))
    tensor(1.1931)
    """
    x, t = _pair("gaussian_nll_loss", input, target)
    v = var * ones_like(x) if isinstance(var, (int, float)) else tensor_arg("gaussian_nll_loss", var, "var", 3)
    require(~(v.array < 0.0), "var has negative entry/entries", ValueError)
    shape = x.array.shape
    if v.array.shape != shape:
        if v.array.shape == shape[:-1]:
            v = v.unsqueeze(-1)
        elif v.array.ndim != len(shape) or [n for m, n in zip(shape, v.array.shape, strict=True) if m != n] != [1]:
            raise ValueError(f"var is of incorrect size: {size(v.array.shape)} for an input of size {size(shape)}")
    how = mode(reduction)
    v = v + (v.detach().clamp(min=eps) - v.detach())
    losses = 0.5 * (e.log(v) + e.square(x - t) / v)
    return reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, how)


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, size_average: bool | None = None,
                         reduce: bool | None = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    """x where the target is 1, max(0, margin - x) where it is -1; the sum of both where it is neither.

    >>> gw.nn.functional.hinge_embedding_loss(gw.tensor([0.5, 0.25]), gw.tensor([1.0, -1.0]), reduction="none")
    tensor([0.5000, 0.7500])
    """
    how = mode(reduction, size_average, reduce)
    x, t = _pair("hinge_embedding_loss", input, target)
    far = e.where(t != 1, (margin - x).clamp(min=0), 0.0)
    return reduced(far + e.where(t != -1, x, 0.0), how)


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                        size_average: bool | None = None, reduce: bool | None = None,
                        reduction: str = "mean") -> Tensor:  # fmt: skip
    """max(0, margin - t (x1 - x2)): t = 1 wants the first larger, -1 the second. Raises RuntimeError if dims differ.

    The slope by x1 is 0 beyond the margin and -t up to it, at it too.

    >>> gw.nn.functional.margin_ranking_loss(gw.tensor([1.0, 2.0]), gw.tensor([2.0, 1.0]), gw.ones(2), reduction="none")
    tensor([1., 0.])
    """
    how = mode(reduction, size_average, reduce)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{size(input1.array.shape)}, input2: {size(input2.array.shape)}, target: {size(target.array.shape)}"
        )
    return reduced((margin - target * (input1 - input2)).clamp(min=0), how)


def soft_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
                     reduction: str = "mean") -> Tensor:  # fmt: skip
    """log(1 + e**(-t x)), without overflow. RuntimeError for a target that does not broadcast to the input's size.

    Targets are 1 and -1.

    >>> gw.nn.functional.soft_margin_loss(gw.tensor([0.0, 1000.0]), gw.tensor([1.0, -1.0]), reduction="none")
    tensor([6.9315e-01, 1.0000e+03])
    """
    x, t = _pair("soft_margin_loss", input, target)
    y = x * t
    if y.array.shape != x.array.shape:
        raise RuntimeError(
            f"output with shape {size(x.array.shape)} doesn't match the broadcast shape {size(y.array.shape)}"
        )
    return reduced(-logsigmoid(y), reduction, size_average, reduce, "SoftMarginLossBackward0")


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """1 - c where the target is 1, max(0, c - margin) where it is -1, with the cosine c of two vectors (..., d).

    Shape: (n, d), (n, d) and (n,), or (d,), (d,) and (). Raises RuntimeError for other dims.

    >>> gw.nn.functional.cosine_embedding_loss(gw.tensor([1.0, 0.0]), gw.tensor([0.0, 1.0]), gw.tensor(1))
    tensor(1.)
    """
    how = mode(reduction, size_average, reduce)
    if target.ndim not in (0, 1):
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    dims = target.ndim + 1
    if not input1.ndim == input2.ndim == dims:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {dims}D input tensors, but found inputs with sizes "
            f"{size(input1.array.shape)} and {size(input2.array.shape)}."
        )
    dot, first, second = ((a * b).sum(-1) for a, b in ((input1, input2), (input1, input1), (input2, input2)))
    cosine = dot / e.sqrt((first + 1e-12) * (second + 1e-12))
    near, far = e.where(target == 1, 1 - cosine, 0.0), e.where(target == -1, (cosine - margin).clamp(min=0), 0.0)
    return reduced(near + far, how)


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """max(0, margin + distance to the positive - distance to the negative), with `pairwise_distance`.

    ``swap`` takes the negative's distance to the positive where that is smaller.

    Shape: (n, d) each, or (d,); the result () or, with "none", (n,). Raises ValueError unless ``margin`` is positive,
    RuntimeError if dims differ.

    >>> gw.nn.functional.triplet_margin_loss(gw.zeros(1, 2), gw.zeros(1, 2), gw.tensor([[0.3, 0.4]])).round(decimals=4)
    tensor(0.5000)
    """
    how = mode(reduction, size_average, reduce)
    return triplet_margin_with_distance_loss(
        anchor, positive, negative, margin=margin, swap=swap, reduction=how,
        distance_function=lambda a, b: pairwise_distance(a, b, p, eps),
    )  # fmt: skip


def triplet_margin_with_distance_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *, distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0, swap: bool = False, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """`triplet_margin_loss` with any distance; without one, `pairwise_distance`.

    ``distance_function`` takes two tensors and returns a tensor of distances. Errors are those of
    `triplet_margin_loss`.

    >>> far = gw.tensor([[0.25, 0.25]])
    >>> l1 = lambda a, b: (a - b).abs().sum(-1)
    >>> gw.nn.functional.triplet_margin_with_distance_loss(gw.zeros(1, 2), gw.zeros(1, 2), far, distance_function=l1)
    tensor(0.5000)
    """
    how = mode(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    dims = [t.ndim for t in (anchor, positive, negative)]
    if len(set(dims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {dims[0]}D, positive {dims[1]}D, and negative {dims[2]}D inputs"
        )
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    far = e.minimum(far, distance(positive, negative)) if swap else far
    return reduced((margin + near - far).clamp(min=0), how)

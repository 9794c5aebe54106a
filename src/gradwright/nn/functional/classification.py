"""Losses of a choice among classes: scores (n, classes, d1, ...) against class numbers (n, d1, ...) or weights of each.

A batch of one may leave out n. ``reduction`` and its old forms are as in `loss`.
"""

from __future__ import annotations

from typing import Any

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.errors import size
from gradwright.engine.apply import apply
from gradwright.engine.numbers import number, whole
from gradwright.face.functions import elementwise as e
from gradwright.face.functions import reduce as _reduce
from gradwright.face.functions.activation import floating_arg
from gradwright.face.functions.algebra.linalg import linear
from gradwright.face.functions.algebra.matrices import legacy
from gradwright.face.functions.scatter import gather, index_select
from gradwright.face.reading.require import known_within, within
from gradwright.face.reading.torch import tensor_arg, to_dtype
from gradwright.face.tensor import Tensor
from gradwright.nn.functional.activation import logsigmoid
from gradwright.nn.functional.reduction import mode, reduced
from gradwright.nn.functional.sparse import one_hot
from gradwright.ops import loss as _loss
from gradwright.ops.declare import Op

__all__ = [
    "cross_entropy", "linear_cross_entropy", "multi_margin_loss", "multilabel_margin_loss",
    "multilabel_soft_margin_loss", "nll_loss",
]  # fmt: skip


def _classes(name: str, x: Any, target: Any, weight: Any) -> int:
    """The dim of classes of ``x``, once sizes and dtypes have been checked."""
    shape, wanted = x.array.shape, target.array.shape
    if not shape:
        raise RuntimeError(f"{name}(): input tensor should be 1D or more, got a 0-d tensor")
    axis = min(1, len(shape) - 1)
    if axis and (wanted or (0,))[0] != shape[0]:
        raise ValueError(f"Expected input batch_size ({shape[0]}) to match target batch_size ({(wanted or (0,))[0]}).")
    got, places = legacy(target), shape[:axis] + shape[axis + 1 :]
    if got not in ("Long", "Byte"):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {got}: {_NUMBERS}")
    if len(shape) > 2:
        _check_long(target)
    if len(wanted) > 1 and len(shape) < 3:
        mend = "squeeze its last dim" if wanted == (*places, 1) else "give one class for each input"
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported: the input is of size "
                           f"{size(shape)}, the target of {size(wanted)}; {mend}")  # fmt: skip
    if wanted != places:
        raise RuntimeError(f"Expected target size {size(places)}, got {size(wanted)}: that of an input of "
                           f"{size(shape)} without its classes")  # fmt: skip
    _check_weight(weight, shape[axis])
    if weight is not None and backends.differ("cross_entropy", weight.array, x.array):
        raise RuntimeError(f"expected scalar type {legacy(x)} but found {legacy(weight)}: convert the classes' weight "
                           f"with weight.to({x.dtype})")  # fmt: skip
    return axis


_NUMBERS = "targets are the numbers of classes; convert them with target.long()"


def _check_long(target: Any) -> None:
    if legacy(target) != "Long":
        raise RuntimeError(f"expected scalar type Long but found {legacy(target)}: {_NUMBERS}")


def _check_weight(weight: Any, classes: int) -> None:
    if weight is not None and weight.array.shape != (classes,):
        raise RuntimeError(f"weight tensor should be defined either for all {classes} classes or no classes but got "
                           f"weight tensor of shape: {size(weight.array.shape)}")  # fmt: skip


def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
             ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    """-w x at the class of each target, for log-probabilities x and the weight w of that class (1 without ``weight``).

    The mean is over the weights. A target of ``ignore_index`` counts for nothing.

    Raises IndexError for a target that is no class, RuntimeError for targets that are not int64 (or uint8, in a batch
    without further dims).

    Shape: input (n, classes, ...) and target (n, ...), or (classes,) and (); the result () or, with "none", as the
    target. With nothing to count the mean is NaN.

    >>> gw.nn.functional.nll_loss(gw.tensor([[-0.5, -1.0]]), gw.tensor([1]))
    tensor(1.)
    """
    how = mode(reduction, size_average, reduce)
    x, t = floating_arg("nll_loss", input), tensor_arg("nll_loss", target, "target", 2)
    ignore_index = whole("nll_loss", "ignore_index", ignore_index)
    return _chosen("nll_loss", _loss.nll, x, t, weight, ignore_index, how)


def _chosen(name: str, op: Op, x: Any, t: Any, weight: Any, ignore_index: int, how: str) -> Any:
    """The loss that ``op`` gives of scores and the class of each target, weighed and reduced."""
    axis = _classes(name, x, t, weight)
    at, held = _targets(t, x.array.shape[axis] - 1, ignore_index)
    if weight is None and held is None:
        return apply(op, (x, at), {"axis": axis, "reduction": how})
    losses = apply(op, (x, at), {"axis": axis, "reduction": "none"})
    if weight is None:
        losses = e.where(held, losses, 0.0)
        return _reduce.sum(losses) / held.sum().to(x.dtype) if how == "mean" else reduced(losses, how)
    w = _chosen_weights(weight, t, held)
    losses = losses * w if held is None else e.where(held, losses * w, 0.0)
    return _reduce.sum(losses) / _reduce.sum(w) if how == "mean" else reduced(losses, how)


def _targets(target: Any, last: int, ignore_index: int) -> tuple[Any, Any]:
    """The class of each target, up to ``last``, and which are not to be ignored (None: it is known that all)."""
    at, held = to_dtype(target, dtypes.int64), None
    if at.array.size and (0 <= ignore_index <= last or not known_within(at.array, 0, last)):
        ignored = at == ignore_index
        at, held = e.where(ignored, 0, at), ~ignored
        within(at.array, 0, last, lambda wrong: f"Target {wrong} is out of bounds for {last + 1} classes.", IndexError)
    return at, held


def _chosen_weights(weight: Any, target: Any, held: Any) -> Any:
    """The weight of the class of each target, 0 for those to be ignored."""
    at = target if held is None else target.masked_fill(~held, 0)
    w = index_select(weight, 0, at.reshape(-1)).reshape(target.shape)
    return w if held is None else e.where(held, w, 0.0)


def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
                  ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:  # fmt: skip
    """`nll_loss` of the logarithm of `softmax` over the classes: the cross entropy of scores and targets.

    A target of the input's own size holds the probability of each class. ``label_smoothing`` (0 to 1) mixes that much
    of equal probabilities into the targets.

    Shape: input (n, classes, ...) and target (n, ...) of int64, or (classes,) and (). The gradient is softmax - target.

    Raises IndexError for a target that is no class; RuntimeError for a smoothing outside [0, 1], probabilities that are
    not of a floating-point dtype, sizes that do not fit.

    >>> gw.nn.functional.cross_entropy(gw.tensor([[0.0, 0.0], [100.0, 0.0]]), gw.tensor([1, 1]), reduction="none")
    tensor([  0.6931, 100.0000])
    """
    how = mode(reduction, size_average, reduce)
    x, t = floating_arg("cross_entropy", input), tensor_arg("cross_entropy", target, "target", 2)
    label_smoothing = number("cross_entropy", "label_smoothing", label_smoothing)
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    axis = min(1, x.array.ndim - 1)
    if not label_smoothing and x.array.shape != t.array.shape:
        return _chosen("cross_entropy", _loss.cross_entropy, x, t, weight, ignore_index, how)
    logs = _reduce.log_softmax(x, axis)
    if x.array.shape == t.array.shape:
        return _against_probabilities(logs, t, axis, weight, ignore_index, how, label_smoothing)
    losses = nll_loss(logs, t, weight, None, ignore_index, None, how)
    n = x.array.shape[axis]
    flat = logs if weight is None else logs * _along(weight, x, axis)
    smooth = e.where(t == ignore_index, 0.0, -_reduce.sum(flat, axis))
    if how == "mean":
        counted = (t != ignore_index).to(x.dtype)
        total = counted if weight is None else _chosen_weights(weight, t, t != ignore_index)
        smooth = _reduce.sum(smooth) / _reduce.sum(total)
    else:
        smooth = reduced(smooth, how)
    return (1 - label_smoothing) * losses + smooth * (label_smoothing / n)


def _along(weight: Any, x: Any, axis: int) -> Any:
    """The weights of the classes, shaped to broadcast."""
    return weight.reshape(-1, *(1,) * (x.array.ndim - axis - 1))


def _against_probabilities(logs: Any, t: Any, axis: int, weight: Any, ignore: int, how: str, smoothing: float) -> Any:
    if dtypes.kind(t.array.dtype) != "f":
        raise RuntimeError(f"Expected floating point type for target with class probabilities, got {legacy(t)}: a "
                           f"target of the input's size; convert it with target.to({logs.dtype})")  # fmt: skip
    if ignore >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    n = logs.array.shape[axis]
    _check_weight(weight, n)
    if smoothing:
        t = t * (1 - smoothing) + smoothing / n
    losses = -_reduce.sum(logs * t if weight is None else logs * t * _along(weight, logs, axis), axis)
    if how == "mean":
        return _reduce.sum(losses) / max(logs.array.size // max(n, 1), 1)
    return reduced(losses, how)


def linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None,
                         weight: Tensor | None = None, reduction: str = "mean", ignore_index: int | None = None,
                         label_smoothing: float = 0.0, options: Any = None) -> Tensor:  # fmt: skip
    """`cross_entropy` of what `linear` makes of input, linear_weight and linear_bias.

    Shapes: input (n, in) or (in,), linear_weight (classes, ..., in). ``options`` has no effect.

    Raises RuntimeError for sizes that do not fit, and as `cross_entropy` does.

    >>> gw.nn.functional.linear_cross_entropy(gw.ones(2, 3), gw.zeros(4, 3), gw.tensor([0, 1]))
    tensor(1.3863)
    """
    x, w = tensor_arg("linear_cross_entropy", input), tensor_arg("linear_cross_entropy", linear_weight, "linear_weight")
    shape, wide = x.array.shape, w.array.shape
    if len(shape) not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {len(shape)}")
    if len(wide) < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {len(wide)}")
    if shape[-1] != wide[-1]:
        raise RuntimeError("expected equal input and linear_weight last dimensions (in_features), "
                           f"got {shape[-1]} and {wide[-1]}, respectively")  # fmt: skip
    if linear_bias is not None and linear_bias.array.shape != wide[:-1]:
        raise RuntimeError(f"expected linear_bias shape {wide[:-1]}, got {linear_bias.array.shape}")
    if len(wide) > 2 and len(shape) < 2:
        raise RuntimeError(f"K-dimensional loss defined by linear_weight shape {wide} requires batched input, "
                           f"(N, {shape[-1]}), got unbatched input with shape {shape}")  # fmt: skip
    scores = (*shape[:-1], *wide[:-1])
    if target.array.shape == scores and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    y = linear(x, w.reshape(-1, wide[-1]), bias).reshape(scores)
    return cross_entropy(y, target, weight, ignore_index=-100 if ignore_index is None else ignore_index,
                         reduction=reduction, label_smoothing=label_smoothing)  # fmt: skip


def _rows(x: Any) -> Any:
    """Scores (n, classes), of one row if n was left out; RuntimeError if there are none."""
    if not (x.array.ndim in (1, 2) and x.array.shape[-1]) and x.array.ndim:
        raise RuntimeError("Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
                           f"{size(x.array.shape)}")  # fmt: skip
    return x if x.array.ndim == 2 else x.reshape(1, -1)


def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None,
                      size_average: bool | None = None, reduce: bool | None = None,
                      reduction: str = "mean") -> Tensor:  # fmt: skip
    """sum_i w max(0, margin - x_t + x_i)**p / classes over the classes i other than the target t; p is 1 or 2.

    Shape: input (n, classes) and target (n,) of int64, or (classes,) and ().

    Raises ValueError for another p, IndexError or RuntimeError for targets that do not fit.

    >>> gw.nn.functional.multi_margin_loss(gw.tensor([[0.5, 0.0, 2.0]]), gw.tensor([0]))
    tensor(1.)
    """
    how = mode(reduction, size_average, reduce)
    x, t = floating_arg("multi_margin_loss", input), tensor_arg("multi_margin_loss", target, "target", 2)
    if p not in (1, 2):
        raise ValueError(f"only p == 1 and p == 2 supported, but got {p}")
    if weight is not None and weight.array.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    rows = _rows(x)
    n, classes = rows.array.shape
    if t.array.shape != (n,) and not (n == 1 and t.array.shape == ()):
        raise RuntimeError("target tensor should be 1-D with size equal to the input's first dim. Expected target size "
                           f"[{n}], but got {size(t.array.shape)}")  # fmt: skip
    _check_long(t)
    if weight is not None and weight.array.size != classes:
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {size(weight.array.shape)}")
    t = t.reshape(n)
    at, _ = _targets(t, classes - 1, -100)
    missed = apply(_loss.nll, (rows, at), {"axis": 1, "reduction": "none"})
    excess = (margin + missed.unsqueeze(1) + rows).clamp(min=0)
    excess = e.where(one_hot(t, classes) == 1, 0.0, excess if p == 1 else excess * excess)
    losses = excess.sum(1) / classes
    if weight is not None:
        losses = losses * index_select(weight, 0, t)
    return reduced(losses if x.array.ndim == 2 else losses.reshape(t.shape if t.ndim and t is target else ()), how)


def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
                           reduction: str = "mean") -> Tensor:  # fmt: skip
    """sum_ij max(0, 1 - x_j + x_i)/classes over the targets j and the other classes i.

    A row of ``target``, of the size of ``input``, lists classes, up to the first -1.

    Shape: (n, classes) each, or (classes,); the result () or, with "none", (n,). Raises RuntimeError for targets that
    do not fit.

    >>> gw.nn.functional.multilabel_margin_loss(gw.tensor([[1.0, 0.0, 0.5]]), gw.tensor([[0, -1, 0]]))
    tensor(0.1667)
    """
    how = mode(reduction, size_average, reduce)
    x, t = floating_arg("multilabel_margin_loss", input), tensor_arg("multilabel_margin_loss", target, "target", 2)
    rows = _rows(x)
    if x.array.shape != t.array.shape and not (x.array.size == t.array.size == 1):
        raise RuntimeError(f"inconsistent target size: {size(t.array.shape)} for input of size: {size(x.array.shape)}")
    _check_long(t)
    t = t.reshape(rows.shape)
    classes = rows.array.shape[1]
    listed = (t < 0).to(dtypes.int64).cumsum(1) == 0
    at = e.where(listed, t, 0)
    within(at.array, 0, classes - 1, lambda wrong: (
        f"multilabel_margin_loss(): target {wrong} is out of range for {classes} classes"))  # fmt: skip
    mine = (one_hot(at, classes) * listed.to(dtypes.int64).unsqueeze(-1)).sum(1) > 0
    excess = (1 - gather(rows, 1, at).unsqueeze(2) + rows.unsqueeze(1)).clamp(min=0)
    counted = listed.unsqueeze(2) & ~mine.unsqueeze(1)
    losses = e.where(counted, excess, 0.0).sum((1, 2)) / classes
    return reduced(losses if x.array.ndim == 2 else losses.reshape(()), how)


def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                size_average: bool | None = None, reduce: bool | None = None,
                                reduction: str = "mean") -> Tensor:  # fmt: skip
    """-t log s - (1 - t) log(1 - s) with s = sigmoid(x), its mean over the classes (the last dim).

    Shape: (..., classes) each; the result () or, with "none", (...). ``weight`` broadcasts. Raises ValueError for
    another ``reduction``.

    >>> gw.nn.functional.multilabel_soft_margin_loss(gw.zeros(1, 2), gw.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """
    how = mode(reduction, size_average, reduce)
    losses = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    losses = losses if weight is None else losses * weight
    return reduced(_reduce.mean(losses, -1), how)

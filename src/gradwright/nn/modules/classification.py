"""Losses of a choice among classes as modules: scores (n, classes, d1, ...) against class numbers (n, d1, ...).

A batch of one may leave out n. ``reduction`` and its old forms ``size_average`` and ``reduce`` are as in `loss`; with
"none" the result is (n, d1, ...), else (). ``weight`` (classes,) is a buffer. Called, they raise RuntimeError or
ValueError for sizes that do not fit, IndexError for a target that is no class.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwright.engine.source_line import warn
from gradwright.nn import functional as F
from gradwright.nn.modules.linear import Linear
from gradwright.nn.modules.loss import Loss

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, Tensor


class _WeightedLoss(Loss):
    weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class NLLLoss(_WeightedLoss):
    """-w x at the class of each target, for log-probabilities x and the weight w of that class.

    Args:
        weight: one for each class; 1 for all if None. A mean is over the weights.
        size_average: see the module.
        ignore_index: a target that counts for nothing.
        reduce: see the module.
        reduction: see the module.

    >>> import gradwright as gw
    >>> NLLLoss()(gw.tensor([[-1.0, -3.0], [-5.0, -2.0]]), gw.tensor([0, 1]))
    tensor(1.5000)
    """

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
                 reduce: bool | None = None, reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """The old name of `NLLLoss` (FutureWarning)."""

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
                 reduce: bool | None = None, reduction: str = "mean") -> None:  # fmt: skip
        warn("`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement", FutureWarning)
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class CrossEntropyLoss(NLLLoss):
    """`NLLLoss` of the logarithm of softmax(x) over the classes, for scores x.

    Args:
        weight: one for each class; 1 for all if None.
        size_average: see the module.
        ignore_index: a target that counts for nothing.
        reduce: see the module.
        reduction: see the module.
        label_smoothing: from 0 to 1, how much of equal probabilities is mixed into the targets.

    A target of the input's own size holds the probability of each class.

    >>> import gradwright as gw
    >>> CrossEntropyLoss()(gw.zeros(3, 4), gw.tensor([0, 1, 3]))
    tensor(1.3863)
    """

    def __init__(
        self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
        reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, ignore_index, reduce, reduction)
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction,
                               label_smoothing=self.label_smoothing)  # fmt: skip


class LinearCrossEntropyLoss(_WeightedLoss):
    """`CrossEntropyLoss` of what a linear layer makes of the input (n, in_features).

    Args:
        in_features: the last size of the input.
        num_classes: the number of classes.
        out_features: d1, ... if several classes are chosen at once.
        bias: whether the linear layer has one.
        device: where the parameters live.
        dtype: their dtype; the default one (float32) if None.
        reduction: see the module.
        weight: one for each class; 1 for all if None.
        ignore_index: a target that counts for nothing, of class numbers only; -100 if None.
        label_smoothing: as in `CrossEntropyLoss`.
        options: no effect.

    Attributes: ``linear``, a `Linear` of num_classes d1 ... scores.

    Raises RuntimeError if the weight has another shape or ``label_smoothing`` is outside [0, 1].

    >>> import gradwright as gw
    >>> LinearCrossEntropyLoss(3, 5, out_features=(2,))(gw.ones(4, 3), gw.zeros(4, 2, dtype=gw.int64)).shape
    torch.Size([])
    """

    def __init__(
        self, in_features: int, num_classes: int, *, out_features: tuple[int, ...] = (), bias: bool = False,
        device: DeviceLike = None, dtype: DType = None, reduction: str = "mean", weight: Tensor | None = None,
        ignore_index: int | None = None, label_smoothing: float = 0.0, options: Any = None,
    ) -> None:  # fmt: skip
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.linear = Linear(in_features, num_classes * math.prod(out_features), bias, device, dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        scores = (self.num_classes, *self.out_features)
        weight, bias = self.linear.weight, self.linear.bias
        return F.linear_cross_entropy(
            input, weight.reshape(*scores, -1), target, linear_bias=None if bias is None else bias.reshape(scores),
            weight=self.weight, reduction=self.reduction, ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
        )  # fmt: skip

    def extra_repr(self) -> str:
        shown = ("num_classes", "out_features", "reduction", "ignore_index", "label_smoothing", "options")
        held = [f"{name}={getattr(self, name)}" for name in shown]
        held.insert(2, f"bias={self.linear.bias is not None}")
        return ", ".join([f"in_features={self.linear.in_features}", *held])


class MultiMarginLoss(_WeightedLoss):
    """sum_i w max(0, margin - x_t + x_i)**p / classes over the classes i other than the target t: (n, classes) to (n,).

    Args:
        p: 1 or 2, or ValueError.
        margin: by how much the score of the target is to be the largest.
        weight: w, one for each class t; 1 for all if None. ValueError unless it has one dim.
        size_average: see the module.
        reduce: see the module.
        reduction: see the module.

    >>> import gradwright as gw
    >>> MultiMarginLoss()(gw.tensor([[0.5, 0.5, 3.0]]), gw.tensor([2]))
    tensor(0.)
    """

    def __init__(self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError(f"only p == 1 and p == 2 supported, but got {p}")
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead")
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(input, target, self.p, self.margin, self.weight, reduction=self.reduction)


class MultiLabelMarginLoss(Loss):
    """sum_ij max(0, 1 - x_j + x_i)/classes over the targets j and the other classes i: (n, classes) to (n,).

    A row of the target, (n, classes) int64, lists classes, up to the first -1.

    >>> import gradwright as gw
    >>> MultiLabelMarginLoss()(gw.tensor([0.0, 0.5, 2.0]), gw.tensor([2, 1, -1]))
    tensor(0.1667)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """-t log s - (1 - t) log(1 - s) with s = sigmoid(x), its mean over the classes: (n, classes) twice to (n,).

    >>> import gradwright as gw
    >>> MultiLabelSoftMarginLoss()(gw.zeros(2, 3), gw.ones(2, 3))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)

"""Losses as modules, which call the functions of `functional`, where the formulas are told.

``reduction`` is "mean", "sum" or "none" (a loss for each entry); called, ValueError for another. ``size_average`` and
``reduce`` are its old forms: given, they win, with a warning. ``weight`` and ``pos_weight`` are buffers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradwright.base.source_line import warn
from gradwright.nn import functional as F
from gradwright.nn.functional.reduction import mode
from gradwright.nn.modules.applied import Applied, of_inputs
from gradwright.nn.modules.distance import PairwiseDistance
from gradwright.nn.modules.linear import Linear

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, Tensor

__all__ = [
    "MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "KLDivLoss", "PoissonNLLLoss", "GaussianNLLLoss", "BCELoss",
    "BCEWithLogitsLoss", "HingeEmbeddingLoss", "SoftMarginLoss", "MarginRankingLoss", "CosineEmbeddingLoss",
    "TripletMarginLoss", "TripletMarginWithDistanceLoss", "CTCLoss", "NLLLoss", "NLLLoss2d", "CrossEntropyLoss",
    "LinearCrossEntropyLoss", "MultiMarginLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss",
]  # fmt: skip


class Loss(Applied):
    """What every loss has: a reduction. Of an input and a target, unless it says otherwise."""

    reduction: str

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        legacy = size_average is not None or reduce is not None
        self.reduction = mode(reduction, size_average, reduce) if legacy else reduction

    @of_inputs
    def forward(self, input: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
        """The loss of ``input`` by ``target``."""
        raise NotImplementedError


class _WeightedLoss(Loss):
    weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(Loss, function=F.mse_loss):
    """The squared error (x - y)**2 of an input x and a target y of one size (*): (*) or ()."""


class L1Loss(Loss, function=F.l1_loss):
    """The absolute error abs(x - y) of an input x and a target y of one size (*): (*) or (). Slope 0 where x = y."""


class SmoothL1Loss(Loss, function=F.smooth_l1_loss):
    """d**2/(2 beta) for a difference d of at most ``beta``, abs d - beta/2 beyond; ``beta`` 0 is `L1Loss`."""

    beta: float

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
                 beta: float = 1.0) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.beta = beta


class HuberLoss(Loss, function=F.huber_loss):
    """d**2/2 for a difference d of at most ``delta``, delta (abs d - delta/2) beyond; TypeError unless a number."""

    delta: float

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        if not isinstance(delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        self.delta = delta


class KLDivLoss(Loss, function=F.kl_div):
    """t (log t - x) for log-probabilities x and probabilities t, or with ``log_target`` their logarithms: (*) each."""

    log_target: bool

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
                 log_target: bool = False) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target


class PoissonNLLLoss(Loss, function=F.poisson_nll_loss):
    """e**x - t x for the logarithm x of a Poisson rate and a count t, (*) each; of the rate itself x - t log(x + eps).

    ``log_input`` says whether x is the logarithm, ``full`` adds Stirling's approximation of log t!, for t > 1.

    >>> PoissonNLLLoss()(gw.zeros(2), gw.tensor([1.0, 2.0]))
    tensor(1.)
    """

    log_input: bool
    full: bool
    eps: float

    def __init__(self, log_input: bool = True, full: bool = False, size_average: bool | None = None, eps: float = 1e-8,
                 reduce: bool | None = None, reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
        return F.poisson_nll_loss(log_input, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction)


class GaussianNLLLoss(Loss, function=F.gaussian_nll_loss):
    """(log v + (x - t)**2/v)/2 for a mean x (*), a value t (*) and a variance v, at least ``eps``."""

    full: bool
    eps: float

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    @of_inputs
    def forward(self, input: Tensor, target: Tensor, var: Tensor) -> Tensor:  # type: ignore[override]
        """The loss of ``input`` by ``target``, with variances."""
        raise NotImplementedError


class BCELoss(_WeightedLoss, function=F.binary_cross_entropy):
    """-t log x - (1 - t) log(1 - x) for probabilities x and targets t, (*) each; a logarithm is at least -100."""


class BCEWithLogitsLoss(_WeightedLoss, function=F.binary_cross_entropy_with_logits):
    """`BCELoss` of sigmoid(x), without overflow; ``pos_weight``, which broadcasts to (*), multiplies its first term."""

    pos_weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean", pos_weight: Tensor | None = None) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)


class HingeEmbeddingLoss(Loss, function=F.hinge_embedding_loss):
    """x where the target is 1, max(0, margin - x) where it is -1: (*) and (*) to (*) or ()."""

    margin: float

    def __init__(self, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class SoftMarginLoss(Loss, function=F.soft_margin_loss):
    """log(1 + e**(-t x)) for scores x and targets t of 1 and -1, (*) each, without overflow."""


class _OfPairs(Loss):
    margin: float

    def __init__(self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    @of_inputs
    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
        """The loss."""
        raise NotImplementedError


class MarginRankingLoss(_OfPairs, function=F.margin_ranking_loss):
    """max(0, margin - t (x1 - x2)) for scores (n,): t = 1 wants the first larger, t = -1 the second."""


class CosineEmbeddingLoss(_OfPairs, function=F.cosine_embedding_loss):
    """1 - c where the target is 1, max(0, c - margin) where it is -1, with the cosine c of two vectors."""


class _OfTriplets(Loss):
    margin: float
    swap: bool

    def _set(self, margin: float, swap: bool) -> None:
        if margin <= 0:
            raise ValueError(f"{self._get_name()}: expected margin to be greater than 0, got {margin} instead")
        self.margin, self.swap = margin, swap

    @of_inputs
    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:  # type: ignore[override]
        """The loss."""
        raise NotImplementedError


class TripletMarginLoss(_OfTriplets, function=F.triplet_margin_loss):
    """max(0, margin + distance of anchor and positive - distance of anchor and negative), of vectors (..., d).

    ``p`` and ``eps`` are those of `PairwiseDistance`.

    >>> TripletMarginLoss()(gw.zeros(1, 2), gw.ones(1, 2), gw.tensor([[3.0, 4.0]])).item() == 0
    True
    """

    p: float
    eps: float

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False,
        size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self._set(margin, swap)
        self.p, self.eps = p, eps


class TripletMarginWithDistanceLoss(_OfTriplets, function=F.triplet_margin_with_distance_loss):
    """`TripletMarginLoss` with any distance: ``distance_function`` of two tensors; `PairwiseDistance` if None."""

    distance_function: Any

    def __init__(self, *, distance_function: Callable[[Any, Any], Any] | None = None, margin: float = 1.0,
                 swap: bool = False, reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(reduction=reduction)
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self._set(margin, swap)


class CTCLoss(Loss, function=F.ctc_loss):
    """-log of the probability of a target sequence, summed over its alignments; ``blank`` is the class of no label."""

    blank: int
    zero_infinity: bool

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    @of_inputs
    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],  # type: ignore[override]
                target_lengths: Tensor | Sequence[int]) -> Tensor:  # fmt: skip
        """The loss."""
        raise NotImplementedError


class NLLLoss(_WeightedLoss, function=F.nll_loss):
    """-w x at the class of each target, for log-probabilities x and the weight w of that class."""

    ignore_index: int

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
                 reduce: bool | None = None, reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index


class NLLLoss2d(NLLLoss):
    """The old name of `NLLLoss` (FutureWarning)."""

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
                 reduce: bool | None = None, reduction: str = "mean") -> None:  # fmt: skip
        warn("`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement", FutureWarning)
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class CrossEntropyLoss(NLLLoss, function=F.cross_entropy):
    """`NLLLoss` of the logarithm of softmax(x) over the classes, for scores x."""

    label_smoothing: float

    def __init__(
        self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
        reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, ignore_index, reduce, reduction)
        self.label_smoothing = label_smoothing


class LinearCrossEntropyLoss(_WeightedLoss, function=F.linear_cross_entropy):
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

    >>> LinearCrossEntropyLoss(3, 5, out_features=(2,))(gw.ones(4, 3), gw.zeros(4, 2, dtype=gw.int64)).shape
    torch.Size([])
    """

    ignore_index: int | None
    label_smoothing: float

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
        self.num_classes, self.out_features, self.options = num_classes, out_features, options
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        self.linear = Linear(in_features, num_classes * math.prod(out_features), bias, device, dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
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


class MultiMarginLoss(_WeightedLoss, function=F.multi_margin_loss):
    """sum_i w max(0, margin - x_t + x_i)**p / classes over the classes i other than the target t.

    ``p`` is 1 or 2, or ValueError, as it is for a ``weight``, w of each class t, of other than one dim.

    >>> MultiMarginLoss()(gw.tensor([[0.5, 0.5, 3.0]]), gw.tensor([2]))
    tensor(0.)
    """

    p: int
    margin: float

    def __init__(self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError(f"only p == 1 and p == 2 supported, but got {p}")
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead")
        self.p, self.margin = p, margin


class MultiLabelMarginLoss(Loss, function=F.multilabel_margin_loss):
    """sum_ij max(0, 1 - x_j + x_i)/classes over the targets j and the other classes i."""


class MultiLabelSoftMarginLoss(_WeightedLoss, function=F.multilabel_soft_margin_loss):
    """-t log s - (1 - t) log(1 - s) with s = sigmoid(x), its mean over the classes."""

"""Losses as modules: between tensors of one shape, between pairs and triples of vectors, and of alignments.

``reduction`` is "mean", "sum" or "none" (a loss for each entry); called, ValueError for another. ``size_average`` and
``reduce`` are its old forms: given, they win, with a warning. The formulas are those of the functions of `functional`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradwright.nn import functional as F
from gradwright.nn.functional.reduction import mode
from gradwright.nn.module import Module
from gradwright.nn.modules.distance import PairwiseDistance

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


class Loss(Module):
    """What every loss has: a reduction, and perhaps a weight, which is a buffer."""

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        legacy = size_average is not None or reduce is not None
        self.reduction = mode(reduction, size_average, reduce) if legacy else reduction


class MSELoss(Loss):
    """The squared error (x - y)**2 of an input x and a target y of one size (*): (*) or ().

    >>> import gradwright as gw
    >>> MSELoss()(gw.tensor([1.0, 2.0]), gw.tensor([1.0, 4.0]))
    tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(Loss):
    """The absolute error abs(x - y) of an input x and a target y of one size (*): (*) or (). Slope 0 where x = y.

    >>> import gradwright as gw
    >>> L1Loss(reduction="none")(gw.tensor([1.0, 2.0]), gw.tensor([1.0, 4.0]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(Loss):
    """d**2/(2 beta) for a difference d of at most ``beta``, abs d - beta/2 beyond: (*) and (*) to (*) or ().

    ``beta`` 0 is `L1Loss`; called, RuntimeError if it is negative.

    >>> import gradwright as gw
    >>> SmoothL1Loss(reduction="none")(gw.tensor([1.0, 3.0]), gw.tensor([0.5, 0.0]))
    tensor([0.1250, 2.5000])
    """

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
                 beta: float = 1.0) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(Loss):
    """d**2/2 for a difference d of at most ``delta``, delta (abs d - delta/2) beyond: (*) and (*) to (*) or ().

    Raises TypeError if ``delta`` is no real number; called, RuntimeError unless it is more than 0.

    >>> import gradwright as gw
    >>> HuberLoss("none", 2.0)(gw.tensor([1.0, 3.0]), gw.zeros(2))
    tensor([0.5000, 4.0000])
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        if not isinstance(delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class KLDivLoss(Loss):
    """t (log t - x) for log-probabilities x and probabilities t, or with ``log_target`` their logarithms: (*) each.

    ``reduction="batchmean"`` divides the sum by the length of dim 0, as the Kullback-Leibler divergence does; "mean"
    divides by the number of entries, and warns.

    >>> import gradwright as gw
    >>> KLDivLoss(reduction="batchmean")(gw.tensor([[0.5, 0.5]]).log(), gw.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
                 log_target: bool = False) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class PoissonNLLLoss(Loss):
    """e**x - t x for the logarithm x of a Poisson rate and a count t, (*) each; of the rate itself x - t log(x + eps).

    Args:
        log_input: whether x is the logarithm of the rate.
        full: add Stirling's approximation of log t!, for t > 1.
        size_average: see the module.
        eps: keeps the logarithm finite.
        reduce: see the module.
        reduction: see the module.

    >>> import gradwright as gw
    >>> PoissonNLLLoss()(gw.zeros(2), gw.tensor([1.0, 2.0]))
    tensor(1.)
    """

    def __init__(self, log_input: bool = True, full: bool = False, size_average: bool | None = None, eps: float = 1e-8,
                 reduce: bool | None = None, reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(log_input, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction)


class GaussianNLLLoss(Loss):
    """(log v + (x - t)**2/v)/2 for a mean x (*), a value t (*) and a variance v, at least ``eps``.

    ``full`` adds log(2 pi)/2. Called, raises ValueError if ``var``, a number, a tensor (*), or one without its last
    dim or with one of length 1, is of another size or negative.

    >>> import gradwright as gw
    >>> GaussianNLLLoss()(gw.zeros(2), gw.tensor([0.0, 2.0]), gw.ones(2))
    tensor(1.)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class BCELoss(Loss):
    """-t log x - (1 - t) log(1 - x) for probabilities x and targets t, (*) each; a logarithm is at least -100.

    ``weight``, which broadcasts to (*), multiplies each entry's loss. Called, raises RuntimeError for an x outside
    [0, 1], ValueError if the sizes differ.

    >>> import gradwright as gw
    >>> BCELoss()(gw.tensor([0.5, 0.5]), gw.tensor([0.0, 1.0]))
    tensor(0.6931)
    """

    weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(Loss):
    """`BCELoss` of sigmoid(x), without overflow; ``pos_weight``, which broadcasts to (*), multiplies its first term.

    >>> import gradwright as gw
    >>> BCEWithLogitsLoss()(gw.tensor([0.0, 1000.0]), gw.tensor([0.0, 1.0]))
    tensor(0.3466)
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean", pos_weight: Tensor | None = None) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(input, target, self.weight, pos_weight=self.pos_weight,
                                                  reduction=self.reduction)  # fmt: skip


class _MarginLoss(Loss):
    def __init__(self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class HingeEmbeddingLoss(_MarginLoss):
    """x where the target is 1, max(0, margin - x) where it is -1: (*) and (*) to (*) or ().

    >>> import gradwright as gw
    >>> HingeEmbeddingLoss(reduction="none")(gw.tensor([0.25, 0.25]), gw.tensor([1, -1]))
    tensor([0.2500, 0.7500])
    """

    def __init__(self, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class SoftMarginLoss(Loss):
    """log(1 + e**(-t x)) for scores x and targets t of 1 and -1, (*) each, without overflow.

    >>> import gradwright as gw
    >>> SoftMarginLoss()(gw.zeros(2), gw.tensor([1.0, -1.0]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MarginRankingLoss(_MarginLoss):
    """max(0, margin - t (x1 - x2)) for scores (n,): t = 1 wants the first larger, t = -1 the second.

    Called, raises RuntimeError if the numbers of dims differ.

    >>> import gradwright as gw
    >>> MarginRankingLoss(reduction="none")(gw.tensor([1.0, 3.0]), gw.tensor([2.0, 1.0]), gw.ones(2))
    tensor([1., 0.])
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_MarginLoss):
    """1 - c where the target is 1, max(0, c - margin) where it is -1, with the cosine c of two vectors.

    Vectors (n, d) and targets (n,) give (n,) or (); one pair (d,) with a target () gives ().

    >>> import gradwright as gw
    >>> CosineEmbeddingLoss()(gw.tensor([1.0, 0.0]), gw.tensor([0.0, 2.0]), gw.tensor(1))
    tensor(1.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class TripletMarginLoss(Loss):
    """max(0, margin + distance of anchor and positive - distance of anchor and negative), of vectors (..., d).

    Args:
        margin: how much nearer the positive is to be than the negative; more than 0, or ValueError.
        p: the norm that is the distance, as in `PairwiseDistance`.
        eps: added to the differences.
        swap: take the negative's distance to the positive where that is smaller.
        size_average: see the module.
        reduce: see the module.
        reduction: see the module.

    >>> import gradwright as gw
    >>> TripletMarginLoss()(gw.zeros(1, 2), gw.ones(1, 2), gw.tensor([[3.0, 4.0]])).item() == 0
    True
    """

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False,
        size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(anchor, positive, negative, self.margin, self.p, self.eps, self.swap,
                                     reduction=self.reduction)  # fmt: skip


class TripletMarginWithDistanceLoss(Loss):
    """`TripletMarginLoss` with any distance: ``distance_function`` of two tensors; `PairwiseDistance` if None.

    >>> import gradwright as gw
    >>> loss = TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().amax(-1))
    >>> loss(gw.zeros(1, 2), gw.ones(1, 2), gw.tensor([[1.5, 0.0]]))
    tensor(0.5000)
    """

    def __init__(self, *, distance_function: Callable[[Any, Any], Any] | None = None, margin: float = 1.0,
                 swap: bool = False, reduction: str = "mean") -> None:  # fmt: skip
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function, margin=self.margin, swap=self.swap,
            reduction=self.reduction,
        )  # fmt: skip


class CTCLoss(Loss):
    """-log of the probability of a target sequence, summed over its alignments: see `functional.ctc_loss`.

    Args:
        blank: the class that stands for no label.
        reduction: "mean" divides each loss by the length of its target first.
        zero_infinity: a target too long for its input costs 0, not inf.

    Log-probabilities (t, n, classes), targets (n, longest) or (sum of lengths,), lengths of both (n,), to () or (n,);
    without n for one sequence.

    >>> import gradwright as gw
    >>> steps = gw.full((4, 1, 2), 0.5).log()
    >>> CTCLoss()(steps, gw.tensor([[1]]), gw.tensor([4]), gw.tensor([1])).exp()
    tensor(1.6000)
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],
                target_lengths: Tensor | Sequence[int]) -> Tensor:  # fmt: skip
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction,
                          self.zero_infinity)  # fmt: skip

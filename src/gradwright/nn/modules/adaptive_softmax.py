"""Softmax over very many classes, the rare ones in clusters with smaller layers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwright.face.functions.join import cat
from gradwright.face.reading.require import within
from gradwright.nn import functional as F
from gradwright.nn.container import ModuleList, Sequential
from gradwright.nn.module import Module
from gradwright.nn.modules.linear import Linear
from gradwright.nn.modules.parametric import check_whole

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, Tensor

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class AdaptiveOutput(NamedTuple):
    """The log-probability of each target, and the mean of their negatives."""

    output: Any
    loss: Any


class AdaptiveLogSoftmaxWithLoss(Module):
    """A linear layer, softmax and their loss for many classes, sorted by how common they are, most common first.

    A head gives scores to the first classes and to clusters of the others; each cluster gives scores to its classes,
    for the rows only whose targets lie in it. The log-probability of a class in a cluster is the sum of both.

    Args:
        in_features: the last size of the input, (n, in_features) or (in_features,).
        n_classes: the number of classes.
        cutoffs: where the clusters begin: whole numbers from 1 to n_classes - 1, increasing, or ValueError.
        div_value: the layers of cluster i = 0, 1, ... have in_features / div_value**(i + 1) features between them.
        head_bias: whether the head has a bias.
        device: where the parameters live.
        dtype: their dtype; the default one (float32) if None.

    Called with the input and the class numbers, (n,) or (), gives ``output``, of their shape, and ``loss`` (). Raises
    RuntimeError if sizes do not fit or a target is no class. E. Grave et al., arXiv:1609.04309.

    >>> made = AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], div_value=2.0)
    >>> made(gw.ones(3, 8), gw.tensor([0, 7, 19])).output.shape, made.log_prob(gw.ones(3, 8)).shape
    (torch.Size([3]), torch.Size([3, 20]))
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0, head_bias: bool = False,
        device: DeviceLike = None, dtype: DType = None,
    ) -> None:  # fmt: skip
        super().__init__()
        check_whole(self, in_features=in_features, n_classes=n_classes)
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        ends = [0, *cutoffs, n_classes]
        if any(a >= b for a, b in pairwise(ends)) or any(int(c) != c for c in cutoffs):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                f"value is between 1 and n_classes-1, but got {cutoffs} for n_classes={n_classes}"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = ends[1:]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for i, (start, end) in enumerate(pairwise(self.cutoffs)):
            between = int(in_features // div_value ** (i + 1))
            self.tail.append(Sequential(Linear(in_features, between, False, device, dtype),
                                        Linear(between, end - start, False, device, dtype)))  # fmt: skip

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        for module in self.modules():
            if isinstance(module, Linear):
                module.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> AdaptiveOutput:
        """The log-probabilities of the targets, and the loss."""
        self._check(input_, target_)
        input, target = (input_, target_) if target_.dim() else (input_.unsqueeze(0), target_.unsqueeze(0))
        clusters = [(target >= start) & (target < end) for start, end in pairwise(self.cutoffs)]
        slot = target
        for i, inside in enumerate(clusters):
            slot = slot.masked_fill(inside, self.shortlist_size + i)
        output = F.log_softmax(self.head(input), 1).gather(1, slot.unsqueeze(1)).squeeze(1)
        for start, inside, layers in zip(self.cutoffs, clusters, self.tail, strict=False):
            rows = inside.nonzero().squeeze(1)
            if rows.numel():
                inner = F.log_softmax(layers(input[rows]), 1).gather(1, (target[rows] - start).unsqueeze(1))
                output = output.index_add(0, rows, inner.squeeze(1))
        return AdaptiveOutput(output if target_.dim() else output.squeeze(0), -output.mean())

    def _check(self, input: Any, target: Any) -> None:
        n, wanted = target.dim(), target.dim() + 1
        if n > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if n and input.size(0) != target.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input.dim() != wanted:
            raise RuntimeError(f"{n}D target tensor expects {wanted}D input tensors, but found inputs with size "
                               f"{input.shape}")  # fmt: skip
        within(target.array, 0, self.n_classes - 1, lambda _: (
            f"Target values should be in [0, {self.n_classes - 1}], but values in range "
            f"[{target.min().item()}, {target.max().item()}] were found. "))  # fmt: skip

    def log_prob(self, input: Any) -> Any:
        """The log-probability of every class: (n, in_features) to (n, n_classes)."""
        head, n = F.log_softmax(self.head(input), 1), self.shortlist_size
        tails = [F.log_softmax(layers(input), 1) + head[:, n + i : n + i + 1] for i, layers in enumerate(self.tail)]
        return cat([head[:, :n], *tails], 1)

    def predict(self, input: Any) -> Any:
        """The likeliest class of each row: (n, in_features) to (n,)."""
        return self.log_prob(input).argmax(1)

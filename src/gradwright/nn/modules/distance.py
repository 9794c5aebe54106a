"""Distances and angles between vectors, as layers."""

from __future__ import annotations

from dataclasses import field

from gradwright.face.tensor import Tensor
from gradwright.nn import functional as F
from gradwright.nn.layer import layer
from gradwright.nn.module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


@layer
class CosineSimilarity(Module):
    """x1 x2 / (|x1| |x2|) along ``dim``, whose lengths count as at least ``eps``; the sizes broadcast.

    >>> CosineSimilarity(dim=0)(gw.tensor([1.0, 0.0]), gw.tensor([3.0, 4.0]))
    tensor(0.6000)
    """

    dim: int = field(default=1, repr=False)
    eps: float = field(default=1e-8, repr=False)

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """`functional.cosine_similarity` of ``x1`` and ``x2``."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The p-norm of x1 - x2 + eps over the last dim: (..., n) and (..., n) to (...), or (..., 1) with ``keepdim``.

    The attribute that holds p is called ``norm``.

    >>> PairwiseDistance(eps=0.0)(gw.tensor([3.0, 5.0]), gw.tensor([0.0, 1.0]))
    tensor(5.)
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """`functional.pairwise_distance` of ``x1`` and ``x2``."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)

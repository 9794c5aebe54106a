"""Layers that divide by what stands at the same place in neighbouring channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwright.nn import functional as F
from gradwright.nn.layer import layer
from gradwright.nn.module import Module

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


@layer
class LocalResponseNorm(Module):
    """x / (k + alpha m)**beta, m the mean of x**2 over ``size`` neighbouring channels: (N, C, *).

    >>> import gradwright as gw
    >>> LocalResponseNorm(1, alpha=3.0, beta=0.5)(gw.ones(1, 1, 2))
    tensor([[[0.5000, 0.5000]]])
    """

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0

    def forward(self, input: Tensor) -> Tensor:
        """`functional.local_response_norm` of ``input``."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


@layer
class CrossMapLRN2d(Module):
    """x / (k + alpha / size * sum x**2)**beta, summed over the (size - 1) // 2 channels on either side: (N, C, H, W).

    PyTorch's sum at the channel ``(size + 1) // 2`` has channel 0 in it, too; this one has not.

    Raises ValueError for another number of dims.

    >>> import gradwright as gw
    >>> CrossMapLRN2d(1, alpha=3.0, beta=0.5)(gw.ones(1, 1, 1, 2))
    tensor([[[[0.5000, 0.5000]]]])
    """

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1

    def forward(self, input: Tensor) -> Tensor:
        """``input`` (N, C, H, W), each entry divided by what stands around it in other channels."""
        if input.ndim != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead.")
        odd = (self.size + 1) // 2 * 2 - 1
        return F.local_response_norm(input, odd, self.alpha * odd / self.size, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"

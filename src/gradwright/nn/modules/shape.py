"""Layers that join and split dims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradwright.base.errors import kind
from gradwright.nn.layer import layer
from gradwright.nn.module import Module

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


@layer
class Flatten(Module):
    """The dims from ``start_dim`` to ``end_dim`` as one: (N, ...) to (N, product of the rest) unless told otherwise.

    >>> import gradwright as gw
    >>> Flatten()(gw.ones(5, 2, 3)).shape
    torch.Size([5, 6])
    """

    start_dim: int = 1
    end_dim: int = -1

    def forward(self, input: Tensor) -> Tensor:
        """``input.flatten(start_dim, end_dim)``."""
        return input.flatten(self.start_dim, self.end_dim)


@layer
class Unflatten(Module):
    """The dim ``dim`` as several: sizes ``unflattened_size``, of which one may be -1.

    Raises TypeError unless ``dim`` is an int and the sizes are a tuple or list of ints.

    >>> import gradwright as gw
    >>> Unflatten(1, (2, -1))(gw.ones(5, 6)).shape
    torch.Size([5, 2, 3])
    """

    dim: int
    unflattened_size: Sequence[int]

    def __post_init__(self) -> None:
        if not isinstance(self.dim, int):
            raise TypeError(f"dim must be an int: dims have no names, but got {kind(self.dim)}")
        if not isinstance(self.unflattened_size, (tuple, list)):
            raise TypeError(f"unflattened_size must be a tuple of ints, but found type {kind(self.unflattened_size)}")
        for at, n in enumerate(self.unflattened_size):
            if not isinstance(n, int):
                raise TypeError(
                    f"unflattened_size must be tuple of ints, but found element of type {kind(n)} at pos {at}"
                )

    def forward(self, input: Tensor) -> Tensor:
        """``input.unflatten(dim, unflattened_size)``."""
        return input.unflatten(self.dim, self.unflattened_size)

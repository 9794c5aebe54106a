"""Padding layers: entries added before and after the last one, two or three axes; negative pads cut off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from gradwright.nn import functional as F
from gradwright.nn.functional.geometry import per_axis
from gradwright.nn.layer import layer
from gradwright.nn.module import Module

if TYPE_CHECKING:
    from gradwright.face.typing import Ints, Tensor


@layer
class _Pad(Module):
    """One number for all sides, or the pads before and after the last axis, then those of the one before it, ..."""

    _axes: ClassVar[int]
    _mode: ClassVar[str]
    padding: Ints

    def __post_init__(self) -> None:
        self.padding = per_axis(self._get_name(), "padding", self.padding, 2 * self._axes)

    def forward(self, input: Tensor) -> Tensor:
        """``input`` (N, C, *size) or (C, *size) with its pads."""
        return F.pad(input, cast("Sequence[int]", self.padding), self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ReflectionPad(_Pad):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPad):
    """(N, C, L) or (C, L), mirrored at its outermost entries, which are not repeated.

    Args:
        padding: how many entries are added at both ends, or (before, after); fewer than there are.

    >>> import gradwright as gw
    >>> ReflectionPad1d((2, 1))(gw.tensor([[1.0, 2.0, 3.0]]))
    tensor([[3., 2., 1., 2., 3., 2.]])
    """

    _axes = 1


class ReflectionPad2d(_ReflectionPad):
    """(N, C, H, W) or (C, H, W), mirrored at its edges; ``padding``: one number, or (left, right, top, bottom).

    >>> import gradwright as gw
    >>> ReflectionPad2d((1, 0, 0, 1))(gw.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[2., 1., 2.],
             [4., 3., 4.],
             [2., 1., 2.]]])
    """

    _axes = 2


class ReflectionPad3d(_ReflectionPad):
    """(N, C, D, H, W) or (C, D, H, W), mirrored at its faces; ``padding``: one number, or six, the last axis first.

    >>> import gradwright as gw
    >>> ReflectionPad3d(1)(gw.ones(1, 2, 3, 4)).shape
    torch.Size([1, 4, 5, 6])
    """

    _axes = 3


class _ReplicationPad(_Pad):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPad):
    """(N, C, L) or (C, L), its outermost entries repeated.

    Args:
        padding: how many entries are added at both ends, or (before, after).

    >>> import gradwright as gw
    >>> ReplicationPad1d((2, 1))(gw.tensor([[1.0, 2.0, 3.0]]))
    tensor([[1., 1., 1., 2., 3., 3.]])
    """

    _axes = 1


class ReplicationPad2d(_ReplicationPad):
    """(N, C, H, W) or (C, H, W), its edges repeated; ``padding``: one number, or (left, right, top, bottom).

    >>> import gradwright as gw
    >>> ReplicationPad2d((1, 0, 0, 1))(gw.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[1., 1., 2.],
             [3., 3., 4.],
             [3., 3., 4.]]])
    """

    _axes = 2


class ReplicationPad3d(_ReplicationPad):
    """(N, C, D, H, W) or (C, D, H, W), its faces repeated; ``padding``: one number, or six, the last axis first.

    >>> import gradwright as gw
    >>> ReplicationPad3d(1)(gw.ones(1, 2, 3, 4)).shape
    torch.Size([1, 4, 5, 6])
    """

    _axes = 3


class _CircularPad(_Pad):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """``input`` (N, C, *size) or (C, *size) with its pads; ValueError for another number of axes."""
        n = self._axes
        if input.ndim not in (n + 1, n + 2):
            raise ValueError(f"expected {n + 1}D or {n + 2}D input (got {input.ndim}D input)")
        return super().forward(input)


class CircularPad1d(_CircularPad):
    """(N, C, L) or (C, L), continued from its other end.

    Args:
        padding: how many entries are added at both ends, or (before, after); at most as many as there are.

    >>> import gradwright as gw
    >>> CircularPad1d((2, 1))(gw.tensor([[1.0, 2.0, 3.0]]))
    tensor([[2., 3., 1., 2., 3., 1.]])
    """

    _axes = 1


class CircularPad2d(_CircularPad):
    """(N, C, H, W) or (C, H, W), continued from the other side; ``padding``: one number, or (left, right, top, bottom).

    >>> import gradwright as gw
    >>> CircularPad2d((1, 0, 0, 1))(gw.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[2., 1., 2.],
             [4., 3., 4.],
             [2., 1., 2.]]])
    """

    _axes = 2


class CircularPad3d(_CircularPad):
    """(N, C, D, H, W) or (C, D, H, W), continued from the other side; ``padding``: one number, or six.

    >>> import gradwright as gw
    >>> CircularPad3d(1)(gw.ones(1, 2, 3, 4)).shape
    torch.Size([1, 4, 5, 6])
    """

    _axes = 3


@layer
class _ConstantPad(_Pad):
    _mode = "constant"
    value: float

    def forward(self, input: Tensor) -> Tensor:
        """``input`` with ``value`` around it."""
        return F.pad(input, cast("Sequence[int]", self.padding), self._mode, self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """The last axis with ``value`` before and after it; any number of axes.

    Args:
        padding: how many entries are added at both ends, or (before, after).
        value: what they are.

    >>> import gradwright as gw
    >>> ConstantPad1d((2, 1), 7.0)(gw.tensor([1.0, 2.0]))
    tensor([7., 7., 1., 2., 7.])
    """

    _axes = 1


class ConstantPad2d(_ConstantPad):
    """The last two axes with ``value`` around them; ``padding``: one number, or (left, right, top, bottom).

    >>> import gradwright as gw
    >>> ConstantPad2d((1, 0, 0, 1), 7.0)(gw.tensor([[1.0, 2.0]]))
    tensor([[7., 1., 2.],
            [7., 7., 7.]])
    """

    _axes = 2


class ConstantPad3d(_ConstantPad):
    """The last three axes with ``value`` around them; ``padding``: one number, or six, the last axis first.

    >>> import gradwright as gw
    >>> ConstantPad3d(1, 7.0)(gw.ones(1, 2, 3, 4)).shape
    torch.Size([1, 4, 5, 6])
    """

    _axes = 3


class _ZeroPad(_Pad):
    _mode = "constant"


class ZeroPad1d(_ZeroPad):
    """The last axis with zeros before and after it; see `ConstantPad1d`.

    >>> import gradwright as gw
    >>> ZeroPad1d(1)(gw.tensor([1.0, 2.0]))
    tensor([0., 1., 2., 0.])
    """

    _axes = 1


class ZeroPad2d(_ZeroPad):
    """The last two axes with zeros around them; ``padding``: one number, or (left, right, top, bottom).

    >>> import gradwright as gw
    >>> ZeroPad2d((1, 0, 0, 1))(gw.tensor([[1.0, 2.0]]))
    tensor([[0., 1., 2.],
            [0., 0., 0.]])
    """

    _axes = 2


class ZeroPad3d(_ZeroPad):
    """The last three axes with zeros around them; ``padding``: one number, or six, the last axis first.

    >>> import gradwright as gw
    >>> ZeroPad3d(1)(gw.ones(1, 2, 3, 4)).shape
    torch.Size([1, 4, 5, 6])
    """

    _axes = 3

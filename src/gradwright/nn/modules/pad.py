"""Padding layers: entries added before and after the last one, two or three axes; negative pads cut off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from gradwright.nn import functional as F
from gradwright.nn.functional.geometry import per_axis
from gradwright.nn.layer import layer
from gradwright.nn.modules.applied import Dimensional

if TYPE_CHECKING:
    from gradwright.face.typing import Ints, Tensor

__all__ = [
    "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d",
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ZeroPad1d",
    "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip

_SIDES = """
    Args:
        padding: how many entries are added: one number for all sides, or (before, after) of the last axis, then of the
            one before it, ...: (left, right, top, bottom) of an image.
"""


@layer
class _Pad(Dimensional):
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
    _about = f"""
    (N, C, {{size}}) or (C, {{size}}). The outermost entries are not repeated: pads are shorter than their axis.
    {_SIDES}
    >>> gw.nn.ReflectionPad{{n}}d((2, 1{{others}}))(gw.arange(3.0).expand(1, {{threes}})).flatten()[:6]
    tensor([2., 1., 0., 1., 2., 1.])
    """


class ReflectionPad1d(_ReflectionPad, axes=1):
    """A signal, mirrored at its ends."""


class ReflectionPad2d(_ReflectionPad, axes=2):
    """An image, mirrored at its edges."""


class ReflectionPad3d(_ReflectionPad, axes=3):
    """A volume, mirrored at its faces."""


class _ReplicationPad(_Pad):
    _mode = "replicate"
    _about = f"""
    (N, C, {{size}}) or (C, {{size}}).
    {_SIDES}
    >>> gw.nn.ReplicationPad{{n}}d(1)(gw.arange(3.0).expand(1, {{threes}})).flatten()[:5]
    tensor([0., 0., 1., 2., 2.])
    """


class ReplicationPad1d(_ReplicationPad, axes=1):
    """A signal, its ends repeated."""


class ReplicationPad2d(_ReplicationPad, axes=2):
    """An image, its edges repeated."""


class ReplicationPad3d(_ReplicationPad, axes=3):
    """A volume, its faces repeated."""


class _CircularPad(_Pad):
    _mode = "circular"
    _about = f"""
    (N, C, {{size}}) or (C, {{size}}); pads are at most as long as their axis. ValueError for another number of axes.
    {_SIDES}
    >>> gw.nn.CircularPad{{n}}d(1)(gw.arange(3.0).expand(1, {{threes}})).flatten()[:5]
    tensor([2., 0., 1., 2., 0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``input`` (N, C, *size) or (C, *size) with its pads; ValueError for another number of axes."""
        n = self._axes
        if input.ndim not in (n + 1, n + 2):
            raise ValueError(f"expected {n + 1}D or {n + 2}D input (got {input.ndim}D input)")
        return super().forward(input)


class CircularPad1d(_CircularPad, axes=1):
    """A signal, continued from its other end."""


class CircularPad2d(_CircularPad, axes=2):
    """An image, continued from its other side."""


class CircularPad3d(_CircularPad, axes=3):
    """A volume, continued from its other side."""


@layer
class _ConstantPad(_Pad):
    _mode = "constant"
    _about = f"""
    (..., {{size}}), with any number of axes before.
    {_SIDES.rstrip()}
        value: what they are.

    >>> gw.nn.ConstantPad{{n}}d((2, 1{{others}}), 7.0)(gw.ones({{ones}})).flatten()
    tensor([7., 7., 1., 7.])
    """

    value: float

    def forward(self, input: Tensor) -> Tensor:
        """``input`` with ``value`` around it."""
        return F.pad(input, cast("Sequence[int]", self.padding), self._mode, self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad, axes=1):
    """The last axis with ``value`` before and after it."""


class ConstantPad2d(_ConstantPad, axes=2):
    """The last two axes with ``value`` around them."""


class ConstantPad3d(_ConstantPad, axes=3):
    """The last three axes with ``value`` around them."""


class _ZeroPad(_Pad):
    _mode = "constant"
    _about = f"""
    (..., {{size}}), with any number of axes before.
    {_SIDES}
    >>> gw.nn.ZeroPad{{n}}d((1, 2{{others}}))(gw.ones({{ones}})).flatten()
    tensor([0., 1., 0., 0.])
    """


class ZeroPad1d(_ZeroPad, axes=1):
    """The last axis with zeros before and after it."""


class ZeroPad2d(_ZeroPad, axes=2):
    """The last two axes with zeros around them."""


class ZeroPad3d(_ZeroPad, axes=3):
    """The last three axes with zeros around them."""

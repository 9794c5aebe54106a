"""Convolutions and transposed convolutions over one, two and three axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from gradwright.base.errors import size as text
from gradwright.nn import functional as F
from gradwright.nn.functional.geometry import by_axes, per_axis
from gradwright.nn.modules.applied import Dimensional
from gradwright.nn.modules.parametric import Parametric, check_whole
from gradwright.nn.parameter import Parameter

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, Ints, Tensor

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Dimensional, Parametric):
    """What convolutions and their adjoints share: sizes, checks, parameters and how they print."""

    _across: ClassVar[bool] = False
    """Whether input channels lead in the weight."""
    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: Any
    dilation: tuple[int, ...]
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str
    weight: Parameter
    bias: Parameter | Any

    def _set(self, in_channels: int, out_channels: int, kernel_size: Ints, stride: Any, padding: Any, dilation: Ints,
             output_padding: Ints, groups: int, bias: bool, padding_mode: str, device: DeviceLike, dtype: DType
             ) -> None:  # fmt: skip
        check_whole(self, in_channels=in_channels, out_channels=out_channels, groups=groups)
        if groups <= 0:
            raise ValueError(f"groups must be a positive integer, but got {groups}")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{name} must be divisible by groups, but got {name}={channels} and groups={groups}")
        if padding_mode not in _MODES:
            raise ValueError(f"padding_mode must be one of {set(_MODES)}, but got padding_mode='{padding_mode}'")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.groups, self.padding_mode = groups, padding_mode
        self.kernel_size, self.stride = self._each("kernel_size", kernel_size), self._each("stride", stride)
        self.dilation, self.output_padding = self._each("dilation", dilation), self._each("output_padding",
                                                                                         output_padding)  # fmt: skip
        self.padding = padding if isinstance(padding, str) else self._each("padding", padding)
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}")
            if padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError(f"padding='same' is not supported for strided convolutions, but got {self.stride}")
        self._allocate(device, dtype, () if bias else ("bias",))

    def _each(self, argument: str, value: Any) -> tuple[int, ...]:
        return per_axis(self._get_name(), argument, value, self._axes)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        first, second = self.out_channels, self.in_channels
        if self._across:
            first, second = second, first
        return {"weight": (first, second // self.groups, *self.kernel_size), "bias": (self.out_channels,)}

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, from U(-1/sqrt(k), 1/sqrt(k)), k the size of the weight from dim 1 on."""
        self._draw_within(prod(self._shapes()["weight"][1:]))

    def extra_repr(self) -> str:
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        plain = {"padding": (0,) * self._axes, "dilation": (1,) * self._axes, "output_padding": (0,) * self._axes,
                 "groups": 1}  # fmt: skip
        parts += [f"{name}={getattr(self, name)}" for name, usual in plain.items() if getattr(self, name) != usual]
        parts += ["bias=False"] if self.bias is None else []
        parts += [f"padding_mode={self.padding_mode}"] if self.padding_mode != "zeros" else []
        return ", ".join(parts)

    def _takes(self) -> str:
        return by_axes("(N, {c}, {size}) or ({c}, {size})", self._axes).replace("{c}", str(self.in_channels))


class _Conv(_ConvNd):
    _calls = "conv{n}d"
    _about = """
    Input (N, in_channels, {size}) or (in_channels, {size}), result (N, out_channels, {size'}), or without N:
    y[n, o, i] = bias[o] + sum_c,k weight[o, c, k] x[n, c, i stride + k dilation - padding], c running over the
    channels in the group of o. Each axis becomes L' = (L + 2 padding - dilation (kernel_size - 1) - 1) // stride + 1
    long.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: entries in a window, one number or one for each axis; so are the next three.
        stride: from one window to the next.
        padding: entries added before and after; or "valid" (none), or "same" (L' = L, with stride 1).
        dilation: from one entry of a window to the next.
        groups: into how many the channels are divided, which do not mix.
        bias: whether there is one; without it the parameter is registered as None.
        padding_mode: what is added: "zeros", "reflect", "replicate" or "circular" entries; see `functional.pad`.
        device: where the parameters live.
        dtype: their dtype; the default one (float32) if None.

    Attributes: ``weight`` (out_channels, in_channels / groups, *kernel_size) and ``bias`` (out_channels,), both drawn
    from U(-1/sqrt(k), 1/sqrt(k)), k = in_channels / groups times the entries in a window.

    Raises TypeError for a size that is no whole number, ValueError for channels that do not divide into groups, an
    unknown padding or mode; called, RuntimeError for an input of another number of channels, of another dtype, or
    smaller than a window.

    >>> layer = gw.nn.Conv{n}d(2, 4, 3, padding="same")
    >>> layer
    Conv{n}d(2, 4, kernel_size=(3,...), stride=(1,...), padding=same)
    >>> layer(gw.ones(5, 2, {fours})).shape, gw.nn.Conv{n}d(2, 4, 3, stride=2)(gw.ones(2, {fives})).shape
    (torch.Size([5, 4, {fours}]), torch.Size([4, {twos}]))
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Ints, stride: Ints = 1,
                 padding: Ints | str = 0,
                 dilation: Ints = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros",
                 device: DeviceLike = None, dtype: DType = None) -> None:  # fmt: skip
        super().__init__()
        self._set(in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, bias, padding_mode,
                  device, dtype)  # fmt: skip

    def _pads(self) -> list[int]:
        """How much stands before and after each axis, the last axis first."""
        if self.padding == "same":
            spans = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            pairs = [(s // 2, s - s // 2) for s in spans]
        else:
            pairs = [(0, 0) if isinstance(p, str) else (p, p) for p in self.padding]
        return [p for pair in reversed(pairs) for p in pair]

    def forward(self, input: Tensor) -> Tensor:
        """``input`` (N, in_channels, *size) or (in_channels, *size), to as many channels as there are weights."""
        padding: Any = self.padding
        if self.padding_mode != "zeros" and padding != "valid":
            input, padding = F.pad(input, self._pads(), self.padding_mode), 0
        return self._function(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Conv, axes=1):
    """Cross-correlation of signals."""


class Conv2d(_Conv, axes=2):
    """Cross-correlation of images."""


class Conv3d(_Conv, axes=3):
    """Cross-correlation of volumes."""


class _ConvTranspose(_ConvNd):
    _across = True
    _calls = "conv_transpose{n}d"
    _about = """
    (N, in_channels, {size}) or (in_channels, {size}) to (N, out_channels, {size'}), or without N. Each axis becomes
    L' = (L - 1) stride - 2 padding + dilation (kernel_size - 1) + output_padding + 1 long.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: entries in a window, one number or one for each axis; so are the next three and ``dilation``.
        stride: from one window to the next.
        padding: entries taken off the output at both ends.
        output_padding: entries added to the output at its end; smaller than stride or dilation.
        groups: into how many the channels are divided, which do not mix.
        bias: whether there is one; without it the parameter is registered as None.
        dilation: from one entry of a window to the next.
        padding_mode: "zeros".
        device: where the parameters live.
        dtype: their dtype; the default one (float32) if None.

    Called with an ``output_size``, it finds the ``output_padding`` itself: of the inputs' sizes that a strided
    convolution brings to one size, that is the one to go back to.

    Attributes: ``weight`` (in_channels, out_channels / groups, *kernel_size) and ``bias`` (out_channels,), both drawn
    from U(-1/sqrt(k), 1/sqrt(k)), k = out_channels / groups times the entries in a window.

    Raises ValueError for channels that do not divide into groups, another mode, or an ``output_size`` out of reach;
    called, RuntimeError for an input of another number of channels or another dtype.

    >>> layer = gw.nn.ConvTranspose{n}d(4, 2, 2, stride=2)
    >>> layer(gw.ones(1, 4, {twos})).shape, layer(gw.ones(1, 4, {twos}), output_size=({fives},)).shape
    (torch.Size([1, 2, {fours}]), torch.Size([1, 2, {fives}]))
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Ints, stride: Ints = 1,
                 padding: Ints | str = 0,
                 output_padding: Ints = 0, groups: int = 1, bias: bool = True, dilation: Ints = 1,
                 padding_mode: str = "zeros", device: DeviceLike = None, dtype: DType = None) -> None:  # fmt: skip
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {self._get_name()}, but got {padding_mode!r}')
        if isinstance(padding, str):
            raise TypeError(f"{self._get_name()}(): padding must be int or tuple of ints, but got {padding!r}")
        self._set(in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, bias,
                  padding_mode, device, dtype)  # fmt: skip

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """``input`` (N, in_channels, *size) or (in_channels, *size); the output has ``output_size`` if that is given.

        Raises ValueError for an ``output_size`` that no ``output_padding`` gives.
        """
        extra = self.output_padding if output_size is None else self._extra(input.shape, output_size)
        return self._function(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )

    def _extra(self, shape: Any, output_size: Any) -> list[int]:
        """The ``output_padding`` that gives this size."""
        n, wanted = self._axes, tuple(output_size)
        if len(wanted) == len(shape):
            wanted = wanted[-n:]
        if len(wanted) != n:
            raise ValueError(
                f"{self._get_name()}: for {len(shape)}D input, output_size must have {n} or {len(shape)} elements "
                f"(got {len(wanted)})"
            )
        lattice = zip(shape[-n:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True)
        least = [(m - 1) * s - 2 * p + d * (k - 1) + 1 for m, s, p, d, k in lattice]
        most = [m + s - 1 for m, s in zip(least, self.stride, strict=True)]
        if not all(a <= w <= b for a, w, b in zip(least, wanted, most, strict=True)):
            raise ValueError(
                f"requested an output size of {list(wanted)}, but valid sizes range from {least} to {most} (for an "
                f"input of {text(shape[-n:])})"
            )
        return [w - a for w, a in zip(wanted, least, strict=True)]


class ConvTranspose1d(_ConvTranspose, axes=1):
    """The adjoint of `Conv1d` by its input."""


class ConvTranspose2d(_ConvTranspose, axes=2):
    """The adjoint of `Conv2d` by its input."""


class ConvTranspose3d(_ConvTranspose, axes=3):
    """The adjoint of `Conv3d` by its input."""

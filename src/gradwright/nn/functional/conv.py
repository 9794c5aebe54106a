"""Convolution over one, two and three axes, its adjoint, and the windows that both are made of."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from gradwright import backends
from gradwright.backends.windows import Lattice
from gradwright.base import dtypes
from gradwright.base.errors import size as text
from gradwright.engine.apply import apply
from gradwright.face.reading.torch import tensor_arg
from gradwright.nn.functional.geometry import batched, family, per_axis
from gradwright.ops import conv as _conv

if TYPE_CHECKING:
    from gradwright.face.typing import Conv, ConvTranspose, Ints, Tensor

__all__ = [
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "fold", "unfold",
]  # fmt: skip


def _checked(function: str, input: Any, weight: Any, bias: Any, groups: int, n: int, across: bool) -> Any:
    """Input with a batch axis, weight, bias, whether there was no batch axis; ``across`` if input channels lead."""
    tensor_arg(function, input), tensor_arg(function, weight, "weight", 2)
    if weight.array.ndim != n + 2:
        raise RuntimeError(
            f"{function}(): expected {n + 2}-dimensional weight, but got size {text(weight.array.shape)}"
        )
    x, single = batched(function, input, n)
    shape = weight.array.shape
    if groups <= 0:
        raise RuntimeError(f"{function}(): non-positive groups is not supported, but got groups={groups}")
    if shape[0] < groups or shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size {text(shape)} instead"
        )
    expected, got = (shape[0] if across else shape[1] * groups), x.array.shape[1]
    if expected != got:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {text(shape)}, expected input{text(x.array.shape)} to have "
            f"{expected} channels, but got {got} channels instead"
        )
    made = shape[1] * groups if across else shape[0]
    if bias is not None and tensor_arg(function, bias, "bias", 3).array.shape != (made,):
        raise RuntimeError(
            f"Given weight of size {text(shape)}, expected bias to be 1-dimensional with {made} elements, but got "
            f"bias of size {text(bias.array.shape)} instead"
        )
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and backends.differ(function, t.array, x.array):
            raise RuntimeError(f"Input type ({x.dtype}) and {name} type ({t.dtype}) should be the same. "
                               f"{dtypes.remedy(x.dtype, t.dtype)}")  # fmt: skip
    if dtypes.kind(x.array.dtype) not in "fciV" or (dtypes.kind(x.array.dtype) == "i" and x.array.dtype.itemsize < 8):
        raise RuntimeError(f"{function}(): not implemented for {x.dtype}")
    return x, single


def _fits(size: Any, lattice: Lattice) -> None:
    """RuntimeError if the windows are larger than the input with its padding."""
    spans = [d * (k - 1) + 1 for k, d in zip(lattice.kernel, lattice.dilation, strict=True)]
    whole = [m + sum(p) for m, p in zip(size, lattice.padding, strict=True)]
    if any(s > w for s, w in zip(spans, whole, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, whole))}). Kernel size: "
            f"({' x '.join(map(str, spans))}). Kernel size can't be greater than actual input size"
        )


def _paddings(function: str, padding: Any, kernel: Any, stride: Any, dilation: Any) -> tuple[tuple[int, int], ...]:
    if padding == "valid":
        return ((0, 0),) * len(kernel)
    if padding == "same":
        if max(stride) > 1:
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        spans = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
        return tuple((s // 2, s - s // 2) for s in spans)
    if isinstance(padding, str):
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    return tuple((p, p) for p in per_axis(function, "padding", padding, len(kernel), 0))


def _conv_over(n: int) -> Conv:
    def conv(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints | str = 0,
             dilation: Ints = 1, groups: int = 1) -> Tensor:  # fmt: skip
        """Cross-correlation over {n} axes: input (N, C, {size}) or (C, {size}), weight (O, C / groups, *k).

        The result is (N, O, {size'}), with y[n, o, i] = bias[o] + sum_c,k weight[o, c, k] x[n, c, i stride + k dilation
        - padding], x being 0 outside, and c running over the channels in the group of o. Each axis becomes L' = (L + 2
        padding - dilation (k - 1) - 1) // stride + 1 long. ``padding`` may be "valid" (none) or "same" (L' = L, stride
        1); stride, padding and dilation are one number, or one for each axis.

        Raises RuntimeError for sizes, groups or dtypes that do not fit, and windows larger than the padded input.

        >>> gw.nn.functional.conv{n}d(gw.ones(1, {threes}), gw.ones(1, 1, {twos})).flatten()[0] == 2**{n}
        tensor(True)
        """
        function = f"conv{n}d"
        x, single = _checked(function, input, weight, bias, groups, n, across=False)
        kernel = weight.array.shape[2:]
        if 0 in kernel:
            raise RuntimeError(f"kernel size should be greater than zero, but got {text(kernel)}")
        stride = per_axis(function, "stride", stride, n, 1)
        dilation = per_axis(function, "dilation", dilation, n, 1)
        lattice = Lattice(kernel, stride, dilation, _paddings(function, padding, kernel, stride, dilation))
        _fits(x.array.shape[2:], lattice)
        static = {"lattice": lattice, "groups": groups}
        if bias is None:
            y = apply(_conv.conv, (x, weight), static)
        else:
            y = apply(_conv.biased_conv, (x, weight, bias), static)
        return y.squeeze(0) if single else y

    return conv


def _conv_transpose_over(n: int) -> ConvTranspose:
    def conv_transpose(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints = 0,
                       output_padding: Ints = 0, groups: int = 1, dilation: Ints = 1) -> Tensor:  # fmt: skip
        """The adjoint of `conv{n}d` by its input: (N, C, {size}) or (C, {size}), weight (C, O / groups, *k).

        The result is (N, O, {size'}); each axis becomes (L - 1) stride - 2 padding + dilation (k - 1) + output_padding
        + 1 long. Raises RuntimeError for sizes, groups or dtypes that do not fit, and an output_padding that reaches
        stride and dilation.

        >>> gw.nn.functional.conv_transpose{n}d(gw.ones(1, {twos}), gw.ones(1, 1, {twos})).flatten()[:3]
        tensor([1., 2., 1.])
        """
        function = f"conv_transpose{n}d"
        x, single = _checked(function, input, weight, bias, groups, n, across=True)
        kernel, count = weight.array.shape[2:], x.array.shape[2:]
        strides, paddings = per_axis(function, "stride", stride, n, 1), per_axis(function, "padding", padding, n, 0)
        extras = per_axis(function, "output_padding", output_padding, n, 0)
        dilations = per_axis(function, "dilation", dilation, n, 1)
        if any(e >= max(s, d) for e, s, d in zip(extras, strides, dilations, strict=True)):
            raise RuntimeError(
                "output padding must be smaller than either stride or dilation, but got output_padding: "
                f"{list(extras)} stride: {list(strides)} dilation: {list(dilations)}"
            )
        size = tuple(
            (m - 1) * s - 2 * p + d * (k - 1) + e + 1
            for m, s, p, d, k, e in zip(count, strides, paddings, dilations, kernel, extras, strict=True)
        )
        if min(size) <= 0:
            raise RuntimeError(
                f"Given input size per channel: {text(count)}. Calculated output size per channel: {text(size)}. "
                "Output size is too small"
            )
        around = tuple((p, p - e) for p, e in zip(paddings, extras, strict=True))
        lattice = Lattice(kernel, strides, dilations, around)
        y = apply(_conv.conv_transpose, (x, weight), {"size": size, "lattice": lattice, "groups": groups})
        y = y if bias is None else y + bias.reshape(-1, *(1,) * n)
        return y.squeeze(0) if single else y

    return conv_transpose


conv1d, conv2d, conv3d = family("conv{}d", _conv_over)
conv_transpose1d, conv_transpose2d, conv_transpose3d = family("conv_transpose{}d", _conv_transpose_over)


def _image_lattice(function: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Lattice:
    kernel = per_axis(function, "kernel_size", kernel_size, 2, 1)
    paddings = per_axis(function, "padding", padding, 2, 0)
    return Lattice(
        kernel, per_axis(function, "stride", stride, 2, 1), per_axis(function, "dilation", dilation, 2, 1),
        tuple((p, p) for p in paddings),
    )  # fmt: skip


def unfold(input: Tensor, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1) -> Tensor:
    """The windows of an image as columns: (N, C, H, W) -> (N, C kH kW, number of windows), the batch axis optional.

    Args:
        input: the image.
        kernel_size: the size of a window; all sizes are one number for both axes or one for each.
        dilation: from one entry of a window to the next.
        padding: zeros added on all sides.
        stride: from one window to the next.

    Raises RuntimeError if the windows are larger than the input.

    >>> unfold(gw.arange(6.0).reshape(1, 2, 3), (2, 2))
    tensor([[0., 1.],
            [1., 2.],
            [3., 4.],
            [4., 5.]])
    """
    x, single = batched("unfold", input, 2)
    lattice = _image_lattice("unfold", kernel_size, dilation, padding, stride)
    count = lattice.count(x.array.shape[2:])
    if min(count) <= 0 or 0 in x.array.shape[1:]:
        raise RuntimeError(
            f"Given input with spatial size {text(x.array.shape[2:])}, kernel_size={lattice.kernel}, calculated shape "
            f"of the array of sliding blocks as {count}, but its components must be at least one."
        )
    cols = apply(_conv.windows, (x,), {"lattice": lattice})
    y = cols.reshape(x.array.shape[0], x.array.shape[1] * prod(lattice.kernel), prod(count))
    return y.squeeze(0) if single else y


def fold(input: Tensor, output_size: Ints, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0,
         stride: Ints = 1) -> Tensor:  # fmt: skip
    """The adjoint of `unfold`: (N, C kH kW, number of windows) -> (N, C, *output_size); what overlaps adds up.

    ``output_size`` is the size of the image, one number or (H, W); the other arguments are those of `unfold`. Raises
    RuntimeError unless there is a column for each window.

    >>> fold(gw.ones(4, 2), (2, 3), (2, 2))
    tensor([[[1., 2., 1.],
             [1., 2., 1.]]])
    """
    x, single = batched("fold", input, 1)
    size = per_axis("fold", "output_size", output_size, 2, 1)
    lattice = _image_lattice("fold", kernel_size, dilation, padding, stride)
    count, entries = lattice.count(size), prod(lattice.kernel)
    batch, height, width = x.array.shape
    if height % entries:
        raise RuntimeError(
            f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={height} and kernel_size={lattice.kernel}."
        )
    if min(count) <= 0 or width != prod(count):
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={lattice.kernel}, dilation={lattice.dilation}, padding={padding}, "
            f"stride={lattice.stride}, expected size of input's dimension 2 to match the calculated number of sliding "
            f"blocks {' * '.join(map(str, count))} = {prod(count)}, but got input.size(2)={width}."
        )
    cols = x.reshape(batch, height // entries, *lattice.kernel, *count)
    y = apply(_conv.fold_windows, (cols,), {"size": size, "lattice": lattice})
    return y.squeeze(0) if single else y

"""Sliding windows and convolution, over any number of axes: (N, channels, *size) in, (N, channels, *count) out.

How windows lie is said by a `gradwright.backends.windows.Lattice`. A convolution is a matrix product with the windows
as columns. It, its adjoint by the input and its adjoint by the weight are each other's derivatives.
"""

from __future__ import annotations

from math import prod

from gradwright.backends.windows import Lattice
from gradwright.ops.declare import A, Sample, builtin
from gradwright.ops.linalg import transposed

_LINE = Lattice((3,), (2,), (1,), ((1, 1),))
_PLANE = Lattice((2, 3), (1, 2), (2, 1), ((0, 1), (2, -1)))
_BLOCK = Lattice((2, 1, 2), (1, 2, 2), (1, 1, 1), ((0, 0), (0, 0), (1, 1)))


@builtin(kind="linear", node="Im2ColBackward0",
         samples=[Sample(A(2, 4), lattice=_LINE), Sample(A(1, 2, 3, 4), lattice=_PLANE)])  # fmt: skip
def windows(xp, x, *, lattice):
    """The windows of x: (..., *size) -> (..., *kernel, *count), zeros around it."""
    return xp.asarray(xp.windows(x, lattice=lattice), copy=True)


@builtin(kind="linear", node="Col2ImBackward0", samples=[Sample(A(2, 3, 2), size=(4,), lattice=_LINE),
         Sample(A(1, 2, 3, 2, 2), size=(3, 4), lattice=_PLANE)])  # fmt: skip
def fold_windows(xp, x, *, size, lattice):
    """The adjoint of `windows`: (..., *kernel, *count) -> (..., *size), each entry added where it was read."""
    return xp.fold_windows(x, size=size, lattice=lattice)


def _unread(xp, g, x_shape, lattice):
    return fold_windows(g, size=x_shape[len(x_shape) - len(lattice.kernel) :], lattice=lattice)


windows.vjp(x=_unread)
fold_windows.vjp(x=lambda xp, g, lattice: windows(g, lattice=lattice))


def _rows(xp, weight, groups):
    """(O, C / groups, *kernel) -> (groups, O / groups, C / groups * entries of a window)."""
    return xp.reshape(weight, (groups, weight.shape[0] // groups, prod(weight.shape[1:])))


_SHORT = 16


def _many_short_rows(x):
    """Whether a batch is handled as one array with the batch as its last axis, so that what is copied is long rows."""
    return x.shape[-1] < min(_SHORT, x.shape[0])


def _as_one(xp, x):
    """(N, channels, *size) -> (1, channels, *size, N)."""
    return xp.batch_last(x)[None, ...]


def _as_batch(xp, x):
    """The inverse of `_as_one`, in row-major order."""
    shape = (x.shape[-1], *x.shape[1:-1])
    return xp.reshape(xp.reshape(xp.permute_dims(x, (x.ndim - 1, *range(x.ndim - 1))), (-1,)), shape)


def _product(xp, x, weight, bias, lattice, groups):
    if _many_short_rows(x):
        return _as_batch(xp, _product(xp, _as_one(xp, x), weight[..., None], bias, lattice.beside(), groups))
    return xp.times_windows(_rows(xp, weight, groups), x, bias, lattice=lattice)


_CASES = [
    (A(2, 1, 4), A(2, 1, 3), A(2, 2, 2), {"lattice": _LINE, "groups": 1}),
    (A(1, 2, 3, 4), A(2, 1, 2, 3), A(1, 2, 2, 2), {"lattice": _PLANE, "groups": 2}),
    (A(1, 2, 2, 1, 2), A(1, 2, 2, 1, 2), A(1, 1, 1, 1, 2), {"lattice": _BLOCK, "groups": 1}),
]


@builtin(complex="holomorphic", multilinear=True, node="ConvolutionBackward0",
         samples=[Sample(x, w, **static) for x, w, _, static in _CASES])  # fmt: skip
def conv(xp, x, weight, *, lattice, groups):
    """y[n, o, i] = sum_c,k weight[o, c, k] x[n, c, i stride + k dilation], c over the channels in the group of o.

    x: (N, C, *size), zeros around it; weight: (O, C / groups, *kernel); y: (N, O, *count).
    """
    return _product(xp, x, weight, None, lattice, groups)


@builtin(complex="holomorphic", node="ConvolutionBackward0",
         samples=[Sample(x, w, A(2), **static) for x, w, _, static in _CASES[:2]])  # fmt: skip
def biased_conv(xp, x, weight, bias, *, lattice, groups):
    """`conv` with ``bias[o]`` added."""
    return _product(xp, x, weight, bias, lattice, groups)


def _mirrored(size, count, lattice):
    """The lattice with which a convolution by the flipped weight is the adjoint; None if there is none."""
    spans = [d * (k - 1) for k, d in zip(lattice.kernel, lattice.dilation, strict=True)]
    before = [s - p[0] for s, p in zip(spans, lattice.padding, strict=True)]
    if max(lattice.stride) > 1 or min(before) < 0:
        return None
    after = [n - c - b + s for n, c, b, s in zip(size, count, before, spans, strict=True)]
    return Lattice(lattice.kernel, lattice.stride, lattice.dilation, tuple(zip(before, after, strict=True)))


def _flipped(xp, weight, groups):
    """(O, C / groups, *kernel) -> (C, O / groups, *kernel), the kernel read backwards."""
    out, inner, *kernel = weight.shape
    split = xp.reshape(weight, (groups, out // groups, inner, *kernel))
    turned = xp.permute_dims(xp.flip(split, axis=tuple(range(3, split.ndim))), (0, 2, 1, *range(3, split.ndim)))
    return xp.reshape(turned, (groups * inner, out // groups, *kernel))


@builtin(complex="holomorphic", multilinear=True, node="ConvolutionBackward0",
         samples=[Sample(y, w, size=x.shape[2:], **static) for x, w, y, static in _CASES])  # fmt: skip
def conv_transpose(xp, x, weight, *, size, lattice, groups):
    """The adjoint of `conv` by its input: (N, O, *count), (O, C / groups, *kernel) -> (N, C, *size)."""
    batch, count = x.shape[0], x.shape[2:]
    around = _mirrored(size, count, lattice)
    if around is not None and weight.shape[0] * prod(size) <= 2 * groups * weight.shape[1] * prod(count):
        return _product(xp, x, _flipped(xp, weight, groups), None, around, groups)
    if _many_short_rows(x):
        rows, static = _rows(xp, weight[..., None], groups), {"size": (*size, batch), "lattice": lattice.beside()}
        return _as_batch(xp, xp.spread_windows(rows, _as_one(xp, x), **static))
    return xp.spread_windows(_rows(xp, weight, groups), x, size=size, lattice=lattice)


@builtin(complex="holomorphic", multilinear=True, node="ConvolutionBackward0",
         samples=[Sample(x, y, **static) for x, _, y, static in _CASES])  # fmt: skip
def conv_weight(xp, x, y, *, lattice, groups):
    """The adjoint of `conv` by its weight: (N, C, *size), (N, O, *count) -> (O, C / groups, *kernel)."""
    if _many_short_rows(x):
        one = {"lattice": lattice.beside(), "groups": groups}
        return _weighed(xp, _as_one(xp, x), _as_one(xp, y), **one)[..., 0]
    return _weighed(xp, x, y, lattice, groups)


def _weighed(xp, x, y, lattice, groups):
    n, out, channels, places = len(lattice.kernel), y.shape[1], x.shape[1] // groups, prod(y.shape[2:])
    if out // groups <= places:  # a product for each image, none larger than its windows, which then lie as they are
        rows = xp.reshape(y, (y.shape[0], groups, out // groups, places))
        weights = xp.sum(xp.weigh_windows(rows, x, lattice=lattice), axis=0)
    else:
        cols = xp.permute_dims(xp.windows(x, lattice=lattice), (*range(1, 2 + n), 0, *range(2 + n, 2 + 2 * n)))
        cols = xp.reshape(cols, (groups, channels * prod(lattice.kernel), y.shape[0] * places))
        rows = xp.reshape(xp.permute_dims(y, (1, 0, *range(2, 2 + n))), (groups, out // groups, y.shape[0] * places))
        weights = xp.matmul(rows, transposed(xp, cols))
    return xp.reshape(weights, (out, channels, *lattice.kernel))


def _by_input(xp, g, x_shape, weight, lattice, groups):
    return conv_transpose(g, weight, size=x_shape[2:], lattice=lattice, groups=groups)


def _by_weight(xp, g, x, lattice, groups):
    return conv_weight(x, g, lattice=lattice, groups=groups)


conv.vjp(x=_by_input, weight=_by_weight)
biased_conv.vjp(x=_by_input, weight=_by_weight, bias=lambda xp, g: xp.sum(g, axis=(0, *range(2, g.ndim))))
biased_conv.jvp(
    x=lambda xp, t, weight, lattice, groups: conv(t, weight, lattice=lattice, groups=groups),
    weight=lambda xp, t, x, lattice, groups: conv(x, t, lattice=lattice, groups=groups),
    bias=lambda xp, t, x: xp.reshape(t, (-1, *(1,) * (x.ndim - 2))),
)
conv_transpose.vjp(
    x=lambda xp, g, weight, lattice, groups: conv(g, weight, lattice=lattice, groups=groups),
    weight=lambda xp, g, x, lattice, groups: conv_weight(g, x, lattice=lattice, groups=groups),
)
conv_weight.vjp(
    x=lambda xp, g, x_shape, y, lattice, groups: conv_transpose(y, g, size=x_shape[2:], lattice=lattice, groups=groups),
    y=lambda xp, g, x, lattice, groups: conv(x, g, lattice=lattice, groups=groups),
)

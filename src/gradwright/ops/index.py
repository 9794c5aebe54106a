"""Reading and writing by index. Where entries are read, cotangents are put back; the two are each other's vjp."""

from __future__ import annotations

from gradwright.op import A, Sample, builtin
from gradwright.ops.shape import permute_dims

_KEYS = [
    Sample(A(4, 5), key=(slice(1, 3), ...)),
    Sample(A(4, 5), key=(1, ...)),
    Sample(A(4, 5), key=(slice(None, None, 2), None, -1)),
    Sample(A(4, 5), key=(..., slice(5, None, -3))),
    Sample(A(4, 5), key=(A(values=[0, 2, 0]), A(values=[[4], [1]]))),
    Sample(A(2, 3), key=(A(values=[[True, False, True], [False, False, True]]),)),
]


@builtin(kind="view", node="SliceBackward0", samples=_KEYS)
def index(xp, x, *, key):
    """``x[key]``: a view for ints, slices, None and ..., a copy where the key holds index arrays or masks."""
    return x[key]


@builtin(
    kind="linear",
    node="UnindexBackward0",
    samples=[
        Sample(A(2, 5), shape=(4, 5), key=(slice(1, 3), ...)),
        Sample(A(5), shape=(4, 5), key=(1, ...)),
        Sample(A(3), shape=(4, 5), key=(A(values=[0, 2, 0]), A(values=[4, 1, 4]))),
    ],
)
def unindex(xp, x, *, shape, key):
    """Zeros of ``shape`` with ``x`` added at ``key``: what `index` does to a cotangent."""
    return xp.put(xp.zeros_like(x, shape=shape), x, key=key, accumulate=True)


index.vjp(x=lambda xp, g, x_shape, key: unindex(g, shape=x_shape, key=key))
unindex.vjp(x=lambda xp, g, key: index(g, key=key))


@builtin(
    kind="linear",
    node="IndexPutBackward0",
    samples=[
        Sample(A(4, 5), A(2, 5), key=(slice(1, 3), ...)),
        Sample(A(4, 5), A(5), key=(1, ...)),
        Sample(A(4, 5), A(2), key=(A(values=[0, 2]), A(values=[4, 1]))),
    ],
)
def put(xp, x, value, *, key):
    """A copy of x in which ``x[key]`` is ``value`` (already of the shape of ``x[key]``)."""
    return xp.put(x, value, key=key)


put.vjp(
    x=lambda xp, g, value_shape, key: put(g, xp.zeros_like(g, shape=value_shape), key=key),
    value=lambda xp, g, key: index(g, key=key),
)


@builtin(
    kind="general",
    node="CopySlices",
    samples=[
        Sample(A(3, 4), A(4, 2), read=lambda t: permute_dims(index(t, key=(slice(0, 2), ...)), axes=(1, 0))),
        Sample(A(3, 4), A(2), read=lambda t: index(index(t, key=(1, ...)), key=(slice(1, 3),))),
    ],
)
def write_view(xp, base, value, *, read):
    """``base`` after the region that ``read`` views has been overwritten by ``value``.

    ``read`` is the chain of view operations that leads from the base to the view.
    """
    return xp.write_view(base, value, read=read)


write_view.vjp(
    base=lambda xp, g, value_shape, read: write_view(g, xp.zeros_like(g, shape=value_shape), read=read),
    value=lambda xp, g, read: read(g),
)

_PICKS = [
    Sample(A(3, 4), A(values=[[0, 1, 3, 0], [2, 2, 0, 1], [1, 1, 1, 1]]), axis=1),
    Sample(A(3, 2), A(values=[[0, 2], [1, 0]]), axis=0),
]


@builtin(node="GatherBackward0", samples=_PICKS)
def take_along_axis(xp, x, indices, *, axis):
    """y[i, j] = x[i, indices[i, j]] along ``axis``; the other axes of both have equal lengths."""
    return xp.take_along_axis(x, indices, axis=axis)


@builtin(
    node="MaxBackward0",
    samples=[Sample(A(3, 4), A(values=[[2], [0], [3]]), axis=1, keepdims=k) for k in (False, True)],
)
def pick(xp, x, indices, *, axis, keepdims):
    """The entry at ``indices`` of each line along ``axis``, where they have length 1; ``axis`` goes unless kept."""
    y = xp.take_along_axis(x, indices, axis=axis)
    return y if keepdims else xp.squeeze(y, axis=(axis,))


def _pick_slope(xp, g, x_shape, indices, axis):
    return scatter_add(xp.zeros_like(g, shape=x_shape), indices, xp.reshape(g, indices.shape), axis=axis)


pick.vjp(x=_pick_slope)


@builtin(
    node="ScatterAddBackward0",
    samples=[Sample(A(3, 4), A(values=[[0, 1], [2, 2], [1, 3]]), A(3, 2), axis=1)],
)
def scatter_add(xp, x, indices, src, *, axis):
    """x with ``src`` added at ``indices`` along ``axis``; repeated indices add up."""
    return xp.scatter_add(x, indices, src, axis=axis)


take_along_axis.vjp(
    x=lambda xp, g, x_shape, indices, axis: scatter_add(xp.zeros_like(g, shape=x_shape), indices, g, axis=axis)
)
scatter_add.vjp(
    x=lambda xp, g: g,
    src=lambda xp, g, indices, axis: take_along_axis(g, indices, axis=axis),
)


@builtin(
    node="IndexSelectBackward0",
    samples=[Sample(A(3, 4), A(values=[2, 0, 2]), axis=0), Sample(A(2, 3), A(values=[1, 1]), axis=1)],
)
def take(xp, x, indices, *, axis):
    """The slices of x at a 1-d array of indices along ``axis``."""
    return xp.take(x, indices, axis=axis)


def _take_slope(xp, g, x_shape, indices, axis):
    along = (1,) * axis + indices.shape + (1,) * (len(x_shape) - axis - 1)
    indices = xp.broadcast_to(xp.reshape(indices, along), g.shape)
    return scatter_add(xp.zeros_like(g, shape=x_shape), indices, g, axis=axis)


take.vjp(x=_take_slope)


@builtin(node="DiagonalBackward0", kind="view", samples=[Sample(A(3, 4), offset=0), Sample(A(2, 3, 3), offset=-1)])
def diagonal(xp, x, *, offset):
    """A view of the diagonal of each matrix in the last two axes."""
    return xp.linalg.diagonal(x, offset=offset)


@builtin(
    kind="linear",
    node="DiagEmbedBackward0",
    samples=[Sample(A(3), shape=(3, 4), offset=0), Sample(A(2, 2), shape=(2, 3, 3), offset=-1)],
)
def undiagonal(xp, x, *, shape, offset):
    """Zeros of ``shape`` with ``x`` on a diagonal of the last two axes."""
    return xp.write_view(xp.zeros_like(x, shape=shape), x, read=lambda y: xp.linalg.diagonal(y, offset=offset))


diagonal.vjp(x=lambda xp, g, x_shape, offset: undiagonal(g, shape=x_shape, offset=offset))
undiagonal.vjp(x=lambda xp, g, offset: diagonal(g, offset=offset))

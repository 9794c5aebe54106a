"""Views and rearrangements: reshape, permute, stretch, squeeze, join, split, flip, roll, triangles and diagonals."""

from __future__ import annotations

from gradwright.op import A, Sample, builtin


@builtin(kind="view", node="ViewBackward0", samples=[Sample(A(3, 4), shape=(2, 6)), Sample(A(1), shape=())])
def reshape(xp, x, *, shape):
    """The same entries in row-major order under another shape; a view where memory allows it."""
    return xp.reshape(x, shape)


reshape.vjp(x=lambda xp, g, x_shape: xp.reshape(g, x_shape))


@builtin(kind="view", node="PermuteBackward0", samples=[Sample(A(2, 3, 4), axes=(2, 0, 1)), Sample(A(3), axes=(0,))])
def permute_dims(xp, x, *, axes):
    """A view with its axes in another order."""
    return xp.permute_dims(x, axes)


permute_dims.vjp(x=lambda xp, g, axes: xp.permute_dims(g, tuple(axes.index(i) for i in range(len(axes)))))


@builtin(
    kind="view",
    node="ExpandBackward0",
    samples=[Sample(A(3, 1), shape=(2, 3, 4)), Sample(A(), shape=(2,)), Sample(A(2, 2), shape=(2, 2))],
)
def broadcast_to(xp, x, *, shape):
    """A view stretched to a larger shape: axes of length 1 are repeated, new ones come in front."""
    return xp.broadcast_to(x, shape)


broadcast_to.vjp(x=lambda xp, g, x_shape: sum_to(xp, g, x_shape))


def sum_to(xp, g, shape):
    """Sum ``g`` down to ``shape``: the reverse of broadcasting."""
    if g.shape == shape:
        return g
    if not shape:
        return xp.sum(g, axis=None, keepdims=False)
    lead = g.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(i + lead for i, n in enumerate(shape) if n == 1 != g.shape[i + lead])
    return xp.reshape(xp.sum(g, axis=axes, keepdims=False), shape)


@builtin(kind="view", node="UnsqueezeBackward0", samples=[Sample(A(2, 3), axis=0), Sample(A(2, 3), axis=2)])
def expand_dims(xp, x, *, axis):
    """A view with an axis of length 1 put in at ``axis``."""
    return xp.expand_dims(x, axis=axis)


expand_dims.vjp(x=lambda xp, g, x_shape: xp.reshape(g, x_shape))


@builtin(kind="view", node="SqueezeBackward0", samples=[Sample(A(2, 1, 3, 1), axis=(1, 3)), Sample(A(1), axis=(0,))])
def squeeze(xp, x, *, axis):
    """A view without the axes ``axis``, each of length 1."""
    return xp.squeeze(x, axis=axis)


squeeze.vjp(x=lambda xp, g, x_shape: xp.reshape(g, x_shape))


@builtin(
    kind="linear",
    node="CatBackward0",
    samples=[Sample(A(2, 3), A(1, 3), axis=0), Sample(A(2, 1), A(2, 2), A(2, 3), axis=-1)],
)
def concat(xp, *xs, axis=0):
    """Arrays joined end to end along ``axis``."""
    return xp.concat(xs, axis=axis)


def _along(axis, ndim, part):
    """The index that takes ``part`` along one axis."""
    return (slice(None),) * (axis % ndim) + (part, ...)


def _piece(xp, g, xs_shape, axis, i):
    start = sum(shape[axis] for shape in xs_shape[:i])
    return g[_along(axis, g.ndim, slice(start, start + xs_shape[i][axis]))]


concat.vjp(xs=_piece)


@builtin(kind="linear", node="StackBackward0", samples=[Sample(A(2, 3), A(2, 3), axis=0), Sample(A(2), A(2), axis=-1)])
def stack(xp, *xs, axis=0):
    """Arrays of one shape joined along a new axis."""
    return xp.stack(xs, axis=axis)


stack.vjp(xs=lambda xp, g, axis, i: g[_along(axis, g.ndim, i)])


@builtin(
    kind="view",
    node="SplitBackward0",
    samples=[Sample(A(5, 2), sizes=(2, 2, 1), axis=0), Sample(A(2, 3), sizes=(1, 2), axis=1)],
    several=True,
)
def split(xp, x, *, sizes, axis):
    """Views of consecutive pieces along ``axis``, of the given sizes."""
    ends = [sum(sizes[: k + 1]) for k in range(len(sizes))]
    return [x[_along(axis, x.ndim, slice(end - n, end))] for n, end in zip(sizes, ends, strict=True)]


split.vjp(x=lambda xp, g, axis: xp.concat(g, axis=axis))


@builtin(kind="view", node="UnbindBackward0", samples=[Sample(A(2, 3), axis=0), Sample(A(2, 3), axis=1)], several=True)
def unstack(xp, x, *, axis):
    """Views of the slices along ``axis``, which is dropped."""
    return [x[_along(axis, x.ndim, k)] for k in range(x.shape[axis])]


unstack.vjp(x=lambda xp, g, axis: xp.stack(g, axis=axis))


@builtin(kind="linear", node="FlipBackward0", samples=[Sample(A(2, 3), axis=(0,)), Sample(A(2, 3), axis=(0, 1))])
def flip(xp, x, *, axis):
    """Entries in reverse order along each of ``axis``."""
    return xp.asarray(xp.flip(x, axis=axis), copy=True)


flip.vjp(x=lambda xp, g, axis: xp.flip(g, axis=axis))


@builtin(
    kind="linear",
    node="RollBackward0",
    samples=[Sample(A(2, 3), shift=(1,), axis=(1,)), Sample(A(2, 3), shift=(1, -2), axis=(0, 1))],
)
def roll(xp, x, *, shift, axis):
    """Entries moved on by ``shift`` along ``axis``, those pushed out coming in at the other end."""
    return xp.roll(x, shift, axis=axis)


roll.vjp(x=lambda xp, g, shift, axis: xp.roll(g, shift=tuple(-s for s in shift), axis=axis))

_MATRICES = [Sample(A(3, 4), k=0), Sample(A(2, 3, 3), k=-1), Sample(A(3, 3), k=1)]


@builtin(kind="linear", node="TrilBackward0", samples=_MATRICES)
def tril(xp, x, *, k):
    """The lower triangle of each matrix, up to diagonal ``k``; zeros above."""
    return xp.tril(x, k=k)


tril.vjp(x=lambda xp, g, k: xp.tril(g, k=k))


@builtin(kind="linear", node="TriuBackward0", samples=_MATRICES)
def triu(xp, x, *, k):
    """The upper triangle of each matrix, from diagonal ``k``; zeros below."""
    return xp.triu(x, k=k)


triu.vjp(x=lambda xp, g, k: xp.triu(g, k=k))


@builtin(kind="linear", node="CloneBackward0", samples=[Sample(A(2, 3)), Sample(A())])
def copy(xp, x):
    """A copy in fresh memory."""
    return xp.asarray(x, copy=True)


copy.vjp(x=lambda xp, g: g)


@builtin(kind="view", node="AliasBackward0", samples=[Sample(A(2, 3))])
def alias(xp, x):
    """The same memory under another name."""
    return x


alias.vjp(x=lambda xp, g: g)


@builtin(kind="linear", node="ToCopyBackward0", samples=[Sample(A(2, 3), dtype="float64", source="float64")])
def astype(xp, x, *, dtype, source):
    """``x`` converted from dtype ``source`` to ``dtype``, both by name; the cotangent is converted back."""
    return xp.astype(x, getattr(xp, dtype))


astype.vjp(x=lambda xp, g, dtype, source: astype(g, dtype=source, source=dtype))

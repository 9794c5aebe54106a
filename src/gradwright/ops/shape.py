"""Views and rearrangements: reshape, permute, stretch, squeeze, join, split, flip, roll, triangles and diagonals."""

from __future__ import annotations

from functools import cache
from itertools import accumulate

from gradwright.ops.declare import A, Sample, builtin


@builtin(kind="view", node="ViewBackward0", samples=[Sample(A(3, 4), shape=(2, 6)), Sample(A(1), shape=())])
def reshape(xp, x, *, shape):
    """The same entries in row-major order under another shape; a view where memory allows it."""
    return xp.reshape(x, shape)


reshape.vjp(x=lambda xp, g, x_shape: xp.reshape(g, x_shape))


@cache
def _inverse(axes):
    """The order that undoes this one."""
    return tuple(axes.index(i) for i in range(len(axes)))


@builtin(kind="view", node="PermuteBackward0", samples=[Sample(A(2, 3, 4), axes=(2, 0, 1)), Sample(A(3), axes=(0,))])
def permute_dims(xp, x, *, axes):
    """A view with its axes in another order."""
    return xp.permute_dims(x, axes)


permute_dims.vjp(x=lambda xp, g, axes: xp.permute_dims(g, _inverse(axes)))
permute_dims.unview = lambda xp, x, value, axes: xp.permute_dims(value, _inverse(axes))


@builtin(kind="view", node="ExpandBackward0", samples=[Sample(A(3, 1), shape=(2, 3, 4)), Sample(A(), shape=(2,)),
         Sample(A(2, 2), shape=(2, 2))])  # fmt: skip
def broadcast_to(xp, x, *, shape):
    """A view stretched to a larger shape: axes of length 1 are repeated, new ones come in front."""
    return xp.broadcast_to(x, shape)


broadcast_to.vjp(x=lambda xp, g, x_shape: sum_to(xp, g, x_shape))


def broadcasts(small, large):
    """Whether an array of shape ``small`` broadcasts to ``large``."""
    lead = len(large) - len(small)
    return lead >= 0 and all(n in (1, m) for n, m in zip(small, large[lead:], strict=True))


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

for _folded in (reshape, expand_dims, squeeze):
    _folded.unview = lambda xp, x, value, **static: xp.reshape(value, x.shape)


@builtin(kind="linear", node="CatBackward0", moves=True, samples=[Sample(A(2, 3), A(1, 3), axis=0, ends=(2, 3)),
         Sample(A(2, 1), A(2, 2), A(2, 3), axis=-1, ends=(1, 3, 6))])  # fmt: skip
def concat(xp, *xs, axis, ends):
    """Arrays joined end to end along ``axis``; ``ends`` says where each of them ends, for the way back."""
    return xp.concat(xs, axis=axis)


def _along(axis, ndim, part):
    """The index that takes ``part`` along one axis."""
    return (slice(None),) * (axis % ndim) + (part, ...)


def _piece(xp, g, axis, ends, i):
    return g[_along(axis, g.ndim, slice(ends[i - 1] if i else 0, ends[i]))]


concat.vjp(xs=_piece)


@builtin(kind="linear", node="StackBackward0", moves=True,
         samples=[Sample(A(2, 3), A(2, 3), axis=0), Sample(A(2), A(2), axis=-1)])  # fmt: skip
def stack(xp, *xs, axis=0):
    """Arrays of one shape joined along a new axis."""
    return xp.stack(xs, axis=axis)


stack.vjp(xs=lambda xp, g, axis, i: g[_along(axis, g.ndim, i)])


@builtin(kind="view", node="SplitBackward0",
         samples=[Sample(A(5, 2), sizes=(2, 2, 1), axis=0), Sample(A(2, 3), sizes=(1, 2), axis=1)],
         several=True)  # fmt: skip
def split(xp, x, *, sizes, axis):
    """Views of consecutive pieces along ``axis``, of the given sizes."""
    before = (slice(None),) * (axis % x.ndim)
    return [x[(*before, slice(end - n, end), ...)] for n, end in zip(sizes, accumulate(sizes), strict=True)]


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


@builtin(kind="linear", rows=True, node="RollBackward0",
         samples=[Sample(A(2, 3), shift=(1,), axis=(1,)), Sample(A(2, 3), shift=(1, -2), axis=(0, 1))])  # fmt: skip
def roll(xp, x, *, shift, axis):
    """Entries moved on by ``shift`` along ``axis``, those pushed out coming in at the other end."""
    return xp.roll(x, shift, axis=axis)


roll.vjp(x=lambda xp, g, shift, axis: xp.roll(g, shift=tuple(-s for s in shift), axis=axis))


@builtin(kind="linear", node="RepeatBackward0",
         samples=[Sample(A(2, 3), reps=(2, 1)), Sample(A(2), reps=(2, 3)), Sample(A(), reps=(2,))])  # fmt: skip
def tile(xp, x, *, reps):
    """``x`` laid side by side, ``reps`` times along each axis; more of these than axes come in front."""
    shape = (1,) * (len(reps) - x.ndim) + x.shape
    split = xp.reshape(x, tuple(m for n in shape for m in (1, n)))
    whole = xp.broadcast_to(split, tuple(m for pair in zip(reps, shape, strict=True) for m in pair))
    return xp.reshape(xp.asarray(whole, copy=True), tuple(r * n for r, n in zip(reps, shape, strict=True)))


def _tile_slope(xp, g, x_shape, reps):
    shape = (1,) * (len(reps) - len(x_shape)) + x_shape
    split = xp.reshape(g, tuple(m for pair in zip(reps, shape, strict=True) for m in pair))
    return xp.reshape(xp.sum(split, axis=tuple(range(0, split.ndim, 2)), keepdims=False), x_shape)


tile.vjp(x=_tile_slope)


@builtin(kind="linear", node="RepeatInterleaveBackward0",
         samples=[Sample(A(2, 3), repeats=2, axis=0), Sample(A(2, 3), repeats=3, axis=1)])  # fmt: skip
def repeat(xp, x, *, repeats, axis):
    """Each slice along ``axis`` so many times."""
    return xp.repeat(x, repeats, axis=axis)


def _repeat_slope(xp, g, x_shape, repeats, axis):
    split = xp.reshape(g, (*x_shape[: axis + 1], repeats, *x_shape[axis + 1 :]))
    return xp.sum(split, axis=(axis + 1,), keepdims=False)


repeat.vjp(x=_repeat_slope)


@builtin(kind="general", complex="general", node="ConstantPadNdBackward0",
         samples=[Sample(A(2, 3), pad=((1, 0), (2, 1)), value=0.5),
         Sample(A(3, 4), pad=((-1, 1), (1, -2)), value=0)])  # fmt: skip
def constant_pad_nd(xp, x, *, pad, value):
    """``x`` with ``value`` put before and after it along each axis, ``pad`` wide; negative widths cut."""
    x = x[tuple(slice(max(-a, 0), n + min(b, 0)) for (a, b), n in zip(pad, x.shape, strict=True))]
    room = [(max(a, 0), max(b, 0)) for a, b in pad]
    if not any(map(any, room)):
        return xp.asarray(x, copy=True)
    shape = tuple(a + n + b for (a, b), n in zip(room, x.shape, strict=True))
    whole = xp.full(shape, value, dtype=x.dtype, device=x.device)
    return xp.put(whole, x, key=tuple(slice(a, a + n) for (a, _), n in zip(room, x.shape, strict=True)))


constant_pad_nd.vjp(x=lambda xp, g, pad: constant_pad_nd(g, pad=tuple((-a, -b) for a, b in pad), value=0))

_MATRICES = [Sample(A(3, 4), k=0), Sample(A(2, 3, 3), k=-1), Sample(A(3, 3), k=1)]


@builtin(kind="linear", rows=True, node="TrilBackward0", samples=_MATRICES)
def tril(xp, x, *, k):
    """The lower triangle of each matrix, up to diagonal ``k``; zeros above."""
    return xp.tril(x, k=k)


tril.vjp(x=lambda xp, g, k: xp.tril(g, k=k))


@builtin(kind="linear", rows=True, node="TriuBackward0", samples=_MATRICES)
def triu(xp, x, *, k):
    """The upper triangle of each matrix, from diagonal ``k``; zeros below."""
    return xp.triu(x, k=k)


triu.vjp(x=lambda xp, g, k: xp.triu(g, k=k))


@builtin(kind="linear", node="CloneBackward0", moves=True, samples=[Sample(A(2, 3)), Sample(A())])
def copy(xp, x):
    """A copy in fresh memory."""
    return xp.asarray(x, copy=True)


copy.vjp(x=lambda xp, g: g)


@builtin(kind="linear", node="CloneBackward0", moves=True, samples=[Sample(A(2, 3, 2, 2), order=(0, 2, 3, 1))])
def lay(xp, x, *, order):
    """A copy in fresh memory whose axes lie there in this order, the last one innermost, if the library can do that."""
    dense = xp.asarray(xp.permute_dims(x, order), copy=True)
    return xp.permute_dims(dense, tuple(map(order.index, range(x.ndim))))


lay.vjp(x=lambda xp, g: g)


@builtin(kind="view", node="AliasBackward0", samples=[Sample(A(2, 3))])
def alias(xp, x):
    """The same memory under another name."""
    return x


alias.vjp(x=lambda xp, g: g)
alias.unview = lambda xp, x, value: value


@builtin(kind="linear", node="ToCopyBackward0", moves=True,
         samples=[Sample(A(2, 3), dtype="float64", source="float64")])  # fmt: skip
def astype(xp, x, *, dtype, source):
    """``x`` converted from dtype ``source`` to ``dtype``, both by name; the cotangent is converted back.

    Complex numbers converted to real ones lose their imaginary part.
    """
    real = source.startswith("complex") and not dtype.startswith(("complex", "bool"))
    return xp.astype(xp.real(x) if real else x, getattr(xp, dtype))


astype.vjp(x=lambda xp, g, dtype, source: astype(g, dtype=source, source=dtype))


@builtin(kind="linear", node="ToCopyBackward0", samples=[Sample(A(2, 3), device=None, source=None)])
def to_device(xp, x, *, device, source):
    """``x`` moved to ``device``, of any library, from ``source``, where the cotangent goes back; None for a copy."""
    return xp.asarray(x, copy=True) if device is None else device.hold(x)


to_device.vjp(x=lambda xp, g, device, source: to_device(g, device=source, source=device))

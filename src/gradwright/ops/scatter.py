"""Reading and writing along one axis, at the places that an array of indices names."""

from __future__ import annotations

from math import prod

from gradwright.backends.generic import HERE
from gradwright.ops.declare import A, Sample, builtin
from gradwright.ops.index import unindex

_INDEX = A(values=[[0, 1], [2, 2], [1, 3]])


@builtin(complex="general", node="GatherBackward0", multilinear=True,
         samples=[Sample(A(3, 4), A(values=[[0, 1, 3, 0], [2, 2, 0, 1], [1, 1, 1, 1]]), axis=1),
         Sample(A(3, 2), A(values=[[0, 2], [1, 0]]), axis=0),
         Sample(A(3, 4), A(values=[[0, 2, 2]]), axis=1)])  # fmt: skip
def take_along_axis(xp, x, indices, *, axis):
    """y[i, j] = x[i, indices[i, j]] along ``axis``; ``indices`` may be shorter than x along the others."""
    return xp.take_along_axis(x, indices, axis=axis)


@builtin(complex="general", node="ScatterAddBackward0", samples=[Sample(A(3, 4), _INDEX, A(3, 2), axis=1),
         Sample(A(3, 4), A(values=[[1, 1]]), A(1, 2), axis=0)])  # fmt: skip
def scatter_add(xp, x, indices, src, *, axis):
    """x with ``src`` added at ``indices`` along ``axis``; repeated indices add up."""
    return xp.scatter_add(x, indices, src, axis=axis)


take_along_axis.vjp(
    x=lambda xp, g, x_shape, indices, axis: scatter_add(xp.zeros_like(g, shape=x_shape), indices, g, axis=axis)
)
scatter_add.vjp(x=lambda xp, g: g, src=lambda xp, g, indices, axis: take_along_axis(g, indices, axis=axis))


@builtin(complex="general", node="ScatterBackward0",
         samples=[Sample(A(3, 4), A(values=[[0, 1], [2, 0], [1, 3]]), A(3, 2), axis=1)])  # fmt: skip
def scatter(xp, x, indices, src, *, axis):
    """x with ``src`` written at ``indices`` along ``axis``; the derivative takes it that they name no place twice."""
    return xp.scatter(x, indices, src, axis=axis)


scatter.vjp(
    x=lambda xp, g, indices, axis: scatter(g, indices, xp.zeros_like(g, shape=indices.shape), axis=axis),
    src=lambda xp, g, indices, axis: take_along_axis(g, indices, axis=axis),
)


@builtin(node="ScatterReduceBackward0",
         samples=[Sample(A(3, 4, distinct=True), _INDEX, A(3, 2, distinct=True), axis=1)])  # fmt: skip
def scatter_max(xp, x, indices, src, *, axis):
    """The largest of x and what of ``src`` goes to its place; tied entries share the cotangent equally."""
    return xp.scatter_max(x, indices, src, axis=axis)


def _share(xp, g, x, indices, src, out, axis):
    """The cotangent, divided by how many entries tie for each place."""
    mine, theirs = xp.astype(x == out, g.dtype), _won(xp, g, indices, src, out, axis)
    return g / scatter_add(mine, indices, theirs, axis=axis)


def _won(xp, g, indices, src, out, axis):
    return xp.astype(src == take_along_axis(out, indices, axis=axis), g.dtype)


scatter_max.vjp(
    x=lambda xp, g, x, indices, src, out, axis: (
        xp.astype(x == out, g.dtype) * _share(xp, g, x, indices, src, out, axis)
    ),
    src=lambda xp, g, x, indices, src, out, axis: (
        _won(xp, g, indices, src, out, axis)
        * take_along_axis(_share(xp, g, x, indices, src, out, axis), indices, axis=axis)
    ),
)


@builtin(complex="general", samples=[Sample(A(3, 4), _INDEX, A(3, 2), axis=1)])
def scatter_prod(xp, x, indices, src, *, axis):
    """x with each place multiplied by what of ``src`` goes there. No derivative: `face.scatter` multiplies in pairs."""
    return xp.scatter_prod(x, indices, src, axis=axis)


@builtin(complex="general", node="MaxBackward0", multilinear=True,
         samples=[Sample(A(3, 4), A(values=[[2], [0], [3]]), axis=1, keepdims=k) for k in (False, True)])  # fmt: skip
def pick(xp, x, indices, *, axis, keepdims):
    """The entry at ``indices`` of each line along ``axis``, where they have length 1; ``axis`` goes unless kept."""
    y = xp.take_along_axis(x, indices, axis=axis)
    return y if keepdims else xp.squeeze(y, axis=(axis,))


def _pick_slope(xp, g, x_shape, indices, axis):
    return scatter_add(xp.zeros_like(g, shape=x_shape), indices, xp.reshape(g, indices.shape), axis=axis)


pick.vjp(x=_pick_slope)


@builtin(complex="general", node="IndexSelectBackward0", multilinear=True,
         samples=[Sample(A(3, 4), A(values=[2, 0, 2]), axis=0), Sample(A(2, 3), A(values=[1, 1]), axis=1)])  # fmt: skip
def take(xp, x, indices, *, axis):
    """The slices of x at a 1-d array of indices along ``axis``."""
    return xp.take(x, indices, axis=axis)


take.vjp(x=lambda xp, g, x_shape, indices, axis: unindex(g, indices, shape=x_shape, key=(*(slice(None),) * axis, HERE)))


@builtin(samples=[Sample(A(values=[[0, 2, 0], [1, 1, 1]]), axis=1, shape=(2, 3))])
def last_along(xp, indices, *, axis, shape):
    """Whether no later entry of ``indices`` names the same place along ``axis`` of an array of ``shape``."""
    order = xp.reshape(xp.arange(prod(indices.shape), device=indices.device), indices.shape)
    last = xp.scatter_max(xp.zeros_like(order, shape=shape), indices, order, axis=axis)
    return xp.take_along_axis(last, indices, axis=axis) == order


@builtin(samples=[Sample(A(values=[0, 2, 0]), A(values=[1, 1, 1]), key=(HERE, HERE), shape=(3, 2))])
def last_at(xp, *places, key, shape):
    """Whether no later entry of an index of an array of ``shape`` (see `index.at`) names the same place."""
    every = xp.reshape(xp.arange(prod(shape), device=places[0].device), shape)
    named = xp.at(every, *places, key=key)
    if not prod(named.shape):
        return xp.ones_like(named, dtype=xp.bool)
    return xp.reshape(last_along.forward(xp, xp.reshape(named, (-1,)), axis=0, shape=(prod(shape),)), named.shape)


@builtin(samples=[Sample(A(values=[[0, 2, 0], [1, 1, 1]]), axis=1, shape=(2, 3))])
def places_along(xp, indices, *, axis, shape):
    """The places, in row-major order of an array of ``shape``, of the entries that ``indices`` names along ``axis``."""
    every = xp.reshape(xp.arange(prod(shape), device=indices.device), shape)
    return xp.take_along_axis(every, indices, axis=axis)

"""Reading and writing by index, and views. Where entries are read, cotangents are put back: each other's vjp."""

from __future__ import annotations

from gradwright.backends.generic import HERE, overlapping, within
from gradwright.backends.steps import chain, read
from gradwright.ops.declare import A, Sample, builtin
from gradwright.ops.shape import permute_dims

_VIEWS = [
    Sample(A(4, 5), key=(slice(1, 3), ...)),
    Sample(A(4, 5), key=(1, ...)),
    Sample(A(4, 5), key=(slice(None, None, 2), None, -1)),
    Sample(A(4, 5), key=(..., slice(5, None, -3))),
]
_COPIES = [
    Sample(A(4, 5), A(values=[0, 2, 0]), A(values=[[4], [1]]), key=(HERE, HERE)),
    Sample(A(4, 5), A(values=[[0, 2], [4, -1]]), key=(slice(None), HERE)),
    Sample(A(3, 4, 2), A(values=[0, 2]), A(values=[1, 0]), key=(HERE, slice(1, 3), None, HERE)),
    Sample(A(2, 3), A(values=[[True, False, True], [False, False, True]]), key=(HERE,)),
]


@builtin(kind="view", node="SliceBackward0", samples=_VIEWS)
def index(xp, x, *, key):
    """``x[key]``, a view: the key holds ints, slices, None and ``...``."""
    try:
        return x[key]
    except IndexError:  # a library need not take slices that reach beyond the array
        return x[within(key, x.shape)]


@builtin(kind="linear", node="IndexBackward0", samples=_COPIES)
def at(xp, x, *places, key):
    """``x[key]``, a copy: where the key says `HERE` it holds the next of ``places``, index arrays and masks."""
    return xp.at(x, *places, key=key)


@builtin(kind="linear", node="UnindexBackward0", samples=[Sample(A(2, 5), shape=(4, 5), key=(slice(1, 3), ...)),
         Sample(A(5), shape=(4, 5), key=(1, ...)),
         Sample(A(3), A(values=[0, 2, 0]), A(values=[4, 1, 4]), shape=(4, 5), key=(HERE, HERE))])  # fmt: skip
def unindex(xp, x, *places, shape, key):
    """Zeros of ``shape`` with ``x`` added at ``key``: what `index` and `at` do to a cotangent."""
    return xp.unindex(x, *places, shape=shape, key=key)


def _read(g, places, key):
    return at(g, *places, key=key) if places else index(g, key=key)


index.unview = lambda xp, x, value, key: xp.put(x, value, key=key)
index.vjp(x=lambda xp, g, x_shape, key: unindex(g, shape=x_shape, key=key))
at.vjp(x=lambda xp, g, x_shape, places, key: unindex(g, *places, shape=x_shape, key=key))
unindex.vjp(x=lambda xp, g, places, key: _read(g, places, key))


_PUTS = [
    Sample(A(4, 5), A(2, 5), key=(slice(1, 3), ...)),
    Sample(A(4, 5), A(5), key=(1, ...)),
    Sample(A(4, 5), A(2), A(values=[0, 2]), A(values=[4, 1]), key=(HERE, HERE)),
]


@builtin(kind="linear", node="IndexPutBackward0", samples=_PUTS)
def put(xp, x, value, *places, key):
    """A copy of x in which ``x[key]`` is ``value`` (already of the shape of ``x[key]``)."""
    return xp.put(x, value, *places, key=key)


put.vjp(
    x=lambda xp, g, value_shape, places, key: put(g, xp.zeros_like(g, shape=value_shape), *places, key=key),
    value=lambda xp, g, places, key: _read(g, places, key),
)


@builtin(kind="linear", node="IndexAddBackward0",
         samples=[*_PUTS, Sample(A(4, 5), A(3, 5), A(values=[1, 1, 0]), key=(HERE,))])  # fmt: skip
def add_at(xp, x, value, *places, key):
    """A copy of x with ``value`` added to ``x[key]``; places named more than once add up."""
    return xp.put(x, value, *places, key=key, accumulate=True)


add_at.vjp(x=lambda xp, g: g, value=lambda xp, g, places, key: _read(g, places, key))


@builtin(
    complex="general",
    node="CopySlices",
    samples=[
        Sample(A(3, 4), A(4, 2), steps=chain((index, {"key": (slice(0, 2), ...)}), (permute_dims, {"axes": (1, 0)}))),
        Sample(A(3, 4), A(2), steps=chain((index, {"key": (1, ...)}), (index, {"key": (slice(1, 3),)}))),
    ],
)
def write_view(xp, base, value, *, steps):
    """``base`` after the region that ``steps`` view has been overwritten by ``value``.

    ``steps`` is the chain of view operations that leads from the base to the view (see `backends.steps`).
    """
    return xp.write_view(base, value, steps=steps)


write_view.vjp(
    base=lambda xp, g, value_shape, steps: write_view(g, xp.zeros_like(g, shape=value_shape), steps=steps),
    value=lambda xp, g, steps: read(g, steps),
)


_LAYOUTS = [
    Sample(A(3, 4), source=((3, 4), (4, 1), 0), target=((2, 2), (4, 2), 5)),
    Sample(A(5), source=((5,), (1,), 0), target=((3, 3), (1, 1), 0)),
    Sample(A(4), source=((4,), (2,), 1), target=((7,), (1,), 1)),
    Sample(A(2, 2), source=((2, 2), (1, 1), 1), target=((5,), (1,), 0)),
]


@builtin(kind="view", node="AsStridedBackward0", reaches=True, samples=_LAYOUTS)
def restride(xp, x, *, source, target):
    """Memory that ``x`` lays out as ``source``, read as ``target``: both a shape, a stride an axis, where it starts.

    A view, if x really lies so, and then it shows memory that x does not; else that is 0. Entries of x in one place are
    one entry, and share its cotangent.
    """
    return xp.restride(x, source=source, target=target)


@builtin(kind="linear", node="AsStridedBackwardBackward0",
         samples=[*_LAYOUTS, Sample(A(2, 2), source=((2, 2), (1, 1), 2), target=((5,), (1,), 0))])  # fmt: skip
def unstride(xp, x, *, source, target):
    """What `restride` does to a cotangent: a copy in which entries of x in one place add up, and all else is 0."""
    return xp.unstride(x, source=source, target=target)


def _shared(xp, g, source, target):
    """The cotangent of each entry: its part of that of its place."""
    out = unstride(g, source=target, target=source)
    if not overlapping(*source[:2]):
        return out
    return out / xp.unstride(xp.ones_like(g, shape=source[0]), source=source, target=source)


restride.vjp(x=_shared)
unstride.vjp(x=lambda xp, g, source, target: unstride(g, source=target, target=source))


@builtin(node="DiagonalBackward0", kind="view", samples=[Sample(A(3, 4), offset=0), Sample(A(2, 3, 3), offset=-1)])
def diagonal(xp, x, *, offset):
    """A view of the diagonal of each matrix in the last two axes."""
    return xp.linalg.diagonal(x, offset=offset)


@builtin(kind="linear", node="DiagEmbedBackward0",
         samples=[Sample(A(3), shape=(3, 4), offset=0), Sample(A(2, 2), shape=(2, 3, 3), offset=-1)])  # fmt: skip
def undiagonal(xp, x, *, shape, offset):
    """Zeros of ``shape`` with ``x`` on a diagonal of the last two axes."""
    return xp.write_view(xp.zeros_like(x, shape=shape), x, steps=chain((diagonal, {"offset": offset})))


def diag(d):
    """The matrices with these diagonals."""
    return undiagonal(d, shape=(*d.shape, d.shape[-1]), offset=0)


diagonal.vjp(x=lambda xp, g, x_shape, offset: undiagonal(g, shape=x_shape, offset=offset))
undiagonal.vjp(x=lambda xp, g, offset: diagonal(g, offset=offset))

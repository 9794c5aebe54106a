"""Which entries there are, where, and how often: no derivatives."""

from __future__ import annotations

from math import prod

from gradwright.ops.declare import A, Sample, builtin


@builtin(several=True, complex="general", samples=[Sample(A(values=[[0.0, 1.0], [2.0, 0.0]]))])
def nonzero(xp, x):
    """The indices of the entries that are not zero, one array for each axis."""
    return list(xp.nonzero(x))


@builtin(samples=[
    Sample(A(values=[0.0, 1.0, 1.0, 3.0]), A(values=[[1.0, 2.0]]), side="left"),
    Sample(A(values=[[0.0, 1.0], [1.0, 3.0]]), A(values=[[1.0, 2.0], [1.0, 4.0]]), side="right"),
])  # fmt: skip
def searchsorted(xp, edges, x, *, side):
    """Where in the last axis of ``edges``, ascending, each of x would go: before equals on the left side, else after.

    Edges of one axis serve all of x; else there is a line of them for each line of x.
    """
    if edges.ndim == 1:
        return xp.reshape(xp.searchsorted(edges, xp.reshape(x, (-1,)), side=side), x.shape)
    n = edges.shape[-1]
    low = xp.zeros(x.shape, dtype=xp.int64, device=x.device)
    high = low + n
    for _ in range(n.bit_length()):  # log2 n halvings of the range of each
        middle = (low + high) // 2  # where it is n, low is, and nothing changes
        edge = xp.take_along_axis(edges, middle - xp.astype(middle == n, xp.int64), axis=edges.ndim - 1)
        beyond = ~(edge > x if side == "right" else edge >= x) & (low < high)
        low, high = xp.where(beyond, middle + 1, low), xp.where(beyond, high, middle)
    return low


@builtin(several=True, samples=[Sample(A(values=[[2, 0], [3, 2]]), inverse=True, counts=True)])
def unique(xp, x, *, inverse, counts):
    """The distinct entries in order; which of them each entry is, and how often each occurs, if asked for."""
    flat = xp.reshape(x, (-1,))
    none = xp.zeros((0,), dtype=xp.int64, device=x.device)
    if inverse:
        values, places = xp.unique_inverse(flat)
        times = xp.bincount(places, length=values.shape[0]) if counts else none
        return [values, xp.reshape(places, x.shape), times]
    if counts:
        values, times = xp.unique_counts(flat)
        return [values, none, times]
    return [xp.sort(xp.unique_values(flat)), none, none]


@builtin(samples=[Sample(A(values=[[2, 0], [1, 3], [2, -1]]))])
def sorted_lines(xp, x):
    """The order that sorts the rows of a matrix: by their first entries, then the second, ..."""
    return xp.sorted_lines(x)


@builtin(several=True, samples=[Sample(A(values=[2, 2, 0, 2])), Sample(A(values=[[1, 2], [1, 2], [0, 2]]))])
def runs(xp, x):
    """Of slices that stand together and are equal: where each run begins, which run each slice is in, their lengths."""
    n = x.shape[0]
    rows = xp.reshape(x, (n, prod(x.shape[1:])))
    other = xp.any(rows[min(n, 1) : n, :] != rows[: max(n - 1, 0), :], axis=1)
    new = xp.concat([xp.ones_like(other, shape=(min(n, 1),)), other])
    (first,) = xp.nonzero(new)
    after = xp.concat([first[1:], xp.full((min(n, 1),), n, dtype=first.dtype, device=x.device)])
    return [first, xp.cumulative_sum(xp.astype(new, xp.int64)) - 1, after - first]


@builtin(samples=[Sample(A(3, 2), A(4), assume_unique=False, invert=False)])
def isin(xp, x, y, *, assume_unique, invert):
    """Whether each entry of x is (not) among those of y."""
    return xp.isin(x, y, assume_unique=assume_unique, invert=invert)


@builtin(samples=[Sample(A(values=[1, 0, 1, 4]), length=5), Sample(A(values=[1, 0, 1, 4]), A(4), length=7)])
def bincount(xp, x, *weights, length):
    """How often 0, 1, ... ``length`` - 1, which is all there is, occur in x, or the sums of their weights."""
    return xp.bincount(x, *weights, length=length)


@builtin(samples=[Sample(A(values=[2, 0, 3]))])
def repeated(xp, counts):
    """0, 1, 2, ... each so many times."""
    return xp.repeat(xp.arange(counts.shape[0], device=counts.device), counts)


@builtin(samples=[Sample(A(values=[0.0, 0.5, 1.0, 1.0, 3.0]), bins=2, low=0.0, high=1.0)])
def histc(xp, x, *, bins, low, high):
    """How many entries fall into each of ``bins`` equal parts of [low, high]; the last one holds its upper end."""
    return xp.histogram(x, bins, (low, high))[0]


@builtin(samples=[
    Sample(A(values=[[0.0, 0.5], [1.0, 1.0]]), A(values=[0.0, 1.0]), A(values=[0.0, 0.5, 1.0]), dims=2, density=False),
    Sample(A(values=[[0.0], [1.0]]), A(values=[0.0, 0.5, 1.0]), A(2), dims=1, density=True),
])  # fmt: skip
def histogram(xp, points, *edges, dims, density):
    """How many rows fall between the ``edges`` of each of ``dims`` axes, or the sums of their weights, which come last.

    The last bin of an axis holds its upper end. ``density`` divides by the sum and by the size of the bins.
    """
    edges, weights = edges[:dims], edges[dims:]
    inside, flat = xp.ones_like(points[:, 0], dtype=xp.bool), xp.zeros_like(points[:, 0], dtype=xp.int64)
    for k, edge in enumerate(edges):
        x, n = points[:, k], edge.shape[0] - 1
        place = xp.searchsorted(edge, x, side="right") - 1
        place = place - xp.astype(x == edge[n], place.dtype)
        inside = (place >= 0) & (place < n) & inside
        flat = flat * n + place
    sizes = [e.shape[0] - 1 for e in edges]
    n = prod(sizes)  # the place of what is outside
    flat = n + (flat - n) * xp.astype(inside, flat.dtype)
    counts = xp.bincount(flat, *weights, length=n + 1)
    counts = xp.astype(xp.reshape(counts[:n], tuple(sizes)), points.dtype)
    if not density:
        return counts
    counts = counts / xp.sum(counts)
    for k, edge in enumerate(edges):
        counts = counts / xp.reshape(edge[1:] - edge[:-1], (-1,) + (1,) * (dims - k - 1))
    return counts

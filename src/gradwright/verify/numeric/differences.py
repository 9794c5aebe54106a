"""Finite differences: the one place that moves the inputs of a function and takes them.

A *sampler* goes some way from where the inputs are: called with distances, it says how far it came, and what each
output was there. `differences` asks one for both sides; slopes, one-sided slopes and extrapolations are readings of
what it found. There are two samplers here, `by_coordinates` and `along`; others are written where they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradwright.engine.memory import writable
from gradwright.engine.node import AccumulateGrad
from gradwright.verify.numeric.jacobian import Matrix, Rows, Subject, as_coordinates, coordinates, rounding

Sampler = Callable[[Any], tuple[Any, list[Matrix]]]
"""From distances to how far they came, once rounded, and for each output a matrix with a row for each distance."""


# ---- moving inputs ---------------------------------------------------------------------------------------


@contextmanager
def movable(x: Any) -> Iterator[Any]:
    """The memory of ``x``, to be written behind the graph's back; whoever writes puts back what was there.

    Memory that is read-only, or that the user also holds as an array, is replaced by a copy meanwhile.
    """
    array = writable(x)
    if array.flags.writeable and type(x._counter[0]) is int:
        yield array
        return
    back = tuple(slice(None, None, -1 if s < 0 else None) for s in array.strides)
    with replaced(x, array[back].copy(order="K")[back] if array.ndim else array.copy()):
        yield x.array


@contextmanager
def restored(given: Sequence[Any]) -> Iterator[None]:
    """These tensors have the numbers of before once it ends, whatever a function has written to them."""
    before = [(x, np.array(x.array)) for x in given]
    try:
        yield
    finally:
        for x, array in before:
            if array.tobytes() != np.asarray(x.array).tobytes():
                x.array[...] = array


@contextmanager
def replaced(x: Any, array: Any) -> Iterator[None]:
    """``x`` with another array for its memory meanwhile, behind the graph's back."""
    before, counter = x.array, x._counter
    leaf = x._node if type(x._node) is AccumulateGrad else None
    x.array, x._counter = array, [0]  # of other memory, which the function may hand out, too
    try:
        if leaf is not None:
            leaf._array = array
        yield
    finally:
        x.array, x._counter = before, counter
        if leaf is not None:
            leaf._array = before


def moved(x: Any, steps: Any, rows: Rows | None = None) -> tuple[list[Any], Matrix]:
    """The values that the entries have when their coordinates go so far, and how far they go once rounded."""
    array = np.asarray(x.array)
    n = array.size
    which = np.arange(coordinates(x)) if rows is None else np.asarray(rows, dtype=np.intp)
    before = array.reshape(-1)[which % max(n, 1)]
    steps = np.broadcast_to(np.asarray(steps, np.float64), which.shape)
    if array.dtype.kind != "c":
        after = (before.astype(np.float64) + steps).astype(array.dtype)
        return after.tolist(), after.astype(np.float64) - before.astype(np.float64)
    direction = np.where(which < n, 1, 1j)
    after = (before.astype(np.complex128) + steps * direction).astype(array.dtype)
    gone = after.astype(np.complex128) - before.astype(np.complex128)
    return after.tolist(), np.where(which < n, gone.real, gone.imag)


def sample(subject: Subject, x: Any, values: Sequence[Any], rows: Rows | None = None,
           columns: Sequence[Rows | None] | None = None) -> list[Matrix]:
    """For each output a matrix of what it is with one entry of ``x`` at a time at its value, a row for each value.

    ``rows`` says which coordinates the values are of; by default one value for each. ``columns`` says which entries of
    each output are wanted; None for all.
    """
    n = x.array.size
    chosen = [slice(None) if c is None else c for c in columns or [None] * len(subject.shapes)]
    found = [np.empty((len(values), int(np.prod(shape, dtype=np.intp)) if isinstance(c, slice) else len(c)), dtype)
             for (shape, dtype), c in zip(subject.shapes, chosen, strict=True)]  # fmt: skip
    if not n:
        return found
    with movable(x) as array:
        cells = array.reshape(-1) if array.flags.c_contiguous else array.flat
        for r, value in enumerate(values):
            k = (r if rows is None else rows[r]) % n
            before = cells[k]
            try:
                cells[k] = value
                for matrix, out, c in zip(found, subject.values(), chosen):  # noqa: B905 - `values` has seen to it
                    matrix[r] = out.reshape(-1)[c]  # while it is moved: an output may be the input itself
            finally:
                cells[k] = before
    return found


def by_coordinates(subject: Subject, x: Any, rows: Rows | None, columns: Any, distances: Any) -> tuple[Any, Any]:
    """The sampler that moves one coordinate of ``x`` at a time: all, or each of ``rows``."""
    values, gone = moved(x, distances, rows)
    return gone, sample(subject, x, values, rows, columns)


@contextmanager
def together(subject: Subject, ways: Sequence[Any]) -> Iterator[Callable[[float], list[Any]]]:
    """What the outputs are with all inputs moved at once, ``t`` times their ways: a function of t."""
    with ExitStack() as stack:
        arrays = [stack.enter_context(movable(x)) for x in subject.varied]
        start = [a.copy() for a in arrays]
        for a, at in zip(arrays, start, strict=True):
            stack.callback(a.__setitem__, ..., at)

        def there(t: float) -> list[Any]:
            for a, at, way in zip(arrays, start, ways, strict=True):
                np.copyto(a, at + t * way, casting="unsafe")
            return subject.values()

        yield there


def along(there: Callable[[float], list[Any]], cotangents: Sequence[Any], distance: float) -> tuple[Any, Any]:
    """The sampler of one number, the sum of all outputs weighted by cotangents; and of what rounding may do to it."""
    total, size = 0.0, 0.0
    for o, v in zip(there(distance), cotangents, strict=True):
        terms = v * o.reshape(-1)
        total += float(terms.real.sum())
        size += rounding(o.dtype) * float(np.linalg.norm(terms))
    return distance, [np.array([[total]]), np.array([[size]])]


# ---- differences, and how to read them -------------------------------------------------------------------


class Differences(NamedTuple):
    """Central differences of each output, and what they were made of.

    Attributes:
        slopes: for each output the matrix ``(up - down) / (how far apart)``.
        up, down: for each output a matrix of its values further up, or down: a row for each distance.
        ahead, behind: by how much it went up, and down, for each row: both positive.
    """

    slopes: list[Matrix]
    up: list[Matrix]
    down: list[Matrix]
    ahead: Matrix
    behind: Matrix

    def one_sided(self, at: Sequence[Any]) -> list[tuple[Matrix, Matrix]]:
        """For each output the slopes to the left and to the right, given the values in the middle."""
        return [
            ((here(a) - here(d)) / self.behind[:, None], (here(u) - here(a)) / self.ahead[:, None])
            for a, u, d in zip(at, self.up, self.down, strict=True)
        ]


def differences(sampler: Sampler, steps: Any) -> Differences:
    """The differences between so many steps up and down: a number, or one for each row."""
    ahead, up = sampler(steps)
    behind, down = sampler(-np.asarray(steps, np.float64))
    ahead, behind = np.atleast_1d(ahead), -np.atleast_1d(behind)
    with np.errstate(all="ignore"):
        slopes = [(here(u) - here(d)) / (ahead + behind)[:, None] for u, d in zip(up, down, strict=True)]
    return Differences(slopes, up, down, ahead, behind)


def central(subject: Subject, x: Any, steps: Any, rows: Rows | None = None,
            columns: Sequence[Rows | None] | None = None) -> Differences:
    """Differences by ``x``: two calls of the function for each coordinate, or each of ``rows``.

    ``steps``: how far to go each way. ``columns``: as in `sample`.
    """
    return differences(partial(by_coordinates, subject, x, rows, columns), steps)


def here(array: Any) -> Any:
    """An array as rows of numbers that NumPy computes well with."""
    flat = array.reshape(-1) if array.ndim != 2 else array
    return flat.astype(np.complex128 if array.dtype.kind == "c" else np.float64, copy=False)


# ---- extrapolation ---------------------------------------------------------------------------------------


def converging(ladder: Iterable[tuple[Matrix, Matrix]], start: Matrix,
               likely: Callable[[Matrix, Matrix], Any] | None = None) -> Iterator[tuple[Matrix, Matrix]]:
    """The best extrapolation to no step, and its error bar, after each slope; ``start`` and inf until there is one.

    ``ladder`` gives slopes, each with half the step of the one before, and what rounding does to them. Of Richardson's
    extrapolations that are ``likely`` the one is taken whose neighbours agree best (Ridders); the bar is how well they
    do, and no less than the rounding.
    """
    value, bar = start, np.full(start.shape, np.inf)
    before: list[Matrix] = []
    for slope, noise in ladder:
        row = [slope]
        for j, corner in enumerate(before):
            better = row[j] + (row[j] - corner) / (4.0 ** (j + 1) - 1)
            off = np.maximum(np.abs(better - row[j]), np.abs(better - corner)) + noise
            take = off < bar if likely is None else (off < bar) & likely(better, off)
            value, bar = np.where(take, better, value), np.where(take, off, bar)
            row.append(better)
        before = row
        yield value, bar


class Extrapolated(NamedTuple):
    """Derivatives of one output by one input, from differences with several steps.

    Attributes:
        value, bar: the derivative and how far it may be off, entry by entry; the bar is infinite where nothing finite
            was found.
        steps: those that were tried, largest first, a row for each coordinate.
        ladder: the central differences with each of them: (step, row, column).
    """

    value: Matrix
    bar: Matrix
    steps: Matrix
    ladder: Matrix


def extrapolated(subject: Subject, x: Any, rows: Rows | None = None, *, levels: int = 8,
                 first: float = 0.1) -> list[Extrapolated]:
    """For each output its derivatives by ``x``, with error bars: see `converging`.

    The step is halved from ``first`` times the size of the coordinate, ``levels`` times. What the shortest steps do not
    bear out is not taken. Costs ``2 * levels`` calls for each row.
    """
    first = max(first, 4 * rounding(x.array.dtype) ** (1 / 3))
    steps = np.array([step(x, first, rows, small=0.05) / 2**i for i in range(levels)])
    all_of = [central(subject, x, h, rows) for h in steps]
    granularity = 4 * rounding(x.array.dtype) * size_of(x, rows)[:, None]  # to round inside is to be given another x
    found = [richardson(all_of, steps, k, dtype, granularity * np.abs(all_of[levels // 2].slopes[k]))
             for k, (_, dtype) in enumerate(subject.shapes)]  # fmt: skip
    coarse = steps[0] > first  # numbers so far apart that waves may lie between them: then all steps must agree
    if coarse.any():
        for e in found:
            spread = np.nanmax(np.abs(e.ladder - e.value), axis=0, initial=0.0)
            e.bar[coarse] = np.where(spread > np.abs(e.value) / 4 + e.bar, np.inf, e.bar)[coarse]
    return found


def last(ladder: Matrix | Sequence[Matrix], noises: Sequence[Matrix]) -> tuple[Matrix, Matrix]:
    """The slopes with the shortest step that are finite, and how far they may be off, judged by the ones before."""
    shortest, known = ladder[0], np.full(ladder[0].shape, np.inf)
    for slope, noise in zip(ladder[1:], noises[1:], strict=True):
        finite = np.isfinite(slope)
        known = np.where(finite, np.abs(slope - shortest) + noise, known)
        shortest = np.where(finite, slope, shortest)
    return shortest, known


def borne_out(shortest: Matrix, known: Matrix) -> Callable[[Matrix, Matrix], Any]:
    """Whether the shortest steps bear out an extrapolation: for `converging`."""
    return lambda better, off: ~(np.abs(better - shortest) > known + off)


def richardson(all_of: Sequence[Differences], steps: Matrix, output: int, dtype: Any, rough: Any = 0.0) -> Extrapolated:
    """The derivatives of an output, from differences each with half the step of the one before.

    ``rough``: how far the output is from smooth, entry by entry, where rounding to its dtype is not all.
    """
    ladder: Any = np.array([d.slopes[output] for d in all_of])
    with np.errstate(all="ignore"):
        sizes = [np.maximum(np.abs(here(d.up[output])), np.abs(here(d.down[output]))) for d in all_of]
        noises = [(4 * rounding(dtype) * size + rough) / (d.ahead + d.behind)[:, None]
                  for d, size in zip(all_of, sizes, strict=True)]  # fmt: skip
        shortest, known = last(list(ladder), noises)
        *_, (value, bar) = converging(zip(ladder, noises, strict=True), shortest, borne_out(shortest, known))
        bar = np.where(np.isinf(bar) & np.isfinite(known), known, bar)
    return Extrapolated(value, bar, steps.T, ladder)


LEVELS = 8
"""How many steps along a direction are tried, each half the one before."""
_LAST = 0.1 / 2**7


class Slope(NamedTuple):
    """A directional derivative.

    Attributes:
        value, bar: it, and how far it may be off.
        bent: whether there is a kink.
        last: the difference with the shortest step.
    """

    value: float
    bar: float
    bent: bool
    last: float


def slope_along(subject: Subject, u: Sequence[Any], v: Sequence[Any], levels: int = LEVELS,
                enough: float = 0.0) -> Slope:
    """The derivative of ``v . outputs`` along ``u``, extrapolated from central differences.

    ``u`` has for each input a row with how far to go by each coordinate, ``v`` an array of weights for each output. The
    steps are halved until the value is known to within ``enough``, or that often.
    """
    ways = [_shaped(d, x.array) for d, x in zip(u, subject.varied, strict=True)]
    taken: list[Differences] = []
    with together(subject, ways) as there, np.errstate(all="ignore"):
        sampler = partial(along, there, [np.conj(here(w.reshape(-1))) for w in v])
        middle = sampler(0.0)[1]

        def ladder() -> Iterator[tuple[Matrix, Matrix]]:
            for t in _LAST * 2.0 ** np.arange(levels)[::-1]:
                taken.append(differences(sampler, t))
                yield taken[-1].slopes[0][0, 0], taken[-1].up[1][0, 0] / t

        for value, bar in converging(ladder(), np.zeros(())):  # noqa: B007 - the last are what is found
            if len(taken) > 2 and 4 * bar <= enough:
                break
    last = taken[-1]
    *far, near = (float(np.abs(right - left)[0, 0]) for left, right in (d.one_sided(middle)[0] for d in taken[-2:]))
    rough = (last.up[1] / last.ahead).item()
    bent = near > 8 * rough and near > 1e-4 * abs(value.item()) and near > 0.6 * sum(far)
    return Slope(value.item(), 4 * bar.item(), bent, last.slopes[0].item())


def _shaped(way: Any, array: Any) -> Any:
    """A row of coordinates as an array."""
    n = array.size
    return (way[:n] + 1j * way[n:] if array.dtype.kind == "c" else way).reshape(array.shape)


# ---- steps -----------------------------------------------------------------------------------------------


def size_of(x: Any, rows: Rows | None = None) -> Matrix:
    """How far each coordinate (or each of ``rows``) of ``x`` is from 0; 0 for what is not finite."""
    size = np.abs(as_coordinates(np.asarray(x.array)).astype(np.float64))
    size = size if rows is None else size[np.asarray(rows, dtype=np.intp)]
    return np.where(np.isfinite(size), size, 0.0)


def lost(x: Any) -> float:
    """Steps shorter than this part of a number are all but lost in its rounding."""
    eps = rounding(x.array.dtype)
    return max(16 * eps, eps**0.75)


def step(x: Any, relative: float, rows: Rows | None = None, small: float = 0.25) -> Matrix:
    """For each coordinate (or each of ``rows``) of ``x``, ``relative`` times its size, taken as from ``small`` to 1.

    Numbers far from 0 move by much more than what rounds them.
    """
    size = size_of(x, rows)
    return np.maximum(relative * np.clip(size, small, 1), lost(x) * size)

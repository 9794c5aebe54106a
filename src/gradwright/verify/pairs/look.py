"""Looking at a pair at one of its points: what the derivative says there, and what it is to be compared with.

Each kind of pair becomes the same thing here: a matrix that is said, and a function whose differences it must be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradwright.verify.numeric.jacobian import rounding
from gradwright.verify.pairs.calls import Calls, Unusable
from gradwright.verify.pairs.measured import A_ROW, PARTS, Measured, Place, bisected, measured, place
from gradwright.verify.pairs.pair import ADJOINT, HESSIAN, HVP, JVP, VJP, Point
from gradwright.verify.pairs.reading import Read, dense, read
from gradwright.verify.pairs.steps import LADDERS, Way, climb

_MANY = 60
"""Products are asked for with every unit vector where there are no more than these."""


@dataclass(frozen=True, eq=False)
class Look:
    """One point, looked at.

    Attributes:
        number: of the point. view: what was measured; None if nothing was, and then ``why``.
        shape: what is wrong with the shape that is returned; ``""`` if nothing is. turned: it is that of the transpose.
        fresh: what the derivative says when it is called anew, where that is not what the program got; else None.
        dtype: of what is returned.
    """

    number: int
    view: Measured | None = None
    why: str = ""
    shape: str = ""
    turned: bool = False
    fresh: Any = None
    dtype: Any = None


def look(calls: Calls, number: int, room: int, trusted: bool = True) -> Look:
    """What is found at a point of the pair within ``room`` calls; ``trusted``: whether its gradient is right."""
    pair = calls.pair
    at = pair.points[number]
    if not np.isfinite(np.asarray(at.x)).all():
        return Look(number, why="the point is not finite")
    if pair.kind == ADJOINT:
        return _adjoint(calls, number, room)
    here = place(at.x, [p.x for p in pair.points], pair.bounds, pair.fixed)
    if not here.free.any() and here.free.size:
        return Look(number, why="no entry of it may be moved")
    if not here.free.size:
        return Look(number, why="it has no entries")
    f = compared(calls, at, here, trusted)
    try:
        out = f(here.x)
        if out is None:
            return Look(number, why=f"the value cannot be had there: it raises {calls.raised}")
        if pair.elementwise:
            out = np.asarray(out).reshape(here.x.shape) if np.size(out) == here.x.size else out
        told, rows, fresh = _said(calls, at, here, out)
    except Unusable as e:
        return Look(number, why=str(e))
    except (TypeError, ValueError) as e:
        return Look(number, why=f"`{pair.names[1]}` returns what holds no numbers: {e}")
    if told.matrix is None:
        return Look(number, why=told.shape, shape=told.shape, turned=told.turned, dtype=told.dtype)
    rough = _rough(calls, at, here, np.asarray(out), told.matrix) if rows is None else np.abs(told.matrix) * 1e-12
    if pair.elementwise:
        return _by_entry(calls, number, here, f, told, rough, room)
    if pair.kind == VJP and rows is not None:
        w = np.asarray(at.v, np.float64).reshape(-1)
        rows, f = None, _weighted(f, w)
    m = measured(calls, number, here, f, told.matrix, rough, room, rows)
    if isinstance(m, str):
        return Look(number, why=m)
    return Look(number, bisected(calls, m, f, rough) if rows is None else m, "", told.shape, told.turned, fresh,
                told.dtype)


def compared(calls: Calls, at: Point, here: Place, trusted: bool) -> Callable[[Any], Any]:
    """The function whose differences the derivative must be: the value, or the gradient where that can be trusted."""
    pair = calls.pair
    if pair.kind not in (HESSIAN, HVP):
        return calls.function(pair.value, at)  # type: ignore[arg-type]  # a Pair has one
    if pair.gradient is not None and (trusted or pair.value is None):
        return calls.function(pair.gradient, at)
    return _numeric_gradient(calls.function(pair.value, at), here)  # type: ignore[arg-type]


def _numeric_gradient(value: Callable[[Any], Any], here: Place) -> Callable[[Any], Any]:
    """The gradient of a value by differences, as a function of x."""

    def gradient(x: Any) -> Any:
        there = replace(here, x=x)
        middle = value(x)
        if middle is None:
            return None
        middle = middle.reshape(-1).astype(np.float64)
        found = np.zeros(x.size)
        for j in np.flatnonzero(here.free):
            way = np.zeros(x.size)
            way[j] = here.sizes[j]
            along = there.along(way)

            def moved(t: float, along: Any = along) -> tuple[float, Any]:
                gone, to = along(t)
                v = value(to)
                return gone, np.full(1, np.nan) if v is None else v.reshape(-1).astype(np.float64)

            first, levels = LADDERS[0]
            s = climb(Way(moved, middle, *there.room(way), 2.0**-52 * np.abs(middle)), first, levels, 0.0)
            found[j] = s.value[0] / here.sizes[j]
        return found.reshape(x.shape)

    return gradient


def _weighted(f: Callable[[Any], Any], w: Any) -> Callable[[Any], Any]:
    def weighted(x: Any) -> Any:
        found = f(x)
        return None if found is None or found.size != w.size else np.asarray(w @ found.reshape(-1))

    return weighted


# ---- what is said ------------------------------------------------------------------------------------------


def _said(calls: Calls, at: Point, here: Place, out: Any) -> tuple[Read, Any, Any]:
    """The derivative at a point: what the program got, or what a call says; the ways along which it is, if not whole.

    The third is what a call says, where that is another matrix than the program got.
    """
    pair, x = calls.pair, here.x
    if pair.kind in (HVP, JVP, VJP):
        return *_products(calls, at, here, np.asarray(out)), None
    shape = x.shape if pair.kind == HESSIAN else np.shape(out)
    shape = (x.size,) if pair.kind == HESSIAN and x.ndim != 1 else shape
    if pair.elementwise:
        return _entries(calls, at, x), None, None
    of = (x.size,) if pair.kind == HESSIAN and x.ndim != 1 else x.shape

    def reading(returned: Any) -> Read:
        found = read(returned, of, shape, pair.transposed)
        if pair.triangle and found.matrix is not None:
            low = np.tril(found.matrix.T) if pair.triangle == "lower" else np.triu(found.matrix.T)
            found = found._replace(matrix=low + low.T - np.diag(np.diag(low)))
        return found

    if at.returned is None:
        return reading(calls.derivative(at)), None, None
    told = reading(at.returned)
    try:
        again = reading(calls.derivative(at)).matrix
    except Unusable:
        return told, None, None
    same = told.matrix is None or again is None or np.allclose(again, told.matrix, 1e-9, 1e-300, equal_nan=True)
    return told, None, None if same else again


def _entries(calls: Calls, at: Point, x: Any) -> Read:
    """An elementwise derivative: a number for each entry of x."""
    returned = calls.derivative(at) if at.returned is None else at.returned
    array = dense(returned)
    if array.size != x.size:
        return Read(None, f"it returns shape {array.shape} where {x.shape} belongs", False, array.dtype)
    shape = "" if array.shape == x.shape or x.size == 1 else f"it returns shape {array.shape} where {x.shape} belongs"
    return Read(array.reshape(-1, 1).astype(np.float64), shape, False, array.dtype)


def _products(calls: Calls, at: Point, here: Place, out: Any) -> tuple[Read, Any]:
    """A product with every unit vector, as a matrix; or, where these are many, with a few vectors, and which."""
    pair, x = calls.pair, here.x
    of, gives = (out.shape, x) if pair.kind == VJP else (x.shape, x if pair.kind == HVP else out)
    n = int(np.prod(of))
    given = None if at.v is None else np.asarray(at.v, np.float64).reshape(-1)
    generator = np.random.default_rng(11)
    if n <= _MANY:
        vectors = np.eye(n)
    elif pair.kind == VJP:
        vectors = (generator.standard_normal(n) if given is None else given)[None]
        at = replace(at, v=vectors[0].reshape(of))
    else:
        sizes = here.sizes if np.size(here.sizes) == n else np.ones(n)
        vectors = generator.standard_normal((3, n)) * np.where(here.inward() == 0, sizes, 0.0)
        vectors = vectors if given is None else np.vstack((given, vectors))
    products = []
    dtype: Any = None
    for v in vectors:
        array = dense(calls.derivative(at, v=v.reshape(of)))
        if array.size != gives.size:
            return Read(None, f"it returns shape {array.shape} where {gives.shape} belongs", False, array.dtype), None
        dtype = array.dtype
        products.append(array.reshape(-1).astype(np.complex128 if dtype.kind == "c" else np.float64))
    matrix = np.array(products)
    if pair.kind == VJP:
        return Read(matrix.T, "", False, dtype), None if n <= _MANY else vectors
    return Read(matrix, "", False, dtype), None if n <= _MANY else vectors


def _rough(calls: Calls, at: Point, here: Place, out: Any, matrix: Any) -> Any:
    """How far rounding may have put the derivative off: by how much it differs a few of x's spacings away."""
    pair = calls.pair
    if pair.kind in (HVP, JVP, VJP):
        return np.abs(matrix) * 1e-12
    off = np.abs(matrix) * 1e-14
    value = calls.function(pair.value, at) if pair.value is not None else None
    of = (here.x.size,) if pair.kind == HESSIAN and here.x.ndim != 1 else here.x.shape
    for k in (1, -1):
        way = np.where(here.inward() == 0, k, here.inward()) * np.where(here.free, 1.0, 0.0)
        x = here.along(way * 4 * np.spacing(np.maximum(np.abs(here.x.reshape(-1)), here.sizes * 0.1)))(1.0)[1]
        try:
            if value is not None:
                value(x)  # what shares its work with the value must have it
            returned = calls.derivative(at, x)
            other = dense(returned).reshape(-1, 1).astype(np.float64) if pair.elementwise else read(
                returned, of, of if pair.kind == HESSIAN else out.shape, pair.transposed).matrix  # fmt: skip
        except (Unusable, TypeError, ValueError):
            return off
        if other is None or other.shape != matrix.shape or pair.triangle:
            return off
        base = matrix if at.returned is None else None
        off = off if base is None else np.maximum(off, np.where(np.isfinite(other - base), np.abs(other - base), 0.0))
    return np.minimum(off, 1e-5 * np.abs(matrix).max(initial=0.0))


# ---- what is not measured by differences along x -----------------------------------------------------------


def _by_entry(calls: Calls, number: int, here: Place, f: Callable[[Any], Any], told: Read, rough: Any,
              room: int) -> Look:  # fmt: skip
    """An elementwise derivative against the differences of each entry, or of all at once where none moves another."""
    n = here.x.size
    few = np.flatnonzero(here.free)
    most = max(2, room // A_ROW // 2)
    if few.size > most:
        few = np.sort(np.random.default_rng(3).choice(few, most, replace=False))
    full = np.zeros((n, n))
    np.fill_diagonal(full, told.matrix[:, 0])
    ways = np.eye(n)[few]
    m = measured(calls, number, here, f, full[few], np.abs(full[few]) * 1e-12, 0, ways)
    if isinstance(m, str):
        return Look(number, why=m)
    own = np.zeros(m.true.shape, bool)
    own[np.arange(len(m.rows)), np.argmax(np.abs(m.rows), axis=1)] = True
    local = not (np.abs(np.where(own, 0, m.true)) > m.allowed + 1e-9 * m.scale).any()

    def column(part: Any) -> Any:
        return part[own][:, None]

    m = replace(m, said=told.matrix, out=(), **{name: column(getattr(m, name)) for name in PARTS})
    if local and few.size < here.free.sum() and not m.wrong.any():
        together = measured(calls, number, here, f, (told.matrix[:, 0] * here.sizes)[None], np.zeros((1, n)), 0,
                            here.sizes[None])  # fmt: skip
        if not isinstance(together, str) and (bad := np.flatnonzero(together.wrong[0])).size:
            bad = bad[: max(1, most)]
            ways = np.eye(n)[bad]
            again = measured(calls, number, here, lambda x: _taken(f(x), bad), full[bad][:, bad],
                             np.zeros((len(ways), len(ways))), 0, ways)  # fmt: skip
            if not isinstance(again, str):
                diagonals: dict[str, Any] = {k: np.diag(getattr(again, k))[:, None] for k in PARTS}
                more: dict[str, Any] = {k: np.concatenate((getattr(m, k), d)) for k, d in diagonals.items()}
                m = replace(m, rows=np.vstack((m.rows, again.rows)), steps=(*m.steps, *again.steps),
                            ladders=(*m.ladders, *again.ladders), **more)  # fmt: skip
    return Look(number, m, "", told.shape, False, None, told.dtype)


def _taken(values: Any, which: Any) -> Any:
    return None if values is None else values.reshape(-1)[which]


def _adjoint(calls: Calls, number: int, room: int) -> Look:
    """A linear map and its adjoint: entry by entry, or where these are many, by products with random vectors."""
    pair, at = calls.pair, calls.pair.points[number]
    value = calls.function(pair.value, at)  # type: ignore[arg-type]
    x = np.asarray(at.x)
    middle = value(x)
    if middle is None:
        return Look(number, why=f"`{pair.names[0]}` raises {calls.raised}")
    n, out, m = x.size, middle.shape, middle.size
    generator = np.random.default_rng(13)
    small = n + m <= room
    many = min(6, max(2, room // 4))
    us = np.eye(n) if small else _drawn(generator, (many, n), x)
    ws = np.eye(m) if small else _drawn(generator, (many, m), middle)
    try:
        back = [dense(calls.derivative(at, v=w.reshape(out))) for w in ws]
    except Unusable as e:
        return Look(number, why=str(e))
    if any(b.size != n for b in back):
        shape = f"it returns shape {back[0].shape} where {x.shape} belongs"
        return Look(number, why=shape, shape=shape)
    said = np.conj(np.array([b.reshape(-1) for b in back]).T)  # (n, w): its column k is conj(A^H w_k)
    ahead = [value(u.reshape(x.shape)) for u in us]
    if any(a is None or a.size != m for a in ahead):
        return Look(number, why=f"`{pair.names[0]}` does not take what it is the linear map of: {calls.raised}")
    images = np.array([a.reshape(-1) for a in ahead])  # (u, m)
    true, told = images @ np.conj(ws).T, us @ said
    unit = max(2.0**-52, rounding(images.dtype), rounding(back[0].dtype))
    size = np.linalg.norm(images, axis=1)[:, None] * np.linalg.norm(ws, axis=1)[None]
    bar = 4 * unit * np.sqrt(n + m) * np.maximum(size, float(np.max(size, initial=0.0)) * 1e-3)
    none = np.zeros(true.shape, bool)
    here = Place(np.zeros(n), np.full(n, -np.inf), np.full(n, np.inf), np.ones(n, bool), np.ones(n))
    room_for = 16 * bar
    known = said if small else None
    view = Measured(number, here, out, known, us, told, true, bar, room_for, room_for, true, true, none,
                    none, tuple(np.ones(1) for _ in us), tuple(t[None] for t in true), np.zeros(m))  # fmt: skip
    return Look(number, view, dtype=back[0].dtype)


def _drawn(generator: Any, shape: tuple[int, ...], like: Any) -> Any:
    drawn = generator.standard_normal(shape)
    return drawn + 1j * generator.standard_normal(shape) if np.iscomplexobj(like) else drawn


def linear(calls: Calls, number: int) -> bool:
    """Whether the value of an adjoint pair is linear, up to rounding."""
    at = calls.pair.points[number]
    value = calls.function(calls.pair.value, at)  # type: ignore[arg-type]
    u, v = _drawn(np.random.default_rng(17), (2, *np.shape(at.x)), at.x)
    parts = value(u), value(v), value(u + 3 * v)
    if any(p is None for p in parts):
        return True
    a, b, c = (p.astype(np.complex128) for p in parts)
    unit = max(2.0**-52, rounding(parts[0].dtype))
    size = np.abs(a).max(initial=0.0) + np.abs(b).max(initial=0.0)
    return bool(np.abs(c - a - 3 * b).max(initial=0.0) <= 1e4 * unit * size)

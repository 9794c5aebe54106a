"""Checking an operation with its samples: against finite differences to any order, and on another array library.

Derivatives are stacked up in a *tower*. Its ground floor is the outputs of the operation; each floor above is the
gradient of the floor below, contracted with fixed cotangents, with respect to the inputs and to all cotangents used so
far. So floors stay as small as the inputs, and a wrong entry in any derivative shows up on some floor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.engine.base import wrap
from gradwright.engine.calls import grad
from gradwright.ops.declare import Op, Sample
from gradwright.verify.numeric.differences import differences
from gradwright.verify.numeric.jacobian import leaf
from gradwright.verify.testing.samples import draw

_STEP = 1e-5


def tower(op: Op, static: dict[str, Any], rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The floors of the tower of ``op``: outputs, gradients, second derivatives and so on; None where nothing flows.

    ``rows`` are the arrays it stands on: those of the operation, then the cotangents of each floor (see `footing`).
    """
    arrays, *cotangents = rows
    xs = [leaf(a) if d else wrap(a) for a, d in zip(arrays, _differentiable(op, arrays), strict=True)]
    out = op(*xs, **static)
    floors = [list(out) if op.several else [out]]
    inputs = [x for x in xs if x._node is not None]
    for row in cotangents:
        vs = [leaf(v) for v in row]
        flows = [(y, v) for y, v in zip(floors[-1], vs, strict=True) if y is not None and y._node is not None]
        ys, gs = zip(*flows, strict=True) if flows else ((), ())
        nothing = [None] * len(inputs)
        floors.append(list(grad(ys, inputs, gs, create_graph=True, allow_unused=True)) if flows else nothing)
        inputs += vs
    return floors


def footing(op: Op, arrays: Sequence[Any], static: dict[str, Any], order: int) -> list[list[Any]]:
    """The NumPy arrays and random cotangents on which a tower with ``order`` floors above the ground stands."""
    generator = np.random.default_rng(1)
    out = op(*arrays, **static)
    outputs = [np.asarray(o) for o in (out if op.several else [out])]
    inputs = [a for a, d in zip(arrays, _differentiable(op, arrays), strict=True) if d]
    rows = [list(arrays)]
    for _ in range(order):
        rows.append([_random(generator, like) for like in outputs])
        outputs = list(inputs)
        inputs += rows[-1]
    return rows


def _random(generator: Any, like: Any) -> Any:
    """Random numbers of the shape and dtype of an array."""
    parts = generator.standard_normal((2, *like.shape))
    return np.asarray(parts[0] + 1j * parts[1] if like.dtype.kind == "c" else parts[0]).astype(like.dtype)


def _differentiable(op: Op, arrays: Sequence[Any]) -> list[bool]:
    return [
        n in op.rules and ("float" in str(a.dtype) or "complex" in str(a.dtype))
        for n, a in zip(op.names_of(len(arrays)), arrays, strict=False)
    ]


def _arguments(op: Op, rows: Sequence[Sequence[Any]]) -> Iterator[tuple[int, int, str]]:
    """Where in ``rows`` the inputs of a gradient stand, and what to call them."""
    for j, d in enumerate(_differentiable(op, rows[0])):
        if d:
            yield 0, j, f"input {j} ({op.inputs[min(j, len(op.inputs) - 1)]})"
    for k, row in enumerate(rows[1:], 1):
        yield from ((k, j, f"cotangent {j} of order {k}") for j in range(len(row)))


def check_derivatives(op: Op, sample: Sample, *, order: int = 3, tolerance: float = 1e-6,
                      dtype: str = "float64") -> None:  # fmt: skip
    """Compare each order of derivative, up to ``order``, with central differences of the order below.

    In float64, or in complex128 with ``dtype="complex128"``. The first order is compared entry by entry, higher ones
    along a random direction in each input. ``tolerance`` is relative to the largest entry, and absolute below 1.

    Raises AssertionError naming the operation, the sample, the order and the input.

    >>> from gradwright.op import A, Sample
    >>> @gw.op(samples=[Sample(A(3))])
    ... def cube(xp, x):
    ...     return x * x * x
    >>> cube.vjp(x=lambda xp, g, x: 3 * g * x * x)
    <op cube(x)>
    >>> check_derivatives(cube, cube.samples[0])
    """
    arrays, static = draw(sample, dtype=dtype)
    rows = footing(op, arrays, static, order)
    floors = tower(op, static, rows)
    generator = np.random.default_rng(2)
    for k in range(1, order + 1):
        for (r, j, name), g in zip(_arguments(op, rows[:k]), floors[k], strict=True):
            x = rows[r][j]
            gradient = np.zeros_like(x) if g is None else g.array
            unit = np.eye(x.size, dtype=x.dtype)
            units = np.concatenate([unit, 1j * unit]) if x.dtype.kind == "c" else unit
            for direction in units.reshape(-1, *x.shape) if k == 1 else [_random(generator, x)]:
                sampler = partial(_moved_top, op, static, rows[: k + 1], (r, j), direction)
                numeric = differences(sampler, _STEP).slopes[0].item()
                formula = _inner(gradient, direction)
                if not abs(formula - numeric) <= tolerance * max(1.0, np.max(np.abs(gradient))):
                    where = f", entry {np.argwhere(direction)[0].tolist()}" if k == 1 and x.shape else ""
                    raise AssertionError(f"{op.name}({sample}): derivative of order {k} with respect to {name}{where} "
                                         f"is {formula:.9g} by the formula, {numeric:.9g} by finite differences of "
                                         f"order {k - 1}")
    for factor in (-1.0, 1024.0):
        scaled = tower(op, static, [rows[0], [(factor * v).astype(v.dtype) for v in rows[1]]])[1]
        for (_, _, name), a, b in zip(_arguments(op, rows[:1]), scaled, floors[1], strict=True):
            if a is not None and not np.allclose(a.array / factor, b.array, tolerance, tolerance, equal_nan=True):
                raise AssertionError(f"{op.name}({sample}): the gradient of {name} is not linear in its cotangent: "
                                     f"{factor:g} times that does not give {factor:g} times as much")


def _moved_top(op: Op, static: dict[str, Any], rows: Sequence[Sequence[Any]], at: tuple[int, int], direction: Any,
               distance: Any) -> tuple[Any, list[Any]]:  # fmt: skip
    """The top floor, contracted with the last of ``rows``, with one array so far along ``direction``."""
    moved = [list(row) for row in rows[:-1]]
    moved[at[0]][at[1]] = moved[at[0]][at[1]] + distance * direction
    top = tower(op, static, moved)[-1]
    found = sum(_inner(v, y.array) for y, v in zip(top, rows[-1], strict=True) if y is not None)
    return distance, [np.array([[found]])]


def _inner(g: Any, dy: Any) -> float:
    """dL = Re(conj(g) dy), summed over all entries."""
    return float(np.sum(np.conj(g) * dy).real)


def check_passes(op: Op, sample: Sample) -> None:
    """Compare an ordinary backward pass, for all inputs and for each alone, with a recorded one.

    Raises AssertionError if a gradient differs.
    """
    arrays, static = draw(sample)
    rows = footing(op, arrays, static, 1)
    recorded = tower(op, static, rows)[1]
    which = [j for _, j, _ in _arguments(op, rows[:1])]
    for needed in [which, *([j] for j in which)]:
        xs = [leaf(a) if j in needed else wrap(a) for j, a in enumerate(arrays)]
        out = op(*xs, **static)
        gradients = grad(out, [xs[j] for j in needed], [wrap(v) for v in rows[1]], allow_unused=True)
        for j, g in zip(needed, gradients, strict=True):
            where = f"{op.name}({sample}): gradient of input {j} alone" if len(needed) == 1 else f"{op.name}({sample})"
            _compare(where, g, recorded[which.index(j)], 1e-12)


def check_portable(op: Op, sample: Sample, xp: Any, *, order: int = 3, dtype: str = "float64") -> None:
    """Compare the outputs and derivatives that another library ``xp``, or another dtype, gives with NumPy's in float64.

    ``xp`` is a namespace such as `gradwright.backends.strict.namespace`. An operation without derivatives is compared
    in its outputs.

    Raises AssertionError if a value differs, or is not of the library and dtype of the arrays.
    """
    arrays, static = draw(sample)
    rows = footing(op, arrays, static, order) if op.rules else [arrays]
    floors = tower(op, static, rows)
    there = [[_converted(xp, a, dtype) for a in row] for row in rows]
    for k, (found, wanted) in enumerate(zip(tower(op, _moved(xp, static), there), floors, strict=True)):
        for j, (t, reference) in enumerate(zip(found, wanted, strict=True)):
            where = f"{op.name}({sample}), order {k}, array {j}"
            _compare(where, t, reference, 1e-9 if dtype == "float64" else 3e-3)
            if t is not None:
                assert backends.namespace(t.array) is backends.namespace(there[0][0]), f"{where} left its library"
                if "float" in str(t.array.dtype):
                    assert t.dtype.name == dtype, f"{where} is of dtype {t.dtype.name}, not {dtype}"


def _compare(where: str, got: Any, wanted: Any, tolerance: float) -> None:
    assert (got is None) == (wanted is None), f"{where}: nothing flows here in one of two passes"
    if got is not None:
        shapes = tuple(got.array.shape), wanted.array.shape
        assert shapes[0] == shapes[1], f"{where}: shape {shapes[0]}, not {shapes[1]}"
        np.testing.assert_allclose(np.asarray(got.array), wanted.array, tolerance, tolerance, err_msg=where)


def _converted(xp: Any, array: Any, dtype: str) -> Any:
    if array.dtype.kind == "c":
        dtype = {"float64": "complex128", "float32": "complex64"}[dtype]
    return xp.asarray(array.astype(dtype) if array.dtype.kind in "fc" else array)


def _moved(xp: Any, value: Any) -> Any:
    """``value`` with the NumPy arrays in it, inside tuples and dictionaries, as arrays of ``xp``."""
    if isinstance(value, tuple):
        return tuple(_moved(xp, v) for v in value)
    if isinstance(value, dict):
        return {k: _moved(xp, v) for k, v in value.items()}
    return xp.asarray(value) if isinstance(value, np.ndarray) else value

"""Random programs: arrays of many shapes, dtypes and layouts, and what can be done with them."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright.backends.quiet import quietly
from gradwright.compilation.node import HOST, Program
from gradwright.compilation.trace.traced import Notes, Traced, space

SHAPES: list[tuple[int, ...]] = [
    (), (3,), (1,), (4, 3), (1, 3), (4, 1), (2, 4, 3), (0,), (0, 3), (3, 3), (600,), (90, 70),
]  # fmt: skip
LONG: list[tuple[int, ...]] = [(40000,), (300, 128), (128,), (300, 1), (2, 25000), ()]
_MOST = 200_000
DTYPES = ["float64"] * 6 + ["float32"] * 6 + ["int64", "int32", "bool", "complex128", "complex64", "uint8", "float16"]
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0]

_UNARY = ["negative", "exp", "tanh", "sin", "square", "sqrt", "abs", "log1p", "expm1", "reciprocal", "positive"]
_STEPS = ["floor", "sign", "isnan"]
_BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum"]
_TESTS = ["less", "equal", "greater_equal", "not_equal"]
_NUMBERS = [0, 1, -1, 2, 0.5, -0.0, 0.0, 1.0, -1.0, 3, 0.3]


def laid_out(rng: np.random.Generator, x: Any) -> Any:
    """The same values in an array whose entries lie in one of several ways."""
    kind = rng.integers(8)
    if kind == 0 and x.ndim > 1:
        return np.asfortranarray(x)
    if kind == 1 and x.ndim:
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
        wide[..., ::2] = x
        return wide[..., ::2]
    if kind == 2 and x.ndim:
        return x[::-1].copy()[::-1]
    if kind == 3 and x.ndim and x.shape[0] > 1:
        return np.broadcast_to(x[:1], x.shape)
    return np.array(x)


def values(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, special: bool) -> Any:
    """Numbers between -2 and 2 that stay clear of 0, and, if ``special``, some of those that need care."""
    x = rng.uniform(0.3, 2, shape) * rng.choice([-1, 1], shape)
    if dtype.startswith("complex"):
        x = x + 1j * rng.uniform(0.3, 2, shape)
    elif special and dtype.startswith("float") and rng.random() < 0.3:
        x = np.where(rng.random(shape) < 0.2, rng.choice(SPECIAL, shape), x)
    return np.abs(x).astype(dtype) if dtype == "uint8" else np.asarray(x).astype(dtype)


class Making:
    """One random program.

    Args:
        seed: everything follows from it.
        special: whether there are infinities, NaN, both zeros, and functions with jumps.
        long: whether the arrays are long.
        outside: whether there are checks, host calls, and outputs that are written to inputs.
    """

    def __init__(self, seed: int, special: bool = True, long: bool = False, outside: bool = False) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.special, self.long, self.outside = special, long, outside
        shapes = LONG if long else SHAPES
        dtypes = DTYPES if special else ["float64"]
        count = int(rng.integers(1, 5))
        wide = shapes[rng.integers(len(shapes))]
        self._made = [(
            int(rng.integers(2**32)), wide if rng.random() < 0.4 else shapes[rng.integers(len(shapes))],
            str(rng.choice(dtypes if rng.random() < 0.5 else dtypes[:1])),
        ) for _ in range(count)]  # fmt: skip
        self.notes = Notes()
        self.arrays = self.inputs()
        self.values: list[Traced] = [self.notes.input(a) for a in self.inputs()]
        given = [*self.values]
        for _ in range(int(rng.integers(2, 16))):
            quietly(self.step)
        outputs = [self.any() for _ in range(int(rng.integers(1, 5)))]
        writes: list[int | None] = [None] * len(outputs)
        if outside:
            for k, x in enumerate(given):
                if rng.random() < 0.5 and self.arrays[k].flags.writeable:
                    outputs.append(quietly(self.like, x))
                    writes.append(k)
        self.notes.open = False
        self.program: Program = self.notes.program(given, outputs, writes)

    def inputs(self) -> list[Any]:
        """The arrays that it is run with, made anew."""
        found = []
        for seed, shape, dtype in self._made:
            rng = np.random.default_rng(seed)
            found.append(laid_out(rng, values(rng, shape, dtype, self.special)))
        return found

    def any(self, test: Callable[[Traced], bool] = lambda x: True) -> Any:
        """One of the arrays so far, a late one rather than an early one."""
        found = [x for x in self.values if test(x)]
        return found[-1 - min(int(self.rng.exponential(2.5)), len(found) - 1)] if found else None

    def like(self, x: Traced) -> Any:
        """Something of the shape and dtype of an input, to be written to it."""
        other = self.any(lambda v: v.shape == x.shape and v.dtype == x.dtype and v is not x)
        if other is None or self.rng.random() < 0.5:
            other = self.any(lambda v: v.shape in (x.shape, ()) and v.dtype == x.dtype)
            if x.dtype.kind in "fiu":
                other = space.add(space.multiply(x, x.dtype.type(2)), other)
        return space.broadcast_to(other, x.shape)

    def step(self) -> None:
        """One more array, or several."""
        x = self.any()
        found = getattr(self, "_" + str(self.rng.choice(_KINDS)))(x)
        if found is not None and found.size <= _MOST:
            self.values.append(found)

    def _unary(self, x: Traced) -> Any:
        names = _UNARY + _STEPS * self.special
        name = str(self.rng.choice(names))
        if x.dtype.kind in "biu" or (x.dtype.kind == "c" and name in _STEPS) or x.dtype == "float16":
            return None
        if not self.special and name in ("exp", "expm1", "reciprocal", "sqrt", "log1p"):
            x = space.tanh(x) if name in ("exp", "expm1") else space.add(space.square(x), 0.5)
        return getattr(space, name)(x)

    def _binary(self, x: Traced) -> Any:
        y: Any = self.any(lambda v: _broadcast(v, x) and v.dtype == x.dtype)
        if y is None:
            return None
        name = str(self.rng.choice(_BINARY + _TESTS * self.special))
        if name == "subtract" and x.dtype.kind == "b":
            return None
        if self.rng.random() < 0.35 and x.dtype.kind in "fc":
            y = self.rng.choice(np.array(_NUMBERS, dtype=object))
        if not self.special and name in ("divide", "maximum", "minimum"):
            if name != "divide":
                return None
            y = space.add(space.square(y), 0.5) if isinstance(y, Traced) else 0.3
        swapped = self.rng.random() < 0.4 and (isinstance(y, Traced) or name != "divide")
        x, y = (y, x) if swapped else (x, y)
        return getattr(space, name)(x, y)

    def _power(self, x: Traced) -> Any:
        return space.power(x, int(self.rng.integers(0, 4))) if x.dtype.kind == "f" else None

    def _where(self, x: Traced) -> Any:
        condition = self.any(lambda v: v.dtype == bool and _broadcast(v, x))
        other = self.any(lambda v: v.dtype == x.dtype and _broadcast(v, x) and (
            condition is None or _all_broadcast(condition, v, x)))  # fmt: skip
        return None if condition is None or other is None else space.where(condition, x, other)

    def _view(self, x: Traced) -> Any:
        kind = self.rng.integers(7)
        n = x.ndim
        if kind == 0 and n:
            return space.permute_dims(x, tuple(int(a) for a in self.rng.permutation(n)))
        if kind == 1:
            return space.expand_dims(x, axis=int(self.rng.integers(n + 1)))
        if kind == 2 and n and x.shape[0] > 1:
            return x[1:] if self.rng.random() < 0.5 else x[::-1] if self.rng.random() < 0.5 else x[0]
        if kind == 3 and n > 1:
            return space.reshape(x, (x.size,))
        if kind == 4 and n and x.shape[-1] == 1:
            return space.squeeze(x, (n - 1,))
        if kind == 5:
            return space.broadcast_to(x, (2, *x.shape)) if x.size < 1000 else None
        if kind == 6 and n > 1 and x.size:
            return space.reshape(x, x.shape[::-1])
        return None

    def _reduction(self, x: Traced) -> Any:
        name = str(self.rng.choice(["sum", "sum", "sum", "max", "min", "prod", "any"]))
        if x.dtype == "float16" or (not x.size and name in ("max", "min")) or (not self.special and name != "sum"):
            return None
        axis = None if not x.ndim or self.rng.random() < 0.4 else (int(self.rng.integers(x.ndim)),)
        return getattr(space, name)(x, axis=axis, keepdims=bool(self.rng.random() < 0.3))

    def _whole(self, x: Traced) -> Any:
        """Operations of other kinds."""
        kind = self.rng.integers(8)
        y = self.any(lambda v: v.ndim == 2 and x.ndim in (2, 3) and v.shape[0] == x.shape[-1] and v.dtype == x.dtype)
        if kind <= 1 and y is not None and x.dtype.kind in "fc":
            return space.matmul(x, y)
        if kind == 2:
            return space.astype(x, "float64" if x.dtype.kind != "c" else "complex128")
        if kind == 3:
            return getattr(space, str(self.rng.choice(["zeros_like", "ones_like", "zero"])))(x)
        if kind == 4 and x.ndim:
            return space.concat([x, x], axis=0)
        if kind == 5 and x.ndim and self.special:
            return space.sort(x, axis=-1) if x.dtype.kind != "c" else space.conj(x)
        if kind == 6 and x.ndim and x.shape[0]:
            return space.take(x, np.array([0, -1, 0]), axis=0)
        if kind == 7 and x.ndim and self.outside and self.special:
            mask = self.any(lambda v: v.dtype == bool and v.shape == x.shape)
            return None if mask is None else x[mask]
        return None

    def _outside(self, x: Traced) -> Any:
        """A value that Python reads, or a call of the host's."""
        if not self.outside:
            return None
        if self.rng.random() < 0.4:
            self.notes.read(x)
            return None
        node = self.notes.enter(HOST, (_doubled, x.node), {}, _doubled(x.node.value))
        return Traced(self.notes, node)


_OFTEN = {"unary": 4, "binary": 8, "view": 3, "reduction": 3, "whole": 2, "where": 1, "power": 1, "outside": 1}
_KINDS = [name for name, often in _OFTEN.items() for _ in range(often)]


def _doubled(x: Any) -> Any:
    return np.asarray(x + x)


def _broadcast(a: Any, b: Any) -> bool:
    return _all_broadcast(a, b)


def _all_broadcast(*arrays: Any) -> bool:
    try:
        return math.prod(np.broadcast_shapes(*(a.shape for a in arrays))) <= _MOST
    except ValueError:
        return False


def bits(array: Any) -> Any:
    """Something that is equal for arrays of equal dtype, shape and bits, all NaN being one."""
    array = np.array(array, order="C")
    if array.dtype.kind in "fc":
        parts = array.reshape(-1).view(array.real.dtype)
        parts[np.isnan(parts)] = np.nan
    return (array.dtype, array.shape, array.tobytes())


def close(got: Any, want: Any) -> bool:
    """Whether two arrays of float64 are equal but for rounding, as large as their numbers are."""
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    finite = np.abs(want[np.isfinite(want)]) if want.size else want
    scale = finite.max(initial=1.0)
    return bool(np.allclose(got, want, rtol=1e-7, atol=1e-7 * scale, equal_nan=True))

"""Drawing the arrays of an operation's samples: the same ones every time."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.ops.declare import A, Sample

_CLEARANCE = 0.1  # how far entries keep from the points in A.avoid
_TRIES = 10_000


def draw(sample: Sample, *, dtype: str = "float64", seed: int = 0) -> tuple[list[Any], dict[str, Any]]:
    """The NumPy arrays and the static arguments of a sample.

    Entries with a range are of ``dtype``, a float or complex one; fixed values keep their kind (bool, int64, or floats
    of ``dtype``). Complex entries have both parts in the range. An `A` inside a static argument (in an index, for
    example) is drawn too. The entries of all ``distinct`` arrays of one sample keep apart from each other, and so do
    their magnitudes.

    >>> arrays, static = draw(Sample(A(2), A(values=[0, 1]), axis=0))
    >>> [a.dtype.name for a in arrays], static
    (['float64', 'int64'], {'axis': 0})

    Raises:
        ValueError: a range has no room for the entries it should hold.
    """
    generator = np.random.default_rng(seed)
    distinct = [a for a in sample.arrays if a.distinct]
    gap = min((a.high - a.low for a in distinct), default=0.0) / (8 * max(sum(map(_size, distinct)), 1))
    taken: list[float] = []

    def make(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(make(v) for v in value)
        return _filled(value, generator, dtype, gap, taken) if isinstance(value, A) else value

    return [make(a) for a in sample.arrays], {name: make(value) for name, value in sample.static.items()}


def _size(a: A) -> int:
    return int(np.prod(a.shape))


def _filled(a: A, generator: np.random.Generator, dtype: str, gap: float, taken: list[float]) -> Any:
    if a.values is not None:
        fixed = np.array(a.values)
        return fixed.astype(dtype) if fixed.dtype.kind == "f" else fixed
    if a.complex and not dtype.startswith("complex"):
        dtype = {"float64": "complex128", "float32": "complex64"}[dtype]
    if dtype.startswith("complex"):
        part = A(*a.shape, low=a.low, high=a.high, distinct=a.distinct, avoid=a.avoid)
        real, imag = (_filled(part, generator, "float64", gap, taken) for _ in range(2))
        return (real + 1j * imag).astype(dtype)
    entries: list[float] = []
    for _ in range(_TRIES):
        if len(entries) == _size(a):
            return np.array(entries, dtype).reshape(a.shape)
        x = generator.uniform(a.low, a.high)
        if any(abs(x - point) < _CLEARANCE for point in a.avoid):
            continue
        if a.distinct:
            if any(abs(abs(x) - abs(y)) < gap for y in taken):
                continue
            taken.append(x)
        entries.append(x)
    raise ValueError(f"no room for {_size(a)} entries from {a.low} to {a.high}, clear of {a.avoid}")

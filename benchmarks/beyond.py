"""Sparse derivatives and Taylor coefficients, which PyTorch has not: against what can be written by hand with it."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.runner import Case, Figure, Pace, timed

_NONE = float("nan")
"""What PyTorch takes for what there is no way to do with it."""

_N, _ORDER = 10_000, 5


def _tridiagonal(lib: Any) -> Callable[[Any], Any]:
    """A step of a reaction with diffusion on a line."""

    def f(x: Any) -> Any:
        p = lib.nn.functional.pad(x, (1, 1))
        return lib.sin(p[2:]) * x + lib.exp(-x * x) * p[:-2]

    return f


def _seconds(f: Callable[..., Any], *args: Any, number: int = 1) -> float:
    start = perf_counter()
    for _ in range(number):
        f(*args)
    return (perf_counter() - start) / number


def _by_colours(lib: Any, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The Jacobian as one writes it who knows its pattern: three backward passes, and where their entries belong."""
    rows = np.repeat(np.arange(_N), 3)[1:-1]
    columns = (rows + np.tile([-1, 0, 1], _N)[1:-1]).clip(0, _N - 1)
    seeds = lib.tensor(np.eye(3)[np.arange(_N) % 3].T.copy())
    places = lib.tensor(rows % 3 * _N + columns)

    def jacobian(x: Any) -> Any:
        _, pull = lib.func.vjp(f, x)
        return lib.func.vmap(lambda seed: pull(seed)[0])(seeds).reshape(-1)[places]

    return jacobian


def _sparse(lib: Any, pace: Pace) -> Callable[[], tuple[float, ...]]:
    f = _tridiagonal(lib)
    x = lib.tensor(np.random.default_rng(0).standard_normal(_N))
    if lib.__name__ != "gradwright":
        jacobian = _by_colours(lib, f)
        return lambda: (_seconds(f, x, number=100), _seconds(jacobian, x, number=10), _NONE, _NONE)
    jacobian = lib.func.sparse_jacobian(f)
    np.testing.assert_allclose(jacobian(x).values.numpy(), _by_colours(lib, f)(x).numpy(), rtol=1e-12)

    def sample() -> tuple[float, ...]:
        start = perf_counter()
        pattern = lib.func.sparsity(f, x)
        found = perf_counter()
        pattern.row_colours.max(), pattern.column_colours.max()
        coloured = perf_counter()
        both = _seconds(f, x, number=100), _seconds(jacobian, x, number=10)
        return (*both, found - start, coloured - found)

    return sample


sparse = Case(
    (
        Figure("a tridiagonal function of 10,000 numbers", "s", None),
        Figure("its sparse Jacobian, checked, once the pattern is there; PyTorch: by hand, unchecked", "s", None),
        Figure("finding the pattern", "s", None),
        Figure("colouring its rows and its columns", "s", None),
    ),
    _sparse,
)


@timed(f"Taylor coefficients of a network to order {_ORDER}, by jet() and by nested jvp()", limit=1.0)
def taylor(lib: Any) -> Any:
    generator = np.random.default_rng(0)
    weights = [lib.tensor(generator.standard_normal((32, 32)) / 6.0) for _ in range(3)]
    x, v = lib.tensor(generator.standard_normal((16, 32))), lib.tensor(generator.standard_normal((16, 32)))

    def network(x: Any) -> Any:
        for w in weights:
            x = lib.tanh(x @ w)
        return x

    if lib.__name__ == "gradwright":
        zero = lib.zeros_like(v)
        return lambda: lib.func.jet(network, (x,), ([v, *[zero] * (_ORDER - 1)],))[1][-1]

    def slope(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda t: lib.func.jvp(f, (t,), (lib.ones_like(t),))[1]

    f: Callable[[Any], Any] = lambda t: network(x + t * v)
    for _ in range(_ORDER):
        f = slope(f)
    return lambda: f(lib.tensor(0.0, dtype=x.dtype))

"""Reading and writing by index, and what reshapes and joins small tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.runner import timed

ROWS, WIDTH, CHOSEN, TIMES = 100_000, 64, 20_000, 100


def _table(lib: Any) -> tuple[Any, Any]:
    """A table, and the numbers of some of its rows, a few of them twice."""
    rng = np.random.default_rng(0)
    table = lib.tensor(rng.standard_normal((ROWS, WIDTH), np.float32), requires_grad=True)
    return table, lib.tensor(rng.integers(0, ROWS, CHOSEN))


@timed("rows of 100,000 x 64 by 20,000 indices, forward and backward", limit=0.5)
def rows(lib: Any) -> Any:
    table, at = _table(lib)

    def run() -> Any:
        table.grad = None
        (table[at] ** 2).sum().backward()
        return table.grad[:100]

    return run


@timed("scatter_add of 20,000 x 64 into 100,000 x 64, forward and backward", limit=0.5)
def scatter(lib: Any) -> Any:
    table, at = _table(lib)
    at = at.unsqueeze(1).expand(CHOSEN, WIDTH)
    values = lib.ones(CHOSEN, WIDTH, requires_grad=True)

    def run() -> Any:
        table.grad = values.grad = None
        table.scatter_add(0, at, values).sum().backward()
        return values.grad[:100]

    return run


def _repeated(change: Callable[[Any, Any, Any, int], Any]) -> Callable[[Any], Any]:
    def made(lib: Any) -> Any:
        x, y = lib.ones(8, 8, requires_grad=True), lib.ones(8)

        def run() -> None:
            for k in range(TIMES):
                change(lib, x, y, k % 8)

        return run

    return made


def _write(lib: Any, x: Any, y: Any, k: int) -> None:
    z = x * 1.0
    z[k] = y


setitem = timed("z = x * 1.0; z[k] = y, of 8 x 8", per=TIMES)(_repeated(_write))
getitem = timed("x[k], of 8 x 8", limit=1.0, per=TIMES)(_repeated(lambda lib, x, y, k: x[k]))
reshape = timed("reshape, of 8 x 8", limit=1.0, per=TIMES)(_repeated(lambda lib, x, y, k: x.reshape(4, 16)))
transpose = timed("x.t(), of 8 x 8", limit=1.0, per=TIMES)(_repeated(lambda lib, x, y, k: x.t()))
join = timed("cat of two, of 8 x 8", limit=1.0, per=TIMES)(_repeated(lambda lib, x, y, k: lib.cat([x, x])))

import math
from typing import Any

import numpy as np
import pytest


def numbers(*shape: int) -> Any:
    return np.arange(1.0, math.prod(shape) + 1).reshape(shape) / 3


CALLS: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
    "tril": (lambda t, x: [x.tril(), t.tril(x, 1), x.tril(-1), x.triu(), t.triu(x, 1), x.triu(-2)], [(3, 4)]),
    "tril of matrices": (lambda t, x: [x.tril(diagonal=-1), x.triu(diagonal=1)], [(2, 3, 3)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_call(same: Any, name: str) -> None:
    f, shapes = CALLS[name]
    same(f, *(numbers(*s) for s in shapes))


UNNAMED: dict[str, tuple[Any, list[tuple[int, ...]]]] = {  # PyTorch's graph names other steps
    "diag": (lambda t, x: [x.diag(), t.diag(x, 1), x.diag(-2)], [(3, 4)]),
    "diag of a vector": (lambda t, x: [x.diag(), t.diag(x, 2), x.diag(-1)], [(3,)]),
    "diagonal": (lambda t, x: [x.diagonal(), t.diagonal(x, 1, 1, 2), x.diagonal(-1, -1, 0)], [(3, 4, 5)]),
}  # fmt: skip


@pytest.mark.parametrize("name", UNNAMED)
def test_call_by_other_steps(same: Any, name: str) -> None:
    f, shapes = UNNAMED[name]
    same(f, *(numbers(*s) for s in shapes), names=False)


def test_triangle_indices(same: Any) -> None:
    for offset in (-2, 0, 1):
        same(lambda t, o=offset: [t.tril_indices(3, 4, o), t.triu_indices(3, 4, o), t.tril_indices(4, 2, o)])

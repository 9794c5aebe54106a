import math
from typing import Any

import numpy as np
import pytest


def numbers(*shape: int) -> Any:
    return np.arange(1.0, math.prod(shape) + 1).reshape(shape) / 3


CALLS: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
    "flip": (lambda t, x: [x.flip(0), x.flip(0, 1), t.flip(x, (-1,)), x.flip([0])], [(2, 3)]),
    "roll": (lambda t, x: [x.roll(1, 0), x.roll((1, -2), (0, 1)), t.roll(x, 4, 1), x.roll(-1, -1)], [(2, 3)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_call(same: Any, name: str) -> None:
    f, shapes = CALLS[name]
    same(f, *(numbers(*s) for s in shapes))


UNNAMED: dict[str, tuple[Any, list[tuple[int, ...]]]] = {  # PyTorch's graph names other steps
    "roll through all": (lambda t, x: [x.roll(2), t.roll(x, -1)], [(2, 3)]),
}  # fmt: skip


@pytest.mark.parametrize("name", UNNAMED)
def test_call_by_other_steps(same: Any, name: str) -> None:
    f, shapes = UNNAMED[name]
    same(f, *(numbers(*s) for s in shapes), names=False)


def test_padding(same: Any) -> None:
    x = numbers(3, 4)
    for pad in ((1, 2), (0, 0, 1, 1), (-1, 1), (-1, -1, 2, -3), ()):
        same(lambda t, x, pad=pad: t.constant_pad_nd(x, pad, 0.5), x, names=False)


def test_0_d(same: Any) -> None:
    same(lambda t, x: [x.flip(0), x.roll(2), x.repeat(2, 3), x.tile(2), x.repeat_interleave(3)], numbers(), names=False)

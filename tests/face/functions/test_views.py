import math
from typing import Any

import numpy as np
import pytest

import gradwright


def numbers(*shape: int) -> Any:
    return np.arange(1.0, math.prod(shape) + 1).reshape(shape) / 3


CALLS: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
    "narrow": (lambda t, x: [x.narrow(0, 1, 2), t.narrow(x, 1, 0, 4), x.narrow(-1, -2, 1), x.narrow(0, 3, 0)],
               [(3, 4)]),
    "select": (lambda t, x: [x.select(0, 1), t.select(x, 1, -1), x.select(-1, 0)], [(3, 4)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_call(same: Any, name: str) -> None:
    f, shapes = CALLS[name]
    same(f, *(numbers(*s) for s in shapes))


class TestAsStrided:
    def test_is_a_view_that_can_be_written(self) -> None:
        base = gradwright.zeros(3, 4)
        x = base[1:].t()
        y = gradwright.as_strided(x, (2, 2), (1, 4))
        y.fill_(1.0)
        assert base.tolist() == [[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]]
        assert y._base is base

    def test_history_of_writes(self, same: Any) -> None:
        def f(t: Any, x: Any) -> Any:
            y = x * 1
            y.as_strided((2, 2), (4, 1), 1).mul_(3)
            y.unfold(0, 2, 2).mul_(2)
            return y

        same(f, numbers(3, 4), names=False)

    def test_leaves_its_memory(self, same: Any) -> None:
        for size, stride, start in [
            ((13,), (1,), 0),
            ((3,), (6,), 0),
            ((1,), (1,), 12),
            ((1,), (1,), -1),
            ((2,), (), 0),
        ]:
            same(lambda t, x, a=(size, stride, start): t.as_strided(x, *a), numbers(3, 4))


class TestUnfold:
    def test_of_what_is_not_contiguous(self, same: Any) -> None:
        same(
            lambda t, x: [x.t().unfold(0, 2, 1), x[:, ::2].unfold(1, 2, 1), x.unfold(-1, 4, 1)],
            numbers(3, 4),
            names=False,
        )
        same(lambda t, x: x.expand(3, 5).unfold(0, 2, 1), numbers(5), names=False)

    def test_0_d(self, same: Any) -> None:
        same(lambda t, x: [x.unfold(0, 1, 1), x.unfold(0, 0, 1)], numbers(), names=False)


def test_written_regions(same: Any) -> None:
    def f(t: Any, x: Any, y: Any) -> Any:
        return [
            t.select_scatter(x, y, 0, 1),
            t.slice_scatter(x, y[None], 0, 2),
            t.diagonal_scatter(x, y, dim1=1, dim2=0),
        ]

    same(f, numbers(3, 3), numbers(3), names=False)
    same(lambda t, x, y: t.select_scatter(x, y, 0, 1), numbers(3, 3), numbers(2))


def test_copies_share_nothing() -> None:
    x = gradwright.ones(2, 2)
    for name in ("t_copy", "alias_copy", "unbind_copy", "detach_copy"):
        out = getattr(gradwright, name)(x)
        for o in out if isinstance(out, tuple) else (out,):
            assert not np.shares_memory(o.array, x.array)


def test_resize(same: Any) -> None:
    same(lambda t, x: [(x * 1).detach().resize_(3), (x * 1).detach().resize_(3, 2)], numbers(2, 3), order=0)
    same(lambda t, x: (x * 1).resize_(3), numbers(2, 3), order=1)

"""Which columns a pass came for, whatever way they were cut out; what may change a cotangent counts as using all."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.engine.reached import Reached
from gradwright.op import op

ASKED: list[Any] = []


@op(several=True, complex="general")
def pair(xp: Any, x: Any) -> Any:
    """Twice x, and x."""
    return [2 * x, x * 1]


def _slope(xp: Any, g: Any, reached: Reached) -> Any:
    ASKED[:] = [0 in reached, 1 in reached, reached.entries(0), reached.entries(1)]
    return 2 * g[0] + g[1]


pair.vjp(x=_slope)


def reached_by(f: Callable[[Any, Any], Any], dtype: str = "float64", **options: Any) -> list[Any]:
    x = gw.tensor(np.arange(6.0).reshape(2, 3).astype(dtype), requires_grad=True)
    y = f(*pair(x))
    ASKED.clear()
    (y.real if y.is_complex() else y).sum().backward(**options)
    return ASKED


CUTS: dict[str, Callable[[Any], Any]] = {
    "column": lambda q: q[:, 1],
    "of the last two": lambda q: q[:, 1:][:, 0],
    "transposed": lambda q: q.mT[1],
    "narrow": lambda q: q.narrow(1, 1, 1),
    "split": lambda q: q.split(1, 1)[1],
    "unbound": lambda q: q.unbind(1)[1],
    "adjoint": lambda q: q.mT.conj()[1],
    "reshaped after": lambda q: q[:, 1:2].reshape(2),
    "twice": lambda q: q[:, 1] * 0 + q[:1, 1] ** 2,
}


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_one_column(cut: Callable[[Any], Any], dtype: str) -> None:
    first, second, none, entries = reached_by(lambda a, b: cut(b), dtype)
    assert (first, second) == (False, True)
    assert not none.any()
    np.testing.assert_array_equal(entries, [[False, True, False]] * 2)


ALL: dict[str, Callable[[Any], Any]] = {
    "whole": lambda q: q,
    "times zero": lambda q: q * 0,
    "product": lambda q: q @ gw.tensor([0.0, 1.0, 0.0], dtype=q.dtype),
    "column and whole": lambda q: q[:, 1] + (0 * q).sum(),
    "whole and column": lambda q: (0 * q).sum() + q[:, 1],
    "transposed and whole": lambda q: (q * 0) @ q.mT,
    "where": lambda q: gw.where(gw.tensor([True, False, False]), q, 0),
}


@pytest.mark.parametrize("use", ALL.values(), ids=ALL)
def test_a_zero_is_no_cut(use: Callable[[Any], Any]) -> None:
    assert reached_by(lambda a, b: use(b))[3].all()


def test_each_pass_by_itself() -> None:
    """Another loss of the same tensors, or one that does not lead there, does not count."""
    x = gw.tensor(np.ones((2, 3)), requires_grad=True)
    a, b = pair(x)
    loss, other = b[:, 0].sum(), (a * b).sum()
    loss.backward(retain_graph=True)
    np.testing.assert_array_equal(ASKED[3], [[True, False, False]] * 2)
    other.backward()
    assert ASKED[2].all()
    assert ASKED[3].all()


def test_recorded_and_partial_passes() -> None:
    assert reached_by(lambda a, b: b[:, 2], create_graph=True)[3].tolist() == [[False, False, True]] * 2
    x = gw.tensor(np.ones((2, 3)), requires_grad=True)
    gw.autograd.grad(pair(x)[1][:, 2].sum(), x)
    assert ASKED[3].tolist() == [[False, False, True]] * 2


def test_a_result_that_is_the_root() -> None:
    x = gw.tensor(np.ones((2, 3)), requires_grad=True)
    b = pair(x)[1]
    b.backward(gw.zeros_like(b))
    assert ASKED[3].all()


def test_hooks_that_may_change_a_cotangent() -> None:
    def hooked(a: Any, b: Any) -> Any:
        b.register_hook(lambda g: g + 1)
        return b[:, 0]

    assert reached_by(hooked)[3].all()

    def kept(a: Any, b: Any) -> Any:
        b.retain_grad()
        return b[:, 0]

    assert reached_by(kept)[3].tolist() == [[True, False, False]] * 2
    with gw.autograd.detect_anomaly():
        assert reached_by(lambda a, b: b[:, 0])[3].tolist() == [[True, False, False]] * 2


def test_by_hand() -> None:
    """Where no pass runs, all of what has a cotangent counts."""
    x = gw.tensor(np.ones((2, 3)), requires_grad=True)
    pair(x)[0].grad_fn(None, gw.ones(2, 3, dtype=gw.float64))
    assert ASKED[:2] == [False, True]
    assert ASKED[3].all()

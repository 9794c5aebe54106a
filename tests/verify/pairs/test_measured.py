"""Derivatives at a point both ways, against 50-digit arithmetic where that is at hand."""

import numpy as np
import pytest

from gradwright.verify.pairs.calls import Budget, Calls
from gradwright.verify.pairs.look import look
from gradwright.verify.pairs.measured import Measured, place
from gradwright.verify.pairs.pair import Pair, Point
from tests.verify.pairs.cases import X, df, f


def view(pair: Pair, room: int = 1000) -> Measured:
    found = look(Calls(pair, Budget()), 0, room).view
    assert found is not None
    return found


def test_bars_hold_against_50_digits() -> None:
    mpmath = pytest.importorskip("mpmath")

    def exact(*x: object) -> object:
        return sum(mpmath.exp(a) * b**2 for a, b in zip(x, reversed(x), strict=True))

    found = view(Pair("gradient", f, df, (Point(X),)))
    with mpmath.workdps(50):
        point = tuple(map(mpmath.mpf, X))
        true = [float(mpmath.diff(exact, point, tuple(int(i == k) for i in range(3)))) for k in range(3)]
    assert (np.abs(found.true[:, 0] - true) <= 5 * found.bar[:, 0]).all()
    assert found.bar.max() < 1e-8
    assert not found.wrong.any()


def test_at_bounds_moves_go_inward_alone() -> None:
    here = place(np.array([0.0, 0.5, 1.0, 3.0]), [], (0.0, 1.0), [False, False, False, True])
    assert here.inward()[:3].tolist() == [1, 0, -1]
    assert here.free.tolist() == [True, True, True, False]
    assert here.room(np.array([1.0, 0, 0, 0])) == (0.0, 1.0)


def test_what_would_mend_it_is_told_from_what_would_not() -> None:
    found = view(Pair("gradient", f, lambda x: 2 * df(x), (Point(X),)))
    assert found.wrong.all()
    assert found.miss(found.said / 2) == 0
    assert found.miss(found.said / 1.5) > 0.1


def test_many_entries_are_moved_together() -> None:
    x = np.linspace(0.5, 2, 90)
    pair = Pair("gradient", lambda x: np.sum(np.sin(x)), lambda x: np.cos(x) * (np.arange(90) != 61), (Point(x),))
    found = view(pair, 300)
    moved = np.count_nonzero(found.rows, axis=1)
    assert (moved[:4] == 90).all()
    assert found.wrong[:4].all()
    assert [int(np.flatnonzero(r)[0]) for r in found.rows[found.wrong[:, 0] & (moved == 1)]] == [61]

"""How well a guess explains an error."""

import numpy as np
import pytest

from gradwright.verify.diagnosis.residual import Part, Residual


def residual(analytic, numeric, allowed=1e-9, kinks=False):
    analytic, numeric = np.atleast_2d(analytic).astype(float), np.atleast_2d(numeric).astype(float)
    full = lambda v: np.broadcast_to(np.asarray(v), numeric.shape)
    rows, columns = numeric.shape
    return Residual(Part("x", (rows,), False), (Part("out", (columns,), False),), analytic, numeric, full(1e-10),
                    full(allowed), full(kinks), numeric, numeric, (True,), 2.2e-16)


def test_what_is_wrong():
    r = residual([[1, 2, np.nan, 4]], [[1, 2.5, 3, np.nan]])
    assert r.wrong.tolist() == [[False] * 4]  # a row at the edge is not judged
    r = residual([[1, 2, np.nan, 4]], [[1, 2.5, 3, 4]])
    assert r.wrong.tolist() == [[False, True, True, False]]
    assert residual([[1, 2]], [[3, 4]], kinks=[[True, False]]).wrong.tolist() == [[False, True]]
    assert residual([[1, 2]], [[1.1, 2.3]], allowed=0.2).wrong.tolist() == [[False, True]]


def test_explained():
    r = residual([[2, 4, 6]], [[1, 2, 3]])
    assert r.explained(2 * r.numeric) == 1
    assert r.explained(r.numeric) == pytest.approx(0, abs=1e-8)
    assert r.explained(1.5 * r.numeric) == pytest.approx(0.5, abs=1e-8)
    assert r.explained(-5 * r.numeric) == 0
    assert r.explained(np.full((1, 3), np.nan)) == 0
    assert residual([[1, 2]], [[1, 2]]).explained(np.ones((1, 2))) == 0  # there is nothing to explain


def test_error_bars_count_for_nothing():
    r = residual([[2.05, 4.05]], [[1, 2]], allowed=0.1)
    assert r.explained(2 * r.numeric) == 1
    assert residual([[2.3, 4.0]], [[1, 2]], allowed=0.1).explained([[2, 4]]) < 1
    assert residual([[2.3, 4.0]], [[1, 2]], allowed=0.1).explained([[2, 4]], doubt=3) == 1


def test_parts():
    real, pair = Part("a", (2, 3), False, 5), Part("z", (2,), True)
    assert (real.size, real.slice, real.axes) == (6, slice(5, 11), (2, 3))
    assert real.at(9) == ("", (1, 1))
    assert (pair.size, pair.axes) == (4, (2, 2))
    assert [pair.at(k) for k in range(4)] == [("real", (0,)), ("real", (1,)), ("imaginary", (0,)), ("imaginary", (1,))]
    assert Part("s", (), False).at(0) == ("", ())

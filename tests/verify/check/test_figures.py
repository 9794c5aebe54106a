"""The data that the figures of a page are drawn from."""

from typing import Any

import numpy as np
import pytest

import gradwright
from examples.wrong_functions import Cube
from gradwright.autograd import diagnose
from gradwright.verify.check.figures import CELLS, figures, heat_map


def block(analytic: Any, numeric: Any, **given: Any) -> dict[str, Any]:
    analytic, numeric = np.asarray(analytic, float), np.asarray(numeric, float)
    none = np.zeros(analytic.shape, bool)
    made = {"bar": np.full(analytic.shape, 1e-12), "wrong": abs(analytic - numeric) > 1e-9, "kinks": none}
    return {"input": "x", "output": "out", "analytic": analytic, "numeric": numeric, **made, **given}


def diagnosed(values: Any) -> dict[str, Any]:
    return diagnose(Cube, gradwright.tensor(values, dtype=gradwright.float64, requires_grad=True)).as_dict()


def test_a_small_jacobian_is_told_entry_by_entry() -> None:
    found = figures(diagnosed([1.0, 2.0]))
    (m,) = found["maps"]
    assert (m["of"], m["shape"], m["at"]) == ([2, 2], [2, 2], [0, 1, 2, 3])
    assert m["analytic"] == [1.0, 0.0, 0.0, 4.0]
    assert m["numeric"] == [3.0, 0.0, 0.0, 12.0]
    assert m["off"] == [-2.0, 0.0, 0.0, -8.0]
    assert m["mark"] == [1, 0, 0, 1]
    assert found["worst"] == [0, 3]


def test_differences_keep_their_digits() -> None:
    m = heat_map(block([[1 + 1e-9]], [[1]]))
    assert m["off"][0] == pytest.approx(1e-9, rel=1e-5)
    assert m["analytic"] == m["numeric"] == [1.0]


@pytest.mark.parametrize("shape", [(1, 1), (1, 200), (200, 1), (33, 31), (70, 100), (CELLS, CELLS)])
def test_a_large_one_is_cut_into_tiles_that_keep_the_entry_furthest_off(shape: tuple[int, int]) -> None:
    numeric = np.random.normal(size=shape)
    analytic = numeric.copy()
    at = tuple(n // 2 for n in shape)
    analytic[at] += 0.5
    m = heat_map(block(analytic, numeric), at)
    rows, columns = m["shape"]
    assert rows <= CELLS
    assert columns <= CELLS
    assert rows * columns == len(m["at"]) == len(set(m["at"]))
    assert int(np.ravel_multi_index(at, shape)) in m["at"]
    assert sum(m["mark"]) == 1
    assert m["numeric"] == pytest.approx(numeric.flat[m["at"]], rel=1e-5)


def test_of_a_tile_that_is_right_the_largest_entry_is_shown() -> None:
    numeric = np.eye(4 * CELLS) * -3
    m = heat_map(block(numeric, numeric))
    diagonal = np.array(m["numeric"]).reshape(m["shape"])
    assert (diagonal == np.eye(CELLS) * -3).all()


def test_what_is_not_finite_is_named() -> None:
    m = heat_map(block([[np.nan, 1]], [["-inf", 1]], wrong=[[True, False]], bar=[["inf", 0.0]]))
    assert (m["analytic"][0], m["numeric"][0], m["bar"][0], m["off"][0]) == ("nan", "-inf", "inf", "nan")
    assert m["mark"] == [1, 0]


def test_kinks_are_marked() -> None:
    assert heat_map(block([[0.0, 1]], [[0.5, 1]], wrong=[[False, False]], kinks=[[True, False]]))["mark"] == [2, 0]


def test_the_plot_says_how_far_off_the_quotients_are() -> None:
    p = figures(diagnosed([2.0]))["plot"]
    steps = np.array(p["steps"])
    assert (np.diff(steps) < 0).all()
    assert p["numeric"] == pytest.approx(steps**2, rel=1e-3)  # of x**3: ((2 + h)**3 - (2 - h)**3) / 2h = 12 + h**2
    assert p["analytic"] == pytest.approx(8 + steps**2, rel=1e-4)
    assert p["error"] == pytest.approx(8)
    assert 0 < p["bar"] < 1e-10


def test_nothing_measured_nothing_drawn() -> None:
    x = gradwright.zeros(0, dtype=gradwright.float64, requires_grad=True)
    assert figures(diagnose(Cube, x).as_dict()) == {"maps": [], "worst": None, "plot": None}

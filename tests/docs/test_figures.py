"""Figures of functions of one number."""

import re
from xml.etree import ElementTree

import numpy as np

import gradwright as gw
from docs.generator.figures import figure, polylines


def curves(function: object) -> dict[str, list[list[tuple[float, float]]]]:
    """The points of the value and of the slope, in the function's own numbers."""
    found: dict[str, list[list[tuple[float, float]]]] = {"value": [], "slope": []}
    for line in ElementTree.fromstring(figure(function) or "").iter("{http://www.w3.org/2000/svg}polyline"):
        points = [tuple(map(float, point.split(","))) for point in line.get("points", "").split()]
        kind = "slope" if line.get("stroke-dasharray") else "value"
        found[kind].append([(x / 25 - 4, 4 - y / 25) for x, y in points])
    return found


def test_a_curve_is_the_function_and_the_dashed_one_its_derivative() -> None:
    found = curves(gw.sin)
    ((value,), (slope,)) = found["value"], found["slope"]
    assert len(value) == len(slope) == 1001
    assert max(abs(y - np.sin(x)) for x, y in value) < 0.01
    assert max(abs(y - np.cos(x)) for x, y in slope) < 0.01


def test_nothing_is_drawn_where_there_is_no_value_or_over_a_pole() -> None:
    assert min(x for line in curves(gw.log)["value"] for x, _ in line) > 0
    assert len(curves(gw.reciprocal)["value"]) == 2
    assert len(curves(gw.tan)["value"]) == 3
    assert list(polylines(np.array([0.0, 1.0]), np.array([np.nan, np.inf]))) == []


def test_other_functions_have_no_figure() -> None:
    assert [figure(f) for f in (gw.add, gw.sum, gw.isnan, gw.linalg.det, 1)] == [None] * 5


def test_figures_are_alike_each_time() -> None:
    assert figure(gw.tanh) == figure(gw.tanh)
    assert re.match(r"<svg xmlns='http://www.w3.org/2000/svg' width='200' ", figure(gw.tanh) or "")

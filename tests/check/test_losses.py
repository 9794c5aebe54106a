"""The plot of lost digits."""

from __future__ import annotations

from xml.etree import ElementTree

from gradwright.check.losses import losses

FOUND = {"said": "f: the value in float32 loses 7 digits near 0", "losses": [
    {"what": "value", "dtype": "float32", "points": [-1.0, 0.0, 1.0, 2.0], "digits": [0.0, 7.0, None, 1.0]},
    {"what": "gradient", "dtype": "float64", "points": [-1.0, 0.0, 1.0, 2.0], "digits": [0.0, 0.0, 0.0, 99.0]},
]}  # fmt: skip


def test_it_is_a_picture_with_a_line_for_each_run_of_points():
    figure = ElementTree.fromstring(losses(FOUND))
    lines = figure.findall(".//polyline")
    assert [len(line.get("points").split()) for line in lines] == [2, 1, 4]
    assert figure.find("svg").get("aria-label") == FOUND["said"]
    heights = [float(point.split(",")[1]) for line in lines for point in line.get("points").split()]
    assert all(0 <= h <= 170 for h in heights)

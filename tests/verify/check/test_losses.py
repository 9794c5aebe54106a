"""The plot of lost digits."""

from xml.etree import ElementTree

from gradwright.verify.check.losses import losses, outlook

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
    assert [span.text or span[0].tail for span in figure.findall("figcaption/span")] == [
        " value in float32", " gradient in float64"
    ]  # fmt: skip


def labels(low, high):
    line = {"what": "value", "dtype": "float64", "points": [low, high], "digits": [0.0, 0.0]}
    found = {"said": "f", "losses": [line]}
    texts = ElementTree.fromstring(losses(found)).findall("svg/text")
    return [t.text.replace("\N{MINUS SIGN}", "-") for t in texts if t.get("text-anchor") == "middle"]


def test_around_0_the_axis_is_logarithmic():
    assert labels(-2.0, 2.0) == ["-2", "-0.01", "-1e-5", "0", "1e-5", "0.01", "2"]
    assert labels(0.0, 1.0) == ["0", "1e-5", "0.01", "1"]
    assert labels(1.0, 3.0) == ["1", "2", "3"]


def test_what_is_right_and_loses_digits_is_called_so():
    assert outlook({**FOUND, "steady": False}) == "f: right, but the value in float32 loses 7 digits near 0"
    assert outlook({"said": "f: no more than 0.5 digits are lost", "steady": True}).startswith("f: no more")

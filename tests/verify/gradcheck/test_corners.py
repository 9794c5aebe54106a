"""Kinks and jumps, against functions of which they are known by their formula."""

import numpy as np
import pytest

import gradwright
from gradwright.verify.gradcheck.corners import corners, suspects
from gradwright.verify.gradcheck.settings import Settings
from gradwright.verify.numeric.differences import central
from gradwright.verify.numeric.jacobian import Subject

CASES = [
    (lambda x: x.abs(), 0.0, "kink", -1, 1),
    (lambda x: x.relu() * 3 - x, 0.0, "kink", -1, 2),
    (lambda x: (x - 2).abs() + x**2, 2.0, "kink", 3, 5),
    (lambda x: (x > 0).double() + x, 0.0, "jump", None, None),
    (lambda x: x.floor() - x, 1.0, "jump", None, None),
    (lambda x: x**3, 0.5, "", 0.75, 0.75),
    (lambda x: x.abs(), 0.5, "", 1, 1),
    (lambda x: (200 * x).sin(), 0.3, "", 200 * np.cos(60), 200 * np.cos(60)),
]


@pytest.mark.parametrize(("f", "at", "what", "left", "right"), CASES)
def test_what_is_at_a_point(f, at, what, left, right):
    x = gradwright.tensor([at, at + 0.7], dtype=gradwright.float64, requires_grad=True)
    settings = Settings(None, 1e-5, 1e-3, 0.0, True, False, False, False, None, "float64")
    subject = Subject(f, x)
    steps, values = settings.steps(x), [v.reshape(-1) for v in subject.values()]
    differences = central(subject, x, steps)
    if what:
        assert suspects(differences, values, steps, settings).tolist() == [0]
    (found,) = corners(subject, x, np.arange(2), values, steps, settings)
    assert found.kink.tolist() == [[what == "kink", False], [False, False]]
    assert found.jump.tolist() == [[what == "jump", False], [False, False]]
    if left is not None:
        assert (found.left[0, 0], found.right[0, 0]) == pytest.approx((left, right), abs=0.05)

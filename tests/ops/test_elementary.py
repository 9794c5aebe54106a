import math

import numpy as np
import pytest

from gradwright.op import table
from gradwright.ops import elementary as e

VALUES = {  # at 0.5, by Python's own mathematics
    "exp": math.exp(0.5), "exp2": 2**0.5, "expm1": math.expm1(0.5), "log": math.log(0.5), "log1p": math.log1p(0.5),
    "log2": -1.0, "log10": math.log10(0.5), "sin": math.sin(0.5), "cos": math.cos(0.5), "tan": math.tan(0.5),
    "asin": math.asin(0.5), "acos": math.acos(0.5), "atan": math.atan(0.5), "sinh": math.sinh(0.5),
    "cosh": math.cosh(0.5), "tanh": math.tanh(0.5), "asinh": math.asinh(0.5), "atanh": math.atanh(0.5),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_value(name: str) -> None:
    assert table[name](np.array(0.5)) == pytest.approx(VALUES[name], rel=1e-15)


def test_no_cancellation_near_0() -> None:
    tiny = np.array([1e-18])
    assert e.expm1(tiny) == e.log1p(tiny) == tiny


def test_atan2_takes_the_quadrant() -> None:
    y, x = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, -1.0, -1.0, 1.0])
    np.testing.assert_allclose(e.atan2(y, x), np.pi * np.array([0.25, 0.75, -0.75, -0.25]))


def test_outside_the_domain() -> None:
    assert all(math.isnan(op(np.array([2.0]))[0]) for op in (e.asin, e.acos, e.atanh))
    assert math.isnan(e.log(np.array([-1.0]))[0])
    assert math.isnan(e.acosh(np.array([0.5]))[0])

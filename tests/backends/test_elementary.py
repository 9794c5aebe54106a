"""Elementary functions in float32 against NumPy's in float64, at ordinary numbers and at the ends of what there is."""

import math
from typing import Any

import numpy as np
import pytest

from gradwright.backends import elementary

_ENDS = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 1e-45, -1e-40, 1e-30, 3e38, -3e38, 88.8, 89.3, -104.0]
_NUMPY = {"tan": np.tan, "atan": np.arctan, "atanh": np.arctanh}


def _close(ours: Any, x: Any, y: Any = None, *, name: str) -> None:
    """Within 4 units in the last place, and the same infinities, NaN and signs of zero."""
    reference = _NUMPY.get(name) or getattr(np, {"atan2": "arctan2"}.get(name, name))
    args = [a.astype(np.float64) for a in (x, y) if a is not None]
    with np.errstate(all="ignore"):
        exact = reference(*args)
        rounded = exact.astype(np.float32)
    usual = np.isfinite(rounded)
    np.testing.assert_array_equal(ours[~usual], rounded[~usual])
    assert (np.abs(ours - exact)[usual] <= 4 * np.spacing(np.abs(rounded[usual]))).all()
    np.testing.assert_array_equal(np.signbit(ours)[rounded == 0], np.signbit(rounded)[rounded == 0])


@pytest.mark.parametrize("name", [n for n in elementary.__all__ if n != "atan2"])
@pytest.mark.parametrize("scale", [1e-6, 0.9, 20.0])
def test_of_one_number(name: str, scale: float) -> None:
    random = np.random.default_rng(0).uniform(-scale, scale, 40_000)
    x = np.concatenate([random, _ENDS]).astype(np.float32)
    with np.errstate(all="ignore"):
        _close(getattr(elementary, name)(x), x, name=name)


def test_of_two_numbers() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 40_000)).astype(np.float32)
    _close(elementary.atan2(x, y), x, y, name="atan2")
    for some in (_ENDS, [1e-20, -1e-20, -0.0, 0.0, 1.0, 1.0, 2.0, -2.0, -3.0]):
        a, b = (v.reshape(-1).astype(np.float32) for v in np.meshgrid(some, some))
        _close(elementary.atan2(a, b), a, b, name="atan2")


def test_other_types_are_numpys() -> None:
    x = np.linspace(-0.9, 0.9, 1000)
    np.testing.assert_array_equal(elementary.log1p(x), np.log1p(x))

"""Random numbers to weight entries with."""

import numpy as np
import pytest

from gradwright.verify.numeric.draws import draw


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_drawn_cotangents_are_nowhere_near_zero(dtype):
    v = draw(np.zeros((50, 4), dtype), 0)
    assert v.shape == (50, 4)
    assert (np.abs(v) >= 0.5).all()
    assert abs(v.mean()) < 0.2
    assert (v == draw(np.zeros((50, 4), dtype), 0)).all()

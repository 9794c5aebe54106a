from typing import Any

import numpy as np
import pytest

from gradwright.ops import order as o

NAN = float("nan")


@pytest.mark.parametrize("op", [o.largest, o.smallest, o.median])
def test_nan_takes_all(op: Any) -> None:
    assert np.isnan(op(np.array([1.0, NAN, 2.0])))


def test_nanmedian_passes_nan_over() -> None:
    assert o.nanmedian(np.array([3.0, NAN, 1.0, 2.0, NAN, 4.0])) == 2.0
    assert np.isnan(o.nanmedian(np.array([NAN, NAN])))


def test_positions_are_the_first() -> None:
    x = np.array([[1, 3, 3], [2, 2, 0]])
    assert o.argmax(x, axis=1).tolist() == [1, 0]
    assert o.argmin(x, axis=0).tolist() == [0, 1, 1]
    assert o.argmax(x, axis=None) == 1

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.ops import order as o

NAN = float("nan")


def slope(op: Any, x: Any, **static: Any) -> Any:
    t = gradwright.tensor(np.array(x, float), requires_grad=True)
    out = op(t, **static)
    out.backward(gradwright.ones_like(out))
    return t.grad.tolist()


def test_tied_extrema_share() -> None:
    assert slope(o.max, [[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]], axis=(1,)) == [[0.0, 0.5, 0.5], [1 / 3] * 3]
    assert slope(o.min, [1.0, 1.0, 3.0]) == slope(o.smallest, [1.0, 1.0, 3.0]) == [0.5, 0.5, 0.0]
    assert slope(o.median, [2.0, 1.0, 2.0, 5.0, 7.0]) == [0.5, 0.0, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("op", [o.largest, o.smallest, o.median])
def test_nan_takes_all(op: Any) -> None:
    assert np.isnan(op(np.array([1.0, NAN, 2.0])))
    assert slope(op, [1.0, NAN, NAN]) == [0.0, 0.5, 0.5]


def test_nanmedian_passes_nan_over() -> None:
    assert o.nanmedian(np.array([3.0, NAN, 1.0, 2.0, NAN, 4.0])) == 2.0
    assert slope(o.nanmedian, [3.0, NAN, 1.0]) == [0.0, 0.0, 1.0]
    assert np.isnan(o.nanmedian(np.array([NAN, NAN])))


def test_positions_are_the_first() -> None:
    x = np.array([[1, 3, 3], [2, 2, 0]])
    assert o.argmax(x, axis=1).tolist() == [1, 0]
    assert o.argmin(x, axis=0).tolist() == [0, 1, 1]
    assert o.argmax(x, axis=None) == 1

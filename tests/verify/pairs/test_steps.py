"""Derivatives along a way, against what is known of them by formula."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradwright.verify.pairs.steps import Way, slope


def way(f: Callable[[float], float], down: float = np.inf, up: float = np.inf, grain: float = 1e-16) -> Way:
    def there(t: float) -> tuple[float, Any]:
        assert -down <= t <= up
        return t, np.array([f(t)])

    return Way(there, np.array([f(0.0)]), down, up, np.array([grain]))


@pytest.mark.parametrize(("f", "true"), [(np.exp, 1.0), (lambda t: np.sin(200 * t), 200.0), (lambda t: 3.0, 0.0),
                                         (lambda t: np.log(1e-3 + t) * 1e-3, 1.0)])  # fmt: skip
@pytest.mark.parametrize(("down", "up"), [(np.inf, np.inf), (0, np.inf), (0.0, 1.0), (1e-4, 0.0)])
def test_the_bar_holds_within_bounds(f: Callable[[float], float], true: float, down: float, up: float) -> None:
    found = slope(way(f, down, up), np.array([true]), np.array([abs(true)]))
    assert abs(found.value[0] - true) <= 5 * found.bar[0] + 1e-12
    assert found.bar[0] <= 1e-4 * max(abs(true), 1)


@pytest.mark.parametrize("near", [0.0, 1e-5, 1e-3])
def test_at_a_kink_the_sides_are_told_and_near_one_the_slope(near: float) -> None:
    found = slope(way(lambda t: abs(t + near) + 2 * t), np.array([3.0]), np.array([3.0]))
    if near:
        assert not found.kinks[0]
        assert abs(found.value[0] - 3) <= 5 * found.bar[0] <= 1e-4
    else:
        assert found.kinks[0]
        assert np.allclose((found.left[0], found.right[0]), (1, 3))


def test_a_jump_and_a_pole_are_told() -> None:
    assert slope(way(lambda t: float(t > 0)), np.zeros(1), np.zeros(1)).leaps[0]
    assert slope(way(lambda t: np.sqrt(abs(t)), 0.0, 1.0), np.zeros(1), np.zeros(1)).leaps[0]


def test_noise_is_in_the_bar() -> None:
    found = slope(way(lambda t: np.exp(t) + 1e-7 * np.sin(1e8 * t), grain=1e-7), np.ones(1), np.ones(1))
    assert 1e-8 < found.bar[0] < 1e-3
    assert abs(found.value[0] - 1) <= 5 * found.bar[0]

"""Numbers as pages show them."""

import json
import math
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradwright.base.pages.numbers import cuts, number, numbers


@given(st.floats())
def test_a_number_is_json_and_close(value: float) -> None:
    shown = number(value)
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    if math.isfinite(value):
        assert math.isclose(float(shown), value, rel_tol=1e-5)
    else:
        assert isinstance(shown, str)
        assert math.isnan(float(shown)) == math.isnan(value)


def test_numbers_are_those_of_an_array() -> None:
    assert numbers(np.array([1.0, np.nan, 2 / 3])) == [1.0, "nan", 0.666667]


@given(st.integers(0, 1000), st.integers(1, 64))
def test_cuts_cover_all_and_differ_by_one_at_most(n: int, most: int) -> None:
    borders = cuts(n, most)
    assert borders[0] == 0
    assert borders[-1] == n
    sizes = {b - a for a, b in pairwise(borders)}
    assert len(borders) - 1 == min(n, most)
    assert not sizes or max(sizes) - min(sizes) <= 1
    assert 0 not in sizes

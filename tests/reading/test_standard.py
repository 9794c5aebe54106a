from __future__ import annotations

import array_api_strict as strict
import numpy as np
import pytest

from gradwright import dtypes, xp
from gradwright.backends import strict as _strict
from gradwright.engine.base import wrap
from gradwright.reading import standard


def test_axes() -> None:
    assert standard.axes("f", None, 2) is None
    assert standard.axes("f", -1, 3) == (2,)
    assert standard.axes("f", [0, -1], 3) == (0, 2)
    for axis in (2, -3):
        with pytest.raises(IndexError, match=rf"f\(\): axis {axis} is out of range for an array of 2 dimensions"):
            standard.one_axis("f", axis, 2)
    with pytest.raises(IndexError):
        standard.one_axis("f", 0, 0)
    with pytest.raises(TypeError, match="argument 'axis' must be int, not str"):
        standard.axes("f", "rows", 2)


def test_tensors_and_numbers_become_alike() -> None:
    x, y, z = standard.alike("f", xp.ones(2, dtype=xp.float64), 1, xp.ones(1))
    assert x.dtype is y.dtype is z.dtype is dtypes.float64
    with pytest.raises(TypeError, match="list"):
        standard.alike("f", x, [1.0])
    with pytest.raises(OverflowError):
        standard.alike("f", xp.ones(1, dtype=xp.int8), 300)


def test_numbers_join_the_library_of_the_arrays() -> None:
    x = wrap(strict.asarray([1.0, 2.0]))
    assert isinstance(xp.add(x, 1.5).array, type(x.array))
    assert standard.native(_strict.namespace, "float32") is strict.float32
    assert standard.native(np, "float32") is not None

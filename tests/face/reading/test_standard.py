import pytest

from gradwright import dtypes, xp
from gradwright.face.reading import standard


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

"""Functions that math.h lacks, against NumPy's: remainders, quotients rounded down, the normal distribution."""

from __future__ import annotations

import numpy as np
import pytest

from gradwright.backends.quiet import quietly
from gradwright.compilation.by_c.elements import NAMES, element
from gradwright.compilation.by_c.functions import needed
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.trace.traced import space, traced
from tests.compilation.by_c.test_elements import agree, numbers, pairs, run


def test_what_a_function_calls_stands_before_it() -> None:
    text = needed("x = belowf(y) + rest(y, z);")
    assert text.index("float exponentialf(") < text.index("float belowf(")
    assert text.index("double left(") < text.index("double rest(")
    assert "double below(" not in text
    assert not needed("x = y;")


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", ["remainder", "fmod", "floor_divide"])
def test_remainders_and_quotients(compiler: None, name: str, exact: bool) -> None:
    for dtype in NAMES:
        if dtype.kind == "f":
            x, y = pairs(dtype)
            got, want, way = quietly(run, lambda x, y: getattr(space, name)(x, y), x, y, exact=exact)
            agree(got, want, exact)
            assert (way is None) is (exact and name == "floor_divide")
        elif dtype.kind in "iu":
            for divisor in map(dtype.type, (5, 1, 7) + (-1, -3) * (dtype.kind == "i")):
                got, want, way = run(lambda x, n=divisor: getattr(space, name)(x, n), numbers(dtype))
                agree(got, want)
                assert way is not None


def test_whole_numbers_are_divided_in_c_by_what_stays(compiler: None) -> None:
    x = np.array([7, -7])
    (node,) = traced(lambda x, y: space.remainder(x, y), x, x).outputs
    assert element(node) is None
    with pytest.raises(ValueError, match="divided by zero"):
        C(traced(lambda x, y: space.remainder(x, y), x, x))([x, x * 0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_normal_distribution(compiler: None, dtype: str) -> None:
    x = np.concatenate([numbers(np.dtype(dtype)), np.linspace(-14, 9, 300).astype(dtype)])
    got, want, way = quietly(run, lambda x: space.special.ndtr(x), x)
    assert way is not None
    agree(got, want)

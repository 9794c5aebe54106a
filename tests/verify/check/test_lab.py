"""Runs, gradients, and what backward is asked and says."""

import numpy as np
import pytest

from gradwright.verify.check.lab import apart, close, source
from tests.verify.check import functions
from tests.verify.check.functions import Double, Halved, Product, lab, x


def test_gradients_are_those_of_the_cotangents():
    bench = lab(Double, x)
    run = bench.run()
    (c,) = bench.cotangents(run)
    np.testing.assert_array_equal(bench.backward(run)[0], 2 * c)


def test_backward_is_listened_to():
    bench = lab(Product, x, x + 1)
    bench.backward(bench.run([True, False]))
    ((needs, cotangents, returned),) = bench.told
    assert needs == (True, False)
    assert len(cotangents) == 1
    assert returned[1] is None


def test_lines():
    (line,) = lab(Halved, x).lines("backward", "return")
    text = dict(source(Halved.backward, functions.__file__))[line]
    assert text.strip() == "return grad"


@pytest.mark.parametrize(("a", "b", "off"), [
    ([1.0, 2.0], [1.0, 2.0], 0.0), ([1.0, 2.0], [1.0, 1.0], 0.5), ([np.nan], [np.nan], 0.0),
    ([1.0], [np.nan], np.inf), (None, [3.0], 1.0), (None, None, 0.0),
])  # fmt: skip
def test_apart(a, b, off):
    a, b = (None if v is None else np.array(v) for v in (a, b))
    assert apart([a], [b]) == off
    assert close([a], [b]) == (off == 0)

"""Runs, gradients, and what backward is asked and says."""

import numpy as np
import pytest

from examples.right_functions import Product
from gradwright.verify.check.trial import close, relative_error, source
from tests.corpus import wrong
from tests.corpus.right import Double
from tests.corpus.wrong import Halved
from tests.verify.check.functions import trial, x


def test_gradients_are_those_of_the_cotangents():
    one = trial(Double, x)
    run = one.run()
    (c,) = one.cotangents(run)
    np.testing.assert_array_equal(one.backward(run)[0], 2 * c)


def test_backward_is_listened_to():
    one = trial(Product, x, x + 1)
    one.backward(one.run([True, False]))
    ((needs, cotangents, returned),) = one.told
    assert needs == (True, False)
    assert len(cotangents) == 1
    assert returned[1] is None


def test_lines():
    (line,) = trial(Halved, x).lines("backward", "return")
    text = dict(source(Halved.backward, wrong.__file__))[line]
    assert text.strip() == "return grad"


@pytest.mark.parametrize(("a", "b", "off"), [
    ([1.0, 2.0], [1.0, 2.0], 0.0), ([1.0, 2.0], [1.0, 1.0], 0.5), ([np.nan], [np.nan], 0.0),
    ([1.0], [np.nan], np.inf), (None, [3.0], 1.0), (None, None, 0.0),
])  # fmt: skip
def test_relative_error(a, b, off):
    a, b = (None if v is None else np.array(v) for v in (a, b))
    assert relative_error([a], [b]) == off
    assert close([a], [b]) == (off == 0)

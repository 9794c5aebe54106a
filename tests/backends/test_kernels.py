"""The switch between kernels and NumPy."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.native import core
from gradwright.ops.activation import softmax


def test_numpy_gives_the_bits_of_the_formula():
    x = np.random.default_rng(0).standard_normal((7, 300)).astype(np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    with gw.kernels("numpy"):
        assert np.array_equal(gw.tensor(x).softmax(1).numpy(), e / e.sum(1, keepdims=True))


@pytest.mark.skipif(core is None or not core.kernels, reason="no kernels")
def test_it_holds_within_a_block_or_from_now_on():
    x, run = gw.ones(2, 3), softmax.muted
    try:
        for by, taken in (("numpy", 0), ("native", 1)):
            gw.kernels(by)
            with gw.kernels("numpy"):
                pass
            before = run.taken
            x.softmax(1)
            assert run.taken - before == taken
    finally:
        gw.kernels("native")


def test_any_other_name_is_refused():
    with pytest.raises(ValueError, match='expected "native" or "numpy", but got \'torch\''):
        gw.kernels("torch")

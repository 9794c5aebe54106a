"""NumPy's stream: its numbers are those of NumPy's own generator, and its state comes back."""

import numpy as np

from gradwright.backends.streams.pcg64 import PCG64


def test_the_numbers_are_numpys():
    ours, theirs = PCG64(3), np.random.default_rng(3)
    for dtype, drawn in (("float32", "f4"), ("float64", "f8"), ("float16", "f8")):
        np.testing.assert_array_equal(ours.random((2, 3), np.dtype(dtype)), theirs.random((2, 3), drawn))
        np.testing.assert_array_equal(ours.standard_normal(5, np.dtype(dtype)), theirs.standard_normal(5, drawn))
    np.testing.assert_array_equal(ours.bernoulli(0.3, 20), theirs.random(20) < 0.3)
    np.testing.assert_array_equal(ours.permutation(9), theirs.permutation(9))


def test_a_state_comes_back():
    ours = PCG64(2**64 - 3)
    ours.integers(0, 9, 3, np.int32)
    state = ours.get_state()
    assert len(state) == PCG64.size
    first, other = ours.random(4).tolist(), PCG64(1)
    other.set_state(state)
    assert other.seed == ours.seed == 2**64 - 3
    assert other.random(4).tolist() == first


def test_logarithms_of_gamma_numbers_do_not_underflow():
    drawn = PCG64(0).log_gamma(np.full(2000, 1e-3))
    assert np.isfinite(drawn).all()
    assert drawn.min() < -2000
    np.testing.assert_allclose(np.exp(PCG64(0).log_gamma(np.full(20000, 2.5))).mean(), 2.5, rtol=0.03)

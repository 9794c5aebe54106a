"""Computing a piece at a time: nothing is left out, and what a kernel cannot take goes elsewhere."""

import numpy as np
import pytest

from gradwright.backends.chunks import horner, in_chunks, in_single, with_sign


@pytest.mark.parametrize("shape", [(), (5,), (3, 70_001)])
def test_the_pieces_make_up_the_whole(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_array_equal(in_chunks(lambda a, b: a * b)(x, x + 1), x * (x + 1))


def test_what_does_not_lie_in_a_row_is_taken_whole() -> None:
    x = np.arange(90_000.0).reshape(300, 300)
    np.testing.assert_array_equal(in_chunks(lambda a, b: a - b)(x.T, x[0]), x.T - x[0])


def test_only_many_numbers_of_the_type_reach_the_kernel() -> None:
    f = in_single(lambda x: x * 0)(lambda x: x * 0 + 1)
    assert f(np.ones(1000, np.float32)).all()
    assert not f(np.ones(8, np.float32)).any()
    assert not f(np.ones(1000)).any()


def test_polynomial_and_sign() -> None:
    x = np.array([-2.0, -0.0, 3.0], np.float32)
    np.testing.assert_array_equal(horner(x, (1.0, -2.0, 0.5)), 1 - 2 * x + 0.5 * x * x)
    assert np.signbit(with_sign(np.abs(x), x)).tolist() == [True, True, False]

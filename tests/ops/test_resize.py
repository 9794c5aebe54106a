"""Resampling by taps: both ways of doing it, and its adjoint."""

import numpy as np
import pytest

from gradwright.ops.resize import Taps, resample


def matrix(taps: Taps) -> np.ndarray:
    out = np.zeros((len(taps.index[0]), taps.size))
    for index, weight in zip(taps.index, taps.weight, strict=True):
        np.add.at(out, (np.arange(len(index)), index), weight)
    return out


@pytest.mark.parametrize("size", [5, 200])
def test_it_is_a_matrix_product(size: int) -> None:
    taps = Taps.gathered(size, [{0: 0.5, 2: 0.25}, {size - 1: 1.0}, {}, {1: 2.0, 3: -1.0, 4: 0.5}])
    x = np.random.standard_normal((2, size, 3))
    np.testing.assert_allclose(resample(x, axis=1, taps=taps), np.einsum("oi,nic->noc", matrix(taps), x), 1e-12, 1e-12)
    np.testing.assert_array_equal(matrix(taps.transpose), matrix(taps).T)

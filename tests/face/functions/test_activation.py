"""Activations that are also methods."""

import numpy as np
import pytest

import gradwright as gw

X = np.random.default_rng(0).standard_normal((2, 3, 4))


def test_prelu(same) -> None:
    same(lambda lib, x, w: lib.prelu(x, w), X, np.array([0.1, -0.2, 0.3]), names=False)
    same(lambda lib, x, w: x.prelu(w), X, np.array(0.1), names=False)
    same(lambda lib, x, w: x.prelu(w), X[0, 0], np.array([0.1]), names=False)
    same(lambda lib, x: x.hardshrink(0.3), X)


@pytest.mark.parametrize("weight", [np.ones((1, 3)), np.ones(4), np.ones(3, "f")])
def test_weights_that_do_not_fit(same, weight) -> None:
    same(lambda lib, x, w: lib.prelu(x, w), X, weight)


def test_other_dtypes() -> None:
    with pytest.raises(NotImplementedError, match=r"^hardshrink\(\): not implemented for torch.int64"):
        gw.hardshrink(gw.ones(2, dtype=gw.int64))

"""Angles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import gradwright as gw
from gradwright import distributions as D
from tests.distributions.laws import t


@pytest.mark.parametrize("k", [1e-3, 0.5, 4.0, 300.0])
def test_scipys_law(k: float) -> None:
    ours, law = D.VonMises(t(0.4), t(k)), stats.vonmises(k, loc=0.4)
    x = np.array([-3.0, -0.2, 0.4, 1.0, 7.0])
    np.testing.assert_allclose(ours.log_prob(t(x)).numpy(), law.logpdf(x), rtol=1e-9)
    assert ours.variance.item() == pytest.approx(stats.circvar(ours.sample((20000,)).numpy()), rel=0.1)


def test_draws_lie_in_one_turn() -> None:
    x = D.VonMises(gw.tensor([3.0, 20.0]), 0.5).sample((1000,))
    assert x.abs().max() <= math.pi
    assert D.VonMises(gw.zeros(2), 1.0).expand((3, 2)).sample().shape == (3, 2)
    with pytest.raises(NotImplementedError, match="VonMises has no rsample"):
        D.VonMises(0.0, 1.0).rsample()

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


def test_draws_move_with_place_and_concentration() -> None:
    """The derivative of the mean of cos(x - 0.7), which is I1(k) / I0(k) cos(loc - 0.7)."""
    gw.manual_seed(0)
    loc, k = t(0.4).requires_grad_(), t(2.0).requires_grad_()
    ours = D.VonMises(loc, k)
    found = gw.autograd.grad((ours.rsample((20000,)) - 0.7).cos().mean(), [loc, k])
    exact = gw.autograd.grad((1 - ours.variance) * (loc - 0.7).cos(), [loc, k])
    for a, b in zip(found, exact, strict=True):
        assert a.item() == pytest.approx(b.item(), abs=0.01)

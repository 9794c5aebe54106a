"""Relaxed categories: densities that integrate to 1, draws that sharpen and have derivatives."""

from __future__ import annotations

import pytest
from scipy import integrate

import gradwright as gw
from gradwright import distributions as D
from gradwright.distributions.relaxed import ExpRelaxedCategorical, LogitRelaxedBernoulli
from tests.distributions.laws import t


def test_densities_integrate_to_one() -> None:
    r = D.RelaxedBernoulli(t(0.7), t(0.3))
    assert integrate.quad(lambda x: r.log_prob(t(x)).exp().item(), 0, 1)[0] == pytest.approx(1, rel=1e-5)
    c = D.RelaxedOneHotCategorical(t(1.5), t([0.3, 0.7]))
    assert integrate.quad(lambda x: c.log_prob(t([x, 1 - x])).exp().item(), 0, 1)[0] == pytest.approx(1, rel=1e-5)


def test_draws_sharpen_and_move() -> None:
    gw.manual_seed(0)
    logits = gw.tensor([0.5, 0.0, -0.5], requires_grad=True)
    for temperature, sharp in ((gw.tensor(0.01), True), (gw.tensor(5.0), False)):
        x = D.RelaxedOneHotCategorical(temperature, logits=logits).rsample((200,))
        assert (x.max(-1).values > 0.99).float().mean().item() > 0.9 or not sharp
        assert x.requires_grad
        b = D.RelaxedBernoulli(temperature, logits=logits)
        y = b.rsample((200,))
        assert ((y - 0.5).abs() > 0.49).float().mean().item() > 0.9 or not sharp
        assert gw.autograd.grad(y.sum(), logits)[0].isfinite().all()


def test_shapes_parameters_and_bases() -> None:
    r = D.RelaxedBernoulli(gw.tensor(0.5), gw.full((2,), 0.3))
    assert isinstance(r.base_dist, LogitRelaxedBernoulli)
    assert r.expand((3, 2)).sample().shape == (3, 2)
    assert r.temperature.item() == 0.5
    c = D.RelaxedOneHotCategorical(gw.tensor(0.5), gw.ones(2, 3))
    assert isinstance(c.base_dist, ExpRelaxedCategorical)
    assert (c.batch_shape, c.event_shape, c.probs.shape, c.logits.shape) == ((2,), (3,), (2, 3), (2, 3))
    assert c.expand((4, 2)).sample().shape == (4, 2, 3)
    assert D.RelaxedBernoulli(0.5, 0.3).log_prob(gw.tensor(0.4)).shape == ()
    with pytest.raises(ValueError, match="Either `probs` or `logits`"):
        D.RelaxedBernoulli(gw.tensor(0.5))

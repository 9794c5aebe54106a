"""Shares of a whole."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import gradwright as gw
from gradwright import distributions as D
from tests.distributions.laws import compare, t

SHAPES = [0.7, 2.0, 3.5]


def test_scipys_laws() -> None:
    compare(D.Beta(t(0.7), 2.0), stats.beta(0.7, 2))
    ours, law = D.Dirichlet(t(SHAPES)), stats.dirichlet(SHAPES)
    x = ours.sample((4,))
    np.testing.assert_allclose(ours.log_prob(x).numpy(), law.logpdf(x.numpy().T), rtol=1e-9)
    np.testing.assert_allclose(ours.mean.numpy(), law.mean())
    np.testing.assert_allclose(ours.variance.numpy(), law.var())
    assert ours.entropy().item() == pytest.approx(law.entropy())


def test_modes() -> None:
    assert D.Beta(2.0, 2.0).mode.item() == 0.5
    assert D.Dirichlet(gw.tensor([0.5, 0.9])).mode.tolist() == [1, 0]
    assert D.Dirichlet(gw.tensor([3.0, 2.0, 1.0])).mode.tolist() == pytest.approx([2 / 3, 1 / 3, 0])


def test_draws_move_with_all_shapes() -> None:
    a = gw.tensor(SHAPES, requires_grad=True)
    x = D.Dirichlet(a).rsample()
    (slope,) = gw.autograd.grad(x.sum(), a, retain_graph=True)
    assert slope.tolist() == pytest.approx([0, 0, 0], abs=1e-6)
    rows = gw.stack([gw.autograd.grad(v, a, retain_graph=True)[0] for v in x])
    assert (rows.diagonal() > 0).all()


def test_vmap_draws_as_a_batch_does() -> None:
    a = gw.tensor([SHAPES, SHAPES[::-1]])
    gw.manual_seed(0)
    with pytest.warns(gw.GradientWarning, match="others than those of a loop"):
        x = gw.func.vmap(lambda a: D.Dirichlet(a).rsample(), randomness="different")(a)
    assert x.sum(-1).tolist() == pytest.approx([1, 1])


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one-dimensional"):
        D.Dirichlet(gw.tensor(1.0))
    with pytest.raises(ValueError, match=r"constraint IndependentConstraint\(GreaterThan"):
        D.Dirichlet(gw.tensor([1.0, -1.0]))
    with pytest.raises(ValueError, match=r"support \(Simplex"):
        D.Dirichlet(gw.ones(2)).log_prob(gw.tensor([0.5, 0.6]))
    assert D.Beta(gw.ones(2), 1.0).expand((3, 2)).sample().shape == (3, 2)

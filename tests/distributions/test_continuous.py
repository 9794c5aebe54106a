"""Numbers with a place and a width, beside SciPy's laws."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import gradwright as gw
from gradwright import distributions as D
from tests.distributions.close import close
from tests.distributions.laws import compare, t


@pytest.mark.parametrize(("ours", "law"), [
    (D.Normal(t(0.3), 2.0), stats.norm(0.3, 2)), (D.HalfNormal(t(2.0)), stats.halfnorm(0, 2)),
    (D.LogNormal(t(0.3), 0.5), stats.lognorm(0.5, scale=math.exp(0.3))),
    (D.Cauchy(t(0.3), 2.0), stats.cauchy(0.3, 2)), (D.HalfCauchy(t(2.0)), stats.halfcauchy(0, 2)),
    (D.Laplace(t(0.3), 2.0), stats.laplace(0.3, 2)), (D.Uniform(t(-1.0), 2.5), stats.uniform(-1, 3.5)),
    (D.Gumbel(t(0.3), 2.0), stats.gumbel_r(0.3, 2)),
])  # fmt: skip
def test_scipys_laws(ours: Any, law: Any) -> None:
    compare(ours, law)


def test_a_draw_moves_with_its_parameters() -> None:
    loc, scale = (gw.tensor(v, requires_grad=True) for v in (1.0, 2.0))
    x = D.Normal(loc, scale).rsample((5,))
    slopes = gw.autograd.grad(x.sum(), [loc, scale])
    assert slopes[0].item() == 5
    assert slopes[1].item() == pytest.approx(((x - 1) / 2).sum().item(), abs=1e-5)


def test_points_of_the_simplex() -> None:
    d = D.LogisticNormal(gw.zeros(2, 3), 1.0)
    assert (d.batch_shape, d.event_shape) == ((2,), (4,))
    x = d.rsample((5,))
    close(x.sum(-1), gw.ones(5, 2))
    assert d.expand((7, 2)).sample().shape == (7, 2, 4)
    assert D.LogisticNormal(0.0, 1.0).sample().shape == (2,)


def test_beneath_zero() -> None:
    for kind in (D.HalfNormal, D.HalfCauchy):
        assert kind(1.0, validate_args=False).log_prob(gw.tensor(-1.0)).item() == -math.inf
    with pytest.raises(ValueError, match="within the support"):
        D.LogNormal(0.0, 1.0).log_prob(gw.tensor(-1.0))


def test_ends() -> None:
    u = D.Uniform(0.0, 1.0, validate_args=False)
    assert u.log_prob(gw.tensor([-0.1, 0.0, 1.0])).tolist() == [-math.inf, 0, -math.inf]
    assert u.cdf(gw.tensor([-1.0, 0.5, 3.0])).tolist() == [0, 0.5, 1]
    assert D.Cauchy(0.0, 1.0).mean.isnan()
    assert D.HalfCauchy(1.0).mean.item() == math.inf
    assert D.HalfCauchy(1.0).mode.item() == D.HalfNormal(1.0).mode.item() == 0
    with pytest.raises(ValueError, match="parameter low"):
        D.Uniform(1.0, 1.0)


def test_expanded_uniform_and_gumbel() -> None:
    for d in (D.Uniform(gw.zeros(2), 1.0), D.Gumbel(gw.zeros(2), 1.0)):
        wide = d.expand((3, 2))
        assert wide.rsample((4,)).shape == (4, 3, 2)
        assert wide.mean.shape == (3, 2)


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

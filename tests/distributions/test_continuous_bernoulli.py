"""The continuous Bernoulli distribution: integrals of its density, close to p = 1/2 too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

import gradwright as gw
from gradwright import distributions as D
from tests.distributions.close import close

LOGITS = [-40.0, -3.0, -0.31, -0.29, -1.1e-3, -9e-4, 0.0, 1e-12, 2e-3, 0.5, 7.0, 60.0]


def of(t: float) -> D.ContinuousBernoulli:
    return D.ContinuousBernoulli(logits=gw.tensor(t, dtype=gw.float64, requires_grad=True))


def density(t: float, x: float) -> float:
    t = abs(t)  # from the end where it is highest
    return np.exp(-t * x) * (t / -np.expm1(-t) if t else 1.0)


def moment(t: float, n: int, end: float = 1.0) -> float:
    return integrate.quad(lambda x: x**n * density(t, x), 0, end, points=[0.01, 0.1], epsabs=1e-13)[0]


@pytest.mark.parametrize("t", LOGITS)
def test_moments(t: float) -> None:
    c = of(t)
    mean = moment(t, 1)
    assert c.mean.item() == pytest.approx(mean if t < 0 else 1 - mean, rel=1e-9)
    assert c.variance.item() == pytest.approx(moment(t, 2) - mean**2, rel=1e-7)
    x = gw.tensor([0.2, 0.7], dtype=gw.float64)
    wanted = [density(t, v if t < 0 else 1 - v) for v in (0.2, 0.7)]
    assert c.log_prob(x).exp().tolist() == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("t", LOGITS)
def test_the_distribution_function_and_its_inverse(t: float) -> None:
    c, p = of(t), gw.tensor([1e-6, 0.3, 0.9], dtype=gw.float64)
    x = c.icdf(p)
    close(c.cdf(x.detach()), p)
    if t <= 0:
        assert c.cdf(gw.tensor(0.3, dtype=gw.float64)).item() == pytest.approx(moment(t, 0, 0.3), rel=1e-9)
    (slope,) = gw.autograd.grad(x[1], c.logits)
    h = 1e-5 * max(1.0, abs(t))
    moved = (of(t + h).icdf(p)[1] - of(t - h).icdf(p)[1]).item() / (2 * h)
    assert slope.item() == pytest.approx(moved, rel=1e-4, abs=1e-9)


def test_ends_and_refusals() -> None:
    c = D.ContinuousBernoulli(gw.tensor([0.0, 0.5, 1.0]))
    assert c.log_prob(gw.tensor(0.5)).isfinite().all()
    assert c.cdf(gw.tensor(1.0)).tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="parameter probs"):
        D.ContinuousBernoulli(1.5)
    x = gw.tensor(0.4, dtype=gw.float64)
    assert D.ContinuousBernoulli(gw.tensor(0.5, dtype=gw.float64)).log_prob(x).item() == pytest.approx(0, abs=1e-12)


def test_far_logits_have_finite_gradients() -> None:
    t = gw.tensor([-500.0, 500.0], requires_grad=True)
    c = D.ContinuousBernoulli(logits=t)
    for out in (c.mean, c.variance, c.entropy(), c.log_prob(gw.tensor(0.5)), c.icdf(gw.tensor(0.5))):
        (slope,) = gw.autograd.grad(out.sum(), t, retain_graph=True)
        assert slope.isfinite().all()

"""Distributions of positive numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import gradwright as gw
from gradwright import distributions as D
from tests.distributions.laws import compare, t


@pytest.mark.parametrize(("ours", "law"), [
    (D.Exponential(t(2.0)), stats.expon(scale=0.5)), (D.Pareto(t(2.0), 3.5), stats.pareto(3.5, scale=2)),
    (D.Weibull(t(2.0), 1.5), stats.weibull_min(1.5, scale=2)),
    (D.GeneralizedPareto(t(0.3), 2.0, 0.2), stats.genpareto(0.2, 0.3, 2)),
    (D.GeneralizedPareto(t(0.3), 2.0, -0.5), stats.genpareto(-0.5, 0.3, 2)),
    (D.GeneralizedPareto(t(0.3), 2.0, 0.0), stats.genpareto(0.0, 0.3, 2)),
])  # fmt: skip
def test_scipys_laws(ours: Any, law: Any) -> None:
    compare(ours, law)


def test_kumaraswamy_by_integrals() -> None:
    k = D.Kumaraswamy(t(2.0), 3.0)

    def p(x: float) -> float:
        return 6 * x * (1 - x**2) ** 2

    assert k.mean.item() == pytest.approx(integrate.quad(lambda x: x * p(x), 0, 1)[0])
    assert k.variance.item() == pytest.approx(integrate.quad(lambda x: x * x * p(x), 0, 1)[0] - k.mean.item() ** 2)
    assert k.entropy().item() == pytest.approx(integrate.quad(lambda x: -p(x) * np.log(p(x)), 1e-12, 1 - 1e-9)[0])
    assert k.log_prob(t(0.4)).exp().item() == pytest.approx(p(0.4))
    assert k.mode.item() == pytest.approx(5**-0.5)
    assert k.cdf(k.icdf(t(0.3))).item() == pytest.approx(0.3)


def test_moments_that_do_not_exist() -> None:
    assert D.Pareto(1.0, 1.0).mean.item() == D.Pareto(1.0, 2.0).variance.item() == math.inf
    assert D.GeneralizedPareto(0.0, 1.0, 1.0).mean.isnan()


def test_supports() -> None:
    with pytest.raises(ValueError, match="within the support"):
        D.Pareto(2.0, 3.0).log_prob(gw.tensor(1.0))
    g = D.GeneralizedPareto(gw.zeros(2), 1.0, gw.tensor([-0.5, 0.5]))
    assert g.support.upper_bound.tolist() == [2, math.inf]
    assert g.expand((3, 2)).sample().shape == (3, 2)
    with pytest.raises(ValueError, match="parameter rate"):
        D.Exponential(0.0)


def test_more_of_the_generalized_pareto() -> None:
    g = D.GeneralizedPareto(t(0.0), 1.0, 0.5)
    x = t([0.5, 2.0])
    np.testing.assert_allclose(g.log_cdf(x).exp().numpy(), g.cdf(x).numpy())
    np.testing.assert_allclose(g.log_survival_function(x).exp().numpy(), 1 - g.cdf(x).numpy())
    c = gw.tensor(1e-12, dtype=gw.float64, requires_grad=True)
    assert gw.autograd.grad(D.GeneralizedPareto(0.0, 1.0, c).log_prob(x).sum(), c)[0].isfinite()

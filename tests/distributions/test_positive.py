"""Distributions of positive numbers."""

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
    (D.Gamma(t(0.7), 2.0), stats.gamma(0.7, scale=0.5)), (D.Chi2(t(3.0)), stats.chi2(3)),
    (D.InverseGamma(t(4.5), 2.0), stats.invgamma(4.5, scale=2)), (D.StudentT(t(5.0), 0.3, 2.0), stats.t(5, 0.3, 2)),
    (D.FisherSnedecor(t(3.0), 9.0), stats.f(3, 9)),
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
    assert D.StudentT(0.5).mean.isnan()
    assert D.StudentT(gw.tensor([0.5, 1.5])).variance.tolist() == pytest.approx([math.nan, math.inf], nan_ok=True)
    assert D.InverseGamma(1.0, 1.0).mean.item() == D.InverseGamma(2.0, 1.0).variance.item() == math.inf
    assert D.FisherSnedecor(1.0, 2.0).mean.isnan()
    assert D.FisherSnedecor(1.0, 4.0).variance.isnan()


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


def test_chi_squared_keeps_its_class_and_parameter() -> None:
    c = D.Chi2(gw.tensor([3.0, 4.0])).expand((5, 2))
    assert isinstance(c, D.Chi2)
    assert c.df.tolist() == [[3, 4]] * 5
    with pytest.raises(ValueError, match="parameter df"):
        D.Chi2(-1.0)


def test_the_distribution_function_has_all_derivatives() -> None:
    """PyTorch's has none by the concentration."""
    args = [t([0.4, 2.0, 30.0]).requires_grad_(), t([1.0, 0.5, 2.0]).requires_grad_(), t([0.1, 3.0, 14.0])]
    assert gw.autograd.gradcheck(lambda a, b, x: D.Gamma(a, b).cdf(x), (*args[:2], args[2].requires_grad_()))
    assert gw.autograd.gradgradcheck(lambda a, x: D.Gamma(a, 1.0).cdf(x), (args[0], args[2]))
    at_zero = D.Gamma(args[0], 1.0).cdf(t([0.0, 0.0, 0.0]))
    assert gw.autograd.grad(at_zero.sum(), args[0])[0].tolist() == [0, 0, 0]


def test_small_shapes_do_not_underflow_to_zero() -> None:
    a = gw.full((200,), 1e-3, requires_grad=True)
    x = D.Gamma(a, 1.0).rsample()
    assert x.min() > 0
    (slope,) = gw.autograd.grad(x.log().sum(), a)
    assert slope.isfinite().all()

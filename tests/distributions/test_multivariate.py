"""Normal vectors and random matrices."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import gradwright as gw
from gradwright import distributions as D
from gradwright.distributions.multivariate import factor_of_inverse, squared_distance
from tests.distributions.close import close
from tests.distributions.laws import t

C = t([[1.3, 0.4, -0.2], [0.4, 2.1, 0.3], [-0.2, 0.3, 0.9]])
LOC = t([0.1, 0.2, -0.3])
W, DIAGONAL = t([[0.5, 1.0], [-0.2, 0.3], [0.7, 0.1]]), t([0.5, 0.9, 1.3])


@pytest.mark.parametrize("d", [
    D.MultivariateNormal(LOC, C), D.MultivariateNormal(LOC, precision_matrix=gw.linalg.inv(C)),
    D.MultivariateNormal(LOC, scale_tril=gw.linalg.cholesky(C)), D.LowRankMultivariateNormal(LOC, W, DIAGONAL),
])  # fmt: skip
def test_scipys_law(d: Any) -> None:
    law = stats.multivariate_normal(LOC.numpy(), d.covariance_matrix.numpy())
    x = d.sample((4, 2))
    np.testing.assert_allclose(d.log_prob(x).numpy(), law.logpdf(x.numpy()), rtol=1e-9)
    assert d.entropy().item() == pytest.approx(law.entropy())
    close(d.scale_tril @ d.scale_tril.mT, d.covariance_matrix, 1e-9)
    np.testing.assert_allclose((d.precision_matrix @ d.covariance_matrix).numpy(), np.eye(3), atol=1e-12)
    close(d.variance, d.covariance_matrix.diagonal())
    wide = d.expand((5, 2))
    assert wide.covariance_matrix.shape == wide.precision_matrix.shape == wide.scale_tril.shape == (5, 2, 3, 3)
    assert wide.rsample((4,)).shape == (4, 5, 2, 3)
    assert wide.variance.shape == (5, 2, 3)
    assert wide.entropy().shape == (5, 2)


@pytest.mark.parametrize(("factor", "away"), [
    ((3, 3), (3,)), ((3, 3), (5, 4, 3)), ((4, 3, 3), (5, 4, 3)), ((4, 3, 3), (3,)), ((1, 3, 3), (4, 3)),
    ((2, 1, 3, 3), (5, 2, 4, 3)), ((4, 3, 3), (5, 1, 3)), ((0, 3, 3), (0, 3)),
])  # fmt: skip
def test_distances_of_batches(factor: tuple[int, ...], away: tuple[int, ...]) -> None:
    f = gw.randn(factor, dtype=gw.float64).tril(-1) + 2 * gw.eye(3, dtype=gw.float64)
    d = gw.randn(away, dtype=gw.float64)
    exact = (d.unsqueeze(-2) @ gw.linalg.inv(f @ f.mT) @ d.unsqueeze(-1)).squeeze(-1).squeeze(-1)
    close(squared_distance(f, d), exact, 1e-9)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="loc must be at least one-dimensional"):
        D.MultivariateNormal(gw.tensor(0.0), C)
    for given in ({}, {"covariance_matrix": C, "scale_tril": C}):
        with pytest.raises(ValueError, match="Exactly one of covariance_matrix or precision_matrix or scale_tril"):
            D.MultivariateNormal(LOC, **given)
    with pytest.raises(ValueError, match="precision_matrix matrix must be at least two-dimensional"):
        D.MultivariateNormal(LOC, precision_matrix=LOC)
    with pytest.raises(ValueError, match=r"constraint PositiveDefinite\(\)"):
        D.MultivariateNormal(LOC, -C)
    with pytest.raises(ValueError, match="cov_factor must be a batch of matrices with shape 3 x m"):
        D.LowRankMultivariateNormal(LOC, W.mT, DIAGONAL)
    with pytest.raises(ValueError, match="cov_factor must be at least two-dimensional"):
        D.LowRankMultivariateNormal(LOC, LOC, DIAGONAL)
    with pytest.raises(ValueError, match="cov_diag must be a batch of vectors"):
        D.LowRankMultivariateNormal(LOC, W, gw.ones(2))
    with pytest.raises(ValueError, match="Incompatible batch shapes"):
        D.LowRankMultivariateNormal(gw.zeros(2, 3), W.expand(4, 3, 2), DIAGONAL)


def test_the_factor_of_the_inverse(torch: Any) -> None:
    theirs = torch.distributions.multivariate_normal._precision_to_scale_tril(torch.tensor(C.numpy()))
    np.testing.assert_allclose(factor_of_inverse(C).numpy(), theirs.numpy(), rtol=1e-12)


def test_scipys_wishart() -> None:
    gw.manual_seed(0)
    ours, law = D.Wishart(t(4.5), C), stats.wishart(4.5, C.numpy())
    x = ours.sample((4,))
    np.testing.assert_allclose(ours.log_prob(x).numpy(), law.logpdf(x.numpy().transpose(1, 2, 0)), rtol=1e-8)
    assert ours.entropy().item() == pytest.approx(law.entropy())
    np.testing.assert_allclose(ours.mean.numpy(), law.mean())
    np.testing.assert_allclose(ours.variance.numpy(), law.var())
    np.testing.assert_allclose(D.Wishart(t(7.0), C).mode.numpy(), stats.wishart(7, C.numpy()).mode())


def test_the_entropy_by_natural_parameters() -> None:
    w = D.Wishart(t([4.5, 6.0]), C)
    close(w.entropy(), D.ExponentialFamily.entropy(w))


def test_draws_have_derivatives() -> None:
    df, factor = gw.tensor(5.0, requires_grad=True), gw.eye(3).requires_grad_()
    x = D.Wishart(df, scale_tril=factor).rsample((2,))
    slopes = gw.autograd.grad(x.diagonal(dim1=-2, dim2=-1).sum(), [df, factor])
    assert slopes[0].item() > 0
    assert slopes[1].isfinite().all()
    assert D.Wishart(df, scale_tril=factor).expand((4,)).rsample().shape == (4, 3, 3)


def test_low_degrees_of_freedom() -> None:
    with pytest.warns(UserWarning, match="Low df values detected"):
        w = D.Wishart(2.5, gw.eye(3, dtype=gw.float64))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert w.sample((20,)).shape == (20, 3, 3)
    with pytest.raises(ValueError, match=r"Value of df=.* expected to be greater than ndim - 1 = 2"):
        D.Wishart(2.0, gw.eye(3))
    assert D.Wishart(3.5, gw.eye(3)).mode.isnan().all()


def test_correlations_are_uniform_for_concentration_one() -> None:
    """Of 2 rows, r is uniform on (-1, 1); the density is of the factor, whose r has a slope of 1."""
    gw.manual_seed(0)
    lkj = D.LKJCholesky(2, t(1.0))
    r = lkj.sample((3000,))[:, 1, 0]
    assert stats.kstest(r.numpy(), stats.uniform(-1, 2).cdf).pvalue > 1e-3
    factor = t([[1.0, 0.0], [0.6, 0.8]])
    assert lkj.log_prob(factor).exp().item() == pytest.approx(0.5)


@pytest.mark.parametrize("concentration", [0.5, 2.0])
def test_the_density_of_a_correlation_integrates_to_one(concentration: float) -> None:
    lkj = D.LKJCholesky(2, t(concentration))

    def p(r: float) -> float:
        return lkj.log_prob(t([[1.0, 0.0], [r, np.sqrt(1 - r * r)]])).exp().item()

    assert 2 * integrate.quad(p, 0, 1 - 1e-9)[0] == pytest.approx(1, rel=1e-3)


def test_factors_of_correlations() -> None:
    lkj = D.LKJCholesky(4, gw.tensor([0.5, 3.0]))
    x = lkj.sample((5,))
    assert x.shape == (5, 2, 4, 4)
    assert lkj.support.check(x).all()
    assert lkj.expand((3, 2)).sample().shape == (3, 2, 4, 4)
    with pytest.raises(ValueError, match="Found dim=1"):
        D.LKJCholesky(1)

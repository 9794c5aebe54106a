"""Normal vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import gradwright as gw
from gradwright import distributions as D
from gradwright.distributions.multivariate_normal import factor_of_inverse, squared_distance
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

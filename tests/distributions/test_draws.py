"""Draws: their moments, and how these move with the parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import gradwright as gw
from gradwright import distributions as D
from gradwright.distributions import draws
from oracle.distribution_cases import CASES, ours, strays

MOVING = [name for name in CASES if ours(name).it.has_rsample]


@pytest.mark.parametrize("name", CASES)
def test_moments_of_draws_are_the_exact_ones(name: str) -> None:
    assert list(strays(name)) == []


@pytest.mark.parametrize("name", MOVING)
def test_the_mean_of_draws_moves_as_the_mean(name: str) -> None:
    """The derivative of the mean of 500 draws, 16 times, against that of the mean."""
    gw.manual_seed(1)
    made = ours(name)
    try:
        exact = made.ask("mean")
    except NotImplementedError:
        pytest.skip("it has no mean with a closed form")
    if not exact.requires_grad or not np.isfinite(exact.detach().numpy()).all():
        pytest.skip("its mean is infinite, or does not move")
    wanted = made.slopes(exact)
    found = [made.slopes(made.it.rsample((500,)).mean(0)) for _ in range(16)]
    for k, slope in wanted.items():
        each = np.stack([f[k] + np.zeros_like(slope) for f in found])
        error = each.std(0) / 4
        if k == "covariance_matrix":  # symmetric: what its entries' gradients mean together
            slope = (slope + slope.T) / 2
        assert (np.abs(each.mean(0) - slope) <= 6 * error + 1e-5).all(), k


@pytest.mark.parametrize(("made", "law"), [
    (lambda n: draws.normal(gw.zeros(()), (n,)), stats.norm()),
    (lambda n: draws.uniform(gw.zeros(()), (n,)), stats.uniform()),
    (lambda n: draws.exponential(gw.zeros(()), (n,)), stats.expon()),
    (lambda n: draws.gamma(gw.full((n,), 0.3)), stats.gamma(0.3)),
    (lambda n: draws.dirichlet(gw.tensor([0.3, 1.2]).expand(n, 2))[:, 0], stats.beta(0.3, 1.2)),
    (lambda n: D.Cauchy(0.5, 2.0).sample((n,)), stats.cauchy(0.5, 2)),
    (lambda n: D.HalfCauchy(2.0).sample((n,)), stats.halfcauchy(0, 2)),
    (lambda n: D.StudentT(2.5).sample((n,)), stats.t(2.5)),
    (lambda n: D.VonMises(1.0, 2.0).sample((n,)) - 1.0, stats.vonmises(2.0)),
    (lambda n: D.Gumbel(1.0, 2.0).sample((n,)), stats.gumbel_r(1, 2)),
    (lambda n: D.ContinuousBernoulli(0.9).sample((n,)), None),
])  # fmt: skip
def test_draws_follow_their_law(made: Any, law: Any) -> None:
    gw.manual_seed(2)
    x = made(2000).double()
    cdf = D.ContinuousBernoulli(gw.tensor(0.9, dtype=gw.float64)).cdf(x).numpy() if law is None else law.cdf(x.numpy())
    if law is not None and law.dist.name == "vonmises":
        cdf = cdf % 1  # angles from another start
    assert stats.kstest(cdf, "uniform").pvalue > 1e-3


def test_ends_are_left_out() -> None:
    assert draws.gamma(gw.full((1000,), 1e-3)).min() > 0
    x = draws.dirichlet(gw.full((1000, 3), 1e-2))
    assert x.min() > 0
    assert x.max() < 1
    assert draws.gamma(gw.zeros(0)).shape == (0,)


def test_a_seed_repeats_the_draws_and_a_sample_has_no_history() -> None:
    a = gw.tensor(2.0, requires_grad=True)
    gamma = D.Gamma(a, 1.0)
    gw.manual_seed(3)
    first = gamma.rsample((3,))
    gw.manual_seed(3)
    second = gamma.sample((3,))
    assert first.tolist() == second.tolist()
    assert first.requires_grad
    assert not second.requires_grad

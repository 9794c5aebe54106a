"""Divergences between two classes: PyTorch's values and gradients, and means over draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import distributions as D
from gradwright.distributions.kl import _KL_REGISTRY
from oracle.distribution_cases import CASES, Case, Made

PAIRS = sorted((p.__name__, q.__name__) for p, q in _KL_REGISTRY if p is not q and "Multivariate" not in p.__name__)
WITHIN = Case(lambda D, **p: D.Uniform(**p), {"low": [0.1, 0.2, 0.3], "high": [0.5, 0.9, 0.95]}, [0.2, 0.5, 0.6])
WIDE = Case(lambda D, **p: D.Uniform(**p), {"low": [-1.0, -0.5, 1.0], "high": [5.5, 2.0, 4.0]}, [0.2, 0.5, 1.6])


def cases(name: str) -> list[Case]:
    return [CASES[name]] + [WITHIN, WIDE] * (name == "Uniform")


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_pytorchs_divergences(p: str, q: str, torch: Any) -> None:
    for first in cases(p):
        for second in cases(q):
            found = []
            for T, module in ((torch, torch.distributions), (gw, D)):
                a, b = Made(first, T, module), Made(second, T, module)
                out = module.kl_divergence(a.it, b.it)
                finite = out[out.isfinite()]
                slopes = [*a.slopes(finite).values(), *b.slopes(finite).values()] if len(finite) else []
                found.append([out.detach(), *slopes])
            for theirs, mine in zip(*map(_arrays, found), strict=True):
                known = ~np.isnan(theirs)  # where PyTorch's formula for the inside is taken outside
                np.testing.assert_allclose(mine[known], theirs[known], rtol=1e-8, atol=1e-10)


def _arrays(values: list[Any]) -> list[Any]:
    return [np.asarray(value) for value in values]


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_the_mean_over_draws(p: str, q: str) -> None:
    gw.manual_seed(0)
    for case in cases(p):
        a, b = Made(case, gw, D).it, Made(CASES[q], gw, D).it
        exact = D.kl_divergence(a, b).detach().numpy()
        x = a.sample((4000,))
        within = b.support.check(x)
        log_q = b.log_prob(gw.where(within, x, b.sample((4000,))))
        outside = ~within.numpy()
        each = np.where(outside, np.inf, (a.log_prob(x) - log_q).detach().numpy())
        finite = np.isfinite(exact)
        assert (np.isfinite(each).all(0) | ~finite).all()
        assert (outside.any(0) | finite | (p == "Pareto") | (q == "Binomial")).all(), "it is finite"
        mean, error = each[:, finite].mean(0), each[:, finite].std(0) / np.sqrt(4000)
        assert (np.abs(mean - exact[finite]) < 5 * error + 1e-9).all()


def test_a_class_made_of_another() -> None:
    p = D.Chi2(gw.tensor(3.0, dtype=gw.float64))
    q = D.Gamma(p.concentration, p.rate)
    normal = D.Normal(gw.tensor(1.0, dtype=gw.float64), 2.0)
    assert D.kl_divergence(p, normal).item() == D.kl_divergence(q, normal).item()


def test_a_continuous_bernoulli_and_a_uniform_distribution_of_one_span() -> None:
    """PyTorch's are infinite."""
    c, u = D.ContinuousBernoulli(gw.tensor(0.8, dtype=gw.float64)), D.Uniform(gw.zeros((), dtype=gw.float64), 1.0)
    x = (gw.arange(100_000, dtype=gw.float64) + 0.5) / 100_000
    exact = (c.log_prob(x).exp() * c.log_prob(x)).mean()
    assert D.kl_divergence(c, u).item() == pytest.approx(exact.item(), rel=1e-6)
    assert D.kl_divergence(u, c).item() == pytest.approx(-c.log_prob(x).mean().item(), rel=1e-6)


def test_batches_broadcast() -> None:
    assert D.kl_divergence(D.Normal(gw.zeros(3, 1), 1.0), D.Exponential(gw.ones(2))).shape == (3, 2)

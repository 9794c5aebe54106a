"""Divergences of one class: PyTorch's values and gradients, and means over draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import distributions as D
from oracle.distribution_cases import CASES, Made, ours

ROLLED = [
    "Bernoulli", "Bernoulli, logits", "Beta", "Binomial", "Categorical", "Categorical, logits", "Cauchy",
    "ContinuousBernoulli", "Dirichlet", "Exponential", "Gamma", "Geometric", "Gumbel", "HalfNormal", "Independent",
    "Laplace", "LogNormal", "MultivariateNormal, covariance", "Normal", "OneHotCategorical", "Pareto", "Poisson",
    "TransformedDistribution", "Uniform", "LowRankMultivariateNormal", "LogisticNormal", "Kumaraswamy",
]  # fmt: skip


MATRICES = ("covariance_matrix", "precision_matrix", "scale_tril")


def rolled(made: Made, D: Any, name: str) -> Any:
    """The same distribution with its parameters moved on by one in the batch."""
    moved = {k: p.roll(1, 0) if hasattr(p, "roll") and k not in MATRICES else p for k, p in made.parameters.items()}
    return CASES[name].make(D, **moved)


@pytest.mark.parametrize("name", ROLLED)
def test_pytorchs_divergences(name: str, torch: Any) -> None:
    found = []
    for T, module in ((torch, torch.distributions), (gw, D)):
        made = Made(CASES[name], T, module)
        try:
            out = module.kl_divergence(made.it, rolled(made, module, name))
        except NotImplementedError:
            found.append(None)
            continue
        finite = out[out.isfinite()]
        found.append((out.detach().numpy(), made.slopes(finite) if finite.requires_grad and len(finite) else {}))
    theirs, mine = found
    assert (theirs is None) == (mine is None)
    if theirs is None or mine is None:
        return
    np.testing.assert_allclose(mine[0], theirs[0], rtol=1e-9, atol=1e-12)
    for k, slope in theirs[1].items():
        np.testing.assert_allclose(mine[1][k], slope, rtol=1e-8, atol=1e-10)


NORMAL = [
    "MultivariateNormal", "MultivariateNormal, covariance", "MultivariateNormal, precision",
    "LowRankMultivariateNormal",
]  # fmt: skip


@pytest.mark.parametrize("p", NORMAL)
@pytest.mark.parametrize("q", NORMAL)
def test_normal_vectors(p: str, q: str, torch: Any) -> None:
    found = []
    for T, module in ((torch, torch.distributions), (gw, D)):
        a, b = Made(CASES[p], T, module), Made(CASES[q], T, module)
        out = module.kl_divergence(a.it, b.it)
        found.append([out.detach(), *a.slopes(out).values(), *b.slopes(out).values()])
    for theirs, mine in zip(*found, strict=True):
        theirs, mine = np.asarray(theirs), np.asarray(mine)
        if theirs.shape[-2:] == (3, 3):  # a symmetric matrix, or a triangle: what its entries' gradients mean together
            theirs, mine = (np.tril(x + np.swapaxes(x, -1, -2) - np.tril(x) * np.eye(3)) for x in (theirs, mine))
        np.testing.assert_allclose(mine, theirs, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["Wishart", "Wishart, scale_tril", "MultivariateNormal", "Gumbel", "Poisson"])
def test_the_mean_over_draws(name: str) -> None:
    gw.manual_seed(0)
    p = ours(name).it
    q = D.Wishart(6.0, scale_tril=p.scale_tril * 1.1) if name[0] == "W" else rolled(ours(name), D, name)
    x = p.sample((5000,))
    each = (p.log_prob(x) - q.log_prob(x)).detach().numpy()
    exact = D.kl_divergence(p, q).detach().numpy()
    assert (np.abs(each.mean(0) - exact) < 5 * each.std(0) / np.sqrt(5000)).all()


def test_ends() -> None:
    assert D.kl_divergence(D.Bernoulli(0.0), D.Bernoulli(0.5)).item() == pytest.approx(np.log(2))
    assert D.kl_divergence(D.Bernoulli(0.5), D.Bernoulli(0.0)).item() == np.inf
    assert D.kl_divergence(D.Poisson(0.0), D.Poisson(2.0)).item() == 2
    assert D.kl_divergence(D.Poisson(0.0), D.Poisson(0.0)).item() == 0
    assert D.kl_divergence(D.Poisson(1.0), D.Poisson(0.0)).item() == np.inf
    assert D.kl_divergence(D.Binomial(3, gw.tensor(0.5)), D.Binomial(2, gw.tensor(0.5))).item() == np.inf
    c = D.Categorical(gw.tensor([0.5, 0.5, 0.0]))
    assert D.kl_divergence(c, c).item() == 0
    assert D.kl_divergence(D.Categorical(gw.tensor([0.3, 0.3, 0.4])), c).item() == np.inf


def test_what_is_refused() -> None:
    with pytest.raises(NotImplementedError, match=r"q.total_count > p.total_count"):
        D.kl_divergence(D.Binomial(2, gw.tensor(0.5)), D.Binomial(3, gw.tensor(0.5)))
    n = D.Normal(gw.zeros(2, 3), 1.0)
    with pytest.raises(NotImplementedError, match="of 1 and 2 dims"):
        D.kl_divergence(D.Independent(n, 1), D.Independent(n, 2))
    with pytest.raises(NotImplementedError, match="after different transforms"):
        D.kl_divergence(D.LogNormal(0.0, 1.0), D.TransformedDistribution(D.Normal(0.0, 1.0), D.TanhTransform()))
    with pytest.raises(NotImplementedError, match="different exponential families"):
        D.kl_divergence(D.Poisson(1.0), D.Normal(0.0, 1.0))
    with pytest.raises(ValueError, match="different event shapes"):
        D.kl_divergence(*[D.MultivariateNormal(gw.zeros(k), gw.eye(k)) for k in (2, 3)])

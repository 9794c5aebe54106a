"""Divergences: the table, and every formula against an average or an integral."""

import abc
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import distributions as D
from gradwright.distributions import kl
from oracle.distribution_cases import CASES, Case, Made, ours


@pytest.fixture(autouse=True)
def own_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kl, "_KL_REGISTRY", dict(kl._KL_REGISTRY))
    monkeypatch.setattr(kl, "_KL_MEMOIZE", {})


class Mine(D.Normal):
    pass


def test_a_subclass_has_the_formula_of_its_class_until_one_is_registered() -> None:
    p, q = Mine(0.0, 1.0), D.Normal(1.0, 1.0)
    assert D.kl_divergence(p, q).item() == 0.5
    D.register_kl(Mine, D.Normal)(lambda p, q: gw.tensor(7.0))
    assert D.kl_divergence(p, q).item() == 7
    assert D.kl_divergence(q, p).item() == 0.5
    assert D.kl_divergence(p, Mine(1.0, 1.0)).item() == 7
    assert D.kl_divergence(D.Chi2(3.0), D.Chi2(3.0)).item() == pytest.approx(0, abs=1e-6)


def test_two_formulas_that_are_equally_near() -> None:
    D.register_kl(Mine, D.Normal)(lambda p, q: gw.tensor(1.0))
    D.register_kl(D.Normal, Mine)(lambda p, q: gw.tensor(2.0))
    with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(Mine, Mine\). Please register_kl\(Mine, Mine\)"):
        assert D.kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0)).item() == 1


class Listed(abc.ABC):  # noqa: B024 - belonged to, not derived from
    pass


def test_abstract_classes_are_the_farthest() -> None:
    Listed.register(D.Normal)
    D.register_kl(D.Distribution, Listed)(lambda p, q: gw.tensor(9.0))
    assert D.kl_divergence(D.StudentT(3.0), D.Normal(0.0, 1.0)).item() == 9
    assert D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0)).item() == 0


def test_what_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="q type VonMises: register_kl\\(\\) adds one, or average"):
        D.kl_divergence(D.Normal(0.0, 1.0), D.VonMises(0.0, 1.0))
    with pytest.raises(TypeError, match="Expected type_q to be a Distribution subclass but got None"):
        D.register_kl(D.Normal, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Expected type_p to be a Distribution subclass but got 3"):
        D.register_kl(3, D.Normal)  # type: ignore[arg-type]


def test_all_of_pytorchs_pairs(torch) -> None:
    def names(table):
        return {(p.__name__, q.__name__) for p, q in table}

    ours = {pair for pair in kl._KL_REGISTRY if all(hasattr(D, each.__name__) for each in pair)}
    assert names(ours) == names(torch.distributions.kl._KL_REGISTRY)


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


def test_pairs_that_have_none() -> None:
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


PAIRS = sorted((p.__name__, q.__name__) for p, q in kl._KL_REGISTRY if p is not q and "Multivariate" not in p.__name__)
WITHIN = Case(lambda D, **p: D.Uniform(**p), {"low": [0.1, 0.2, 0.3], "high": [0.5, 0.9, 0.95]}, [0.2, 0.5, 0.6])
WIDE = Case(lambda D, **p: D.Uniform(**p), {"low": [-1.0, -0.5, 1.0], "high": [5.5, 2.0, 4.0]}, [0.2, 0.5, 1.6])


def cases(name: str) -> list[Case]:
    return [CASES[name]] + [WITHIN, WIDE] * (name == "Uniform")


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_pytorchs_divergences_of_two_classes(p: str, q: str, torch: Any) -> None:
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
def test_the_mean_over_draws_of_two_classes(p: str, q: str) -> None:
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

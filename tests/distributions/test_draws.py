"""Draws, and how they move with their parameters."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

import gradwright as gw
from gradwright import distributions as D
from gradwright.distributions import draws
from gradwright.distributions.draws import angle_draw, dirichlet_draw, gamma_draw
from gradwright.engine.apply import apply
from oracle.distribution_cases import CASES, ours, strays


def _gamma_slope(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    a = gw.tensor(a, requires_grad=True)
    return gw.autograd.grad(apply(gamma_draw, (a, gw.tensor(x)), {}).sum(), a)[0].numpy()


@given(st.floats(0.05, 80), st.floats(0.01, 0.99))
def test_a_gamma_draw_moves_as_its_quantile(a: float, p: float) -> None:
    x, h = stats.gamma.ppf(p, a), 1e-5 * max(a, 0.1)
    if x < 1e-200:
        return
    moved = (stats.gamma.ppf(p, a + h) - stats.gamma.ppf(p, a - h)) / (2 * h)
    assert _gamma_slope(np.array([a]), np.array([x])) == pytest.approx(moved, rel=2e-6, abs=1e-12)


@given(st.floats(0.05, 40), st.floats(0.05, 40), st.floats(0.01, 0.99))
def test_a_dirichlet_draw_moves_as_the_quantile_of_a_beta_one(a: float, b: float, p: float) -> None:
    x, h = stats.beta.ppf(p, a, b), 1e-5 * max(a, 0.1)
    if not 1e-12 < x < 1 - 1e-6:
        return
    moved = (stats.beta.ppf(p, a + h, b) - stats.beta.ppf(p, a - h, b)) / (2 * h)
    c = gw.tensor([a, b], dtype=gw.float64, requires_grad=True)
    drawn = apply(dirichlet_draw, (c, gw.tensor([x, 1 - x], dtype=gw.float64)), {})
    assert gw.autograd.grad(drawn[0], c)[0][0].item() == pytest.approx(moved, rel=1e-5, abs=1e-10)


@given(st.floats(-3, 3.8), st.floats(0.01, 0.99))  # SciPy's is approximate from 50 on
def test_an_angle_moves_as_its_quantile(log_k: float, p: float) -> None:
    k = float(np.exp(log_k))
    law, h = stats.vonmises, 1e-4 * k
    x, moved = law.ppf(p, k), (law.ppf(p, k + h) - law.ppf(p, k - h)) / (2 * h)
    leaf = gw.tensor(k, dtype=gw.float64, requires_grad=True)
    drawn = apply(angle_draw, (leaf, gw.tensor(x, dtype=gw.float64)), {})
    assert gw.autograd.grad(drawn, leaf)[0].item() == pytest.approx(moved, rel=1e-4, abs=1e-5 / k)


@pytest.mark.parametrize("k", [0.05, 60.0, 5000.0])
@pytest.mark.parametrize("z", [-2.5, -0.3, 0.9, 3.0])
def test_an_angle_moves_by_integrals(k: float, z: float) -> None:
    x, h = max(-3.0, z / np.sqrt(k)) if k > 1 else z, 1e-3 * k

    def beneath(k: float, end: float) -> float:
        wide = 40 / np.sqrt(k)
        start, middle = max(-np.pi, -wide), [0.0] if end > 0 else None
        return integrate.quad(lambda t: np.exp(k * (np.cos(t) - 1)), start, end, points=middle, epsrel=1e-12)[0]

    def share(k: float) -> float:
        return beneath(k, x) / beneath(k, min(np.pi, 40 / np.sqrt(k)))

    density = np.exp(k * (np.cos(x) - 1)) / beneath(k, min(np.pi, 40 / np.sqrt(k)))
    leaf = gw.tensor(k, dtype=gw.float64, requires_grad=True)
    drawn = apply(angle_draw, (leaf, gw.tensor(x, dtype=gw.float64)), {})
    moved = -(share(k + h) - share(k - h)) / (2 * h) / density
    assert gw.autograd.grad(drawn, leaf)[0].item() == pytest.approx(moved, rel=1e-4)


@pytest.mark.parametrize("k", [0.2, 3.0, 400.0])
@pytest.mark.parametrize("p", [0.02, 0.4, 0.8])
def test_second_derivatives_of_an_angle(k: float, p: float) -> None:
    """Differences of the first along the curve that the derivative itself draws."""
    x, h = stats.vonmises.ppf(p, k), 1e-4 * k

    def slope(k: float, x: float) -> tuple[float, float]:
        leaf = gw.tensor(k, dtype=gw.float64, requires_grad=True)
        drawn = apply(angle_draw, (leaf, gw.tensor(x, dtype=gw.float64)), {})
        first = gw.autograd.grad(drawn, leaf, create_graph=True)[0]
        return first.item(), gw.autograd.grad(first, leaf)[0].item()

    here, second = slope(k, x)
    ends = [slope(k + s, x + s * here + s * s * second / 2)[0] for s in (-h, h)]
    assert second == pytest.approx((ends[1] - ends[0]) / (2 * h), rel=1e-4)


def test_pytorchs_derivatives(torch) -> None:
    rng = np.random.default_rng(0)
    a = np.exp(rng.uniform(np.log(0.1), np.log(500), 300))
    x = rng.gamma(a)
    theirs = torch._standard_gamma_grad(torch.tensor(a), torch.tensor(x)).numpy()
    np.testing.assert_allclose(_gamma_slope(a, x), theirs, rtol=2e-3)  # PyTorch's own approximation: about 1e-3
    c = np.exp(rng.uniform(np.log(0.2), np.log(30), (200, 3)))
    x = np.stack([rng.dirichlet(row) for row in c])
    leaf = gw.tensor(c, requires_grad=True)
    ours = gw.autograd.grad(apply(dirichlet_draw, (leaf, gw.tensor(x)), {})[:, 0].sum(), leaf)[0].numpy()
    share = torch._dirichlet_grad(*map(torch.tensor, (x, c, np.broadcast_to(c.sum(-1, keepdims=True), c.shape))))
    theirs = share.numpy() * (np.array([1.0, 0, 0]) - x[:, :1])
    np.testing.assert_allclose(ours, theirs, rtol=5e-3, atol=1e-6)


@pytest.mark.parametrize("a", [0.3, 1.0, 7.0])
def test_second_derivatives(a: float) -> None:
    """That of a quantile, d2x/da2, by differences of the first along the curve."""
    p, h = 0.4, 1e-4
    first = [_gamma_slope(np.array([b]), stats.gamma.ppf(p, [b]))[0] for b in (a - h, a + h)]
    leaf, x = gw.tensor(a, dtype=gw.float64, requires_grad=True), stats.gamma.ppf(p, a)
    drawn = apply(gamma_draw, (leaf, gw.tensor(x, dtype=gw.float64)), {})
    slope = gw.autograd.grad(drawn, leaf, create_graph=True)[0]
    assert gw.autograd.grad(slope, leaf)[0].item() == pytest.approx((first[1] - first[0]) / (2 * h), rel=1e-4)


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

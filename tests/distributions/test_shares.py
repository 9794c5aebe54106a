"""Shares of a whole."""

import numpy as np
import pytest
from scipy import integrate, stats

import gradwright as gw
from gradwright import distributions as D
from gradwright.distributions.shares import ExpRelaxedCategorical, LogitRelaxedBernoulli
from tests.distributions.close import close
from tests.distributions.laws import compare, t

SHAPES = [0.7, 2.0, 3.5]


def test_scipys_laws() -> None:
    compare(D.Beta(t(0.7), 2.0), stats.beta(0.7, 2))
    ours, law = D.Dirichlet(t(SHAPES)), stats.dirichlet(SHAPES)
    x = ours.sample((4,))
    np.testing.assert_allclose(ours.log_prob(x).numpy(), law.logpdf(x.numpy().T), rtol=1e-9)
    np.testing.assert_allclose(ours.mean.numpy(), law.mean())
    np.testing.assert_allclose(ours.variance.numpy(), law.var())
    assert ours.entropy().item() == pytest.approx(law.entropy())


def test_modes() -> None:
    assert D.Beta(2.0, 2.0).mode.item() == 0.5
    assert D.Dirichlet(gw.tensor([0.5, 0.9])).mode.tolist() == [1, 0]
    assert D.Dirichlet(gw.tensor([3.0, 2.0, 1.0])).mode.tolist() == pytest.approx([2 / 3, 1 / 3, 0])


def test_draws_move_with_all_shapes() -> None:
    a = gw.tensor(SHAPES, requires_grad=True)
    x = D.Dirichlet(a).rsample()
    (slope,) = gw.autograd.grad(x.sum(), a, retain_graph=True)
    assert slope.tolist() == pytest.approx([0, 0, 0], abs=1e-6)
    rows = gw.stack([gw.autograd.grad(v, a, retain_graph=True)[0] for v in x])
    assert (rows.diagonal() > 0).all()


def test_vmap_draws_as_a_batch_does() -> None:
    a = gw.tensor([SHAPES, SHAPES[::-1]])
    gw.manual_seed(0)
    x = gw.func.vmap(lambda a: D.Dirichlet(a).rsample(), randomness="different")(a)
    assert x.sum(-1).tolist() == pytest.approx([1, 1])


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one-dimensional"):
        D.Dirichlet(gw.tensor(1.0))
    with pytest.raises(ValueError, match=r"constraint IndependentConstraint\(GreaterThan"):
        D.Dirichlet(gw.tensor([1.0, -1.0]))
    with pytest.raises(ValueError, match=r"support \(Simplex"):
        D.Dirichlet(gw.ones(2)).log_prob(gw.tensor([0.5, 0.6]))
    assert D.Beta(gw.ones(2), 1.0).expand((3, 2)).sample().shape == (3, 2)


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


def test_densities_integrate_to_one() -> None:
    r = D.RelaxedBernoulli(t(0.7), t(0.3))
    assert integrate.quad(lambda x: r.log_prob(t(x)).exp().item(), 0, 1)[0] == pytest.approx(1, rel=1e-5)
    c = D.RelaxedOneHotCategorical(t(1.5), t([0.3, 0.7]))
    assert integrate.quad(lambda x: c.log_prob(t([x, 1 - x])).exp().item(), 0, 1)[0] == pytest.approx(1, rel=1e-5)


def test_draws_sharpen_and_move() -> None:
    gw.manual_seed(0)
    logits = gw.tensor([0.5, 0.0, -0.5], requires_grad=True)
    for temperature, sharp in ((gw.tensor(0.01), True), (gw.tensor(5.0), False)):
        x = D.RelaxedOneHotCategorical(temperature, logits=logits).rsample((200,))
        assert (x.max(-1).values > 0.99).float().mean().item() > 0.9 or not sharp
        assert x.requires_grad
        b = D.RelaxedBernoulli(temperature, logits=logits)
        y = b.rsample((200,))
        assert ((y - 0.5).abs() > 0.49).float().mean().item() > 0.9 or not sharp
        assert gw.autograd.grad(y.sum(), logits)[0].isfinite().all()


def test_shapes_parameters_and_bases() -> None:
    r = D.RelaxedBernoulli(gw.tensor(0.5), gw.full((2,), 0.3))
    assert isinstance(r.base_dist, LogitRelaxedBernoulli)
    assert r.expand((3, 2)).sample().shape == (3, 2)
    assert r.temperature.item() == 0.5
    c = D.RelaxedOneHotCategorical(gw.tensor(0.5), gw.ones(2, 3))
    assert isinstance(c.base_dist, ExpRelaxedCategorical)
    assert (c.batch_shape, c.event_shape, c.probs.shape, c.logits.shape) == ((2,), (3,), (2, 3), (2, 3))
    assert c.expand((4, 2)).sample().shape == (4, 2, 3)
    assert D.RelaxedBernoulli(0.5, 0.3).log_prob(gw.tensor(0.4)).shape == ()
    with pytest.raises(ValueError, match="Either `probs` or `logits`"):
        D.RelaxedBernoulli(gw.tensor(0.5))

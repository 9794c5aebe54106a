"""Random numbers: the distributions they follow, and what is refused."""

import warnings

import numpy as np
import pytest
from scipy import stats

import gradwright as gw

N = 4000
CONTINUOUS = {
    "rand": (lambda: gw.rand(N), stats.uniform()),
    "randn": (lambda: gw.randn(N), stats.norm()),
    "complex randn": (lambda: gw.randn(N, dtype=gw.complex64).real, stats.norm(0, 0.5**0.5)),
    "normal": (lambda: gw.normal(2.0, 3.0, (N,)), stats.norm(2, 3)),
    "exponential_": (lambda: gw.zeros(N).exponential_(2.0), stats.expon(scale=0.5)),
    "cauchy_": (lambda: gw.zeros(N).cauchy_(1.0, 2.0), stats.cauchy(1, 2)),
    "log_normal_": (lambda: gw.zeros(N).log_normal_(0.5, 0.3), stats.lognorm(0.3, scale=np.exp(0.5))),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions(name):
    gw.manual_seed(0)
    draw, law = CONTINUOUS[name]
    assert stats.kstest(draw().numpy(), law.cdf).pvalue > 1e-3


DISCRETE = {
    "bernoulli": (lambda: gw.bernoulli(gw.full((N,), 0.3)), [0, 1], [0.7, 0.3]),
    "bernoulli_": (lambda: gw.zeros(N).bernoulli_(0.2), [0, 1], [0.8, 0.2]),
    "geometric_": (lambda: gw.zeros(N).geometric_(0.5), [1, 2, 3], [0.5, 0.25, 0.125]),
    "poisson": (lambda: gw.poisson(gw.full((N,), 2.0)), [0, 1, 2], stats.poisson(2).pmf([0, 1, 2])),
    "binomial": (lambda: gw.binomial(gw.full((N,), 3.0), gw.tensor(0.4)), [0, 1], stats.binom(3, 0.4).pmf([0, 1])),
    "random_": (lambda: gw.zeros(N).random_(3), [0, 1, 2], [1 / 3] * 3),
    "with replacement": (lambda: gw.multinomial(gw.tensor([1.0, 0, 3]), N, True), [0, 1, 2], [0.25, 0, 0.75]),
    "first": (lambda: gw.multinomial(gw.tensor([[1.0, 0, 3]]).repeat(N, 1), 2)[:, 0], [0, 1, 2], [0.25, 0, 0.75]),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_distributions(name):
    gw.manual_seed(0)
    draw, values, chances = DISCRETE[name]
    found = [(draw().numpy() == v).mean() for v in values]
    np.testing.assert_allclose(found, chances, atol=4 * 0.5 / N**0.5)


def test_without_replacement_nothing_comes_twice():
    rows = gw.multinomial(gw.ones(50, 6), 6)
    assert np.sort(rows.numpy(), 1).tolist() == [list(range(6))] * 50


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda T: T.bernoulli(T.tensor([1.5])), "p_in"),
        (lambda T: T.multinomial(T.tensor([1.0, -1.0]), 1), "probability tensor contains"),
        (lambda T: T.multinomial(T.zeros(3), 1, True), "invalid multinomial distribution"),
        (lambda T: T.multinomial(T.ones(3), 4), "without replacement"),
        (lambda T: T.zeros(2).exponential_(-1.0), "exponential_ expects lambda"),
        (lambda T: T.zeros(2).geometric_(1.5), "geometric_ expects p to be in"),
        (lambda T: T.normal(T.zeros(2), T.tensor([-1.0, 1.0])), "normal expects"),
        (lambda T: T.poisson(T.tensor([-1.0])), "[Pp]oisson rate"),
    ],
)
def test_refused(T, call, message):
    with pytest.raises(RuntimeError, match=message):
        call(T)


P = gw.tensor(0.4, requires_grad=True)


@pytest.mark.parametrize("draw", [
    lambda: gw.normal(P, 1.0), lambda: gw.normal(gw.zeros(3), P.expand(3)), lambda: gw.normal(0.0, P, (2,)),
    lambda: gw.bernoulli(P.expand(3)), lambda: gw.poisson(P), lambda: gw.zeros(3).bernoulli_(P),
])  # fmt: skip
def test_a_draw_warns_of_parameters_that_require_grad(draw):
    with pytest.warns(gw.GradientWarning, match=r"what is drawn has no gradient by the parameters") as heard:
        assert not draw().requires_grad
    assert heard[0].filename == __file__
    with warnings.catch_warnings(), gw.no_grad():
        warnings.simplefilter("error")
        draw()


def test_reinforce_has_its_gradient():
    """The probability of a draw, differentiated: as in PyTorch the draw itself is a constant."""
    mean = gw.tensor([0.5, -1.0], dtype=gw.float64, requires_grad=True)
    with pytest.warns(gw.GradientWarning):
        action = gw.normal(mean, 2.0)
    (-((action - mean) ** 2) / 8).sum().backward()
    np.testing.assert_allclose(mean.grad.numpy(), (action.numpy() - mean.detach().numpy()) / 4)


@pytest.mark.parametrize("name", ["uniform_", "normal_"])
def test_draws_of_a_shape_and_a_place_are_recorded(name):
    def draw(a, b):
        gw.manual_seed(0)
        return getattr(gw.zeros(3, dtype=gw.float64), name)(a, b)

    ends = [gw.tensor(v, dtype=gw.float64, requires_grad=True) for v in (0.3, 1.7)]
    assert gw.autograd.gradcheck(draw, ends)


@pytest.mark.parametrize(("draw", "argument"), [
    (lambda: gw.zeros(3).exponential_(P), "lambd"), (lambda: gw.zeros(3).geometric_(P), "p"),
    (lambda: gw.zeros(3).cauchy_(0.0, P), "sigma"), (lambda: gw.zeros(3).log_normal_(P), "mean"),
    (lambda: gw.zeros(3).random_(P), "low"), (lambda: gw.bernoulli(gw.zeros(3), P), "p"),
    (lambda: gw.randint(0, P, (2,)), "high"), (lambda: gw.nn.functional.dropout(gw.ones(3), P), "p"),
])  # fmt: skip
def test_the_others_refuse_them_by_name(draw, argument):
    with pytest.raises(TypeError, match=rf"\(\): argument '{argument}' must be a number"):
        draw()

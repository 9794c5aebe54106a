"""Random numbers: seeds that repeat them, and the distributions they follow."""

import warnings

import numpy as np
import pytest
from scipy import stats

import gradwright as gw

DRAWS = {
    "rand": lambda T: T.rand(2, 3), "randn": lambda T: T.randn(4), "randint": lambda T: T.randint(0, 10, (5,)),
    "randperm": lambda T: T.randperm(6), "rand_like": lambda T: T.rand_like(T.ones(2, dtype=T.float64)),
    "randn_like": lambda T: T.randn_like(T.ones(3)), "uniform_": lambda T: T.zeros(3).uniform_(),
    "normal_": lambda T: T.zeros(3).normal_(), "bernoulli": lambda T: T.bernoulli(T.full((20,), 0.5)),
    "normal": lambda T: T.normal(T.zeros(3), T.ones(3)), "poisson": lambda T: T.poisson(T.full((9,), 4.0)),
    "multinomial": lambda T: T.multinomial(T.ones(30), 9), "exponential_": lambda T: T.zeros(3).exponential_(),
    "random_": lambda T: T.zeros(9).random_(), "randint_like": lambda T: T.randint_like(T.zeros(9), 99),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_repeats_the_numbers(T, name):
    T.manual_seed(1)
    first, second = DRAWS[name](T), DRAWS[name](T)
    T.manual_seed(1)
    assert DRAWS[name](T).tolist() == first.tolist() != second.tolist()


def test_the_distributions(T):
    T.manual_seed(0)
    u, n = T.rand(10_000, dtype=T.float64), T.randn(10_000)
    assert (u.dtype, n.dtype) == (T.float64, T.float32)
    assert 0 <= u.min().item() < 0.01 < 0.99 < u.max().item() < 1
    assert abs(n.mean().item()) < 0.05
    assert abs(n.std().item() - 1) < 0.05
    v, w = T.zeros(10_000).uniform_(-2, 6), T.zeros(10_000).normal_(3, 0.5)
    assert -2 <= v.min().item() < -1.9 < 5.9 < v.max().item() < 6
    assert abs(w.mean().item() - 3) < 0.05
    assert abs(w.std().item() - 0.5) < 0.05
    assert v._version == 1
    k = T.randint(-3, 3, (1000,))
    assert k.dtype == T.int64
    assert (k.min().item(), k.max().item()) == (-3, 2)
    assert sorted(T.randperm(50).tolist()) == list(range(50))
    assert T.randint(5, (2, 3), dtype=T.float32).dtype == T.float32


def test_random_leaves(T):
    assert T.rand(2, requires_grad=True).requires_grad
    assert T.randn((2, 3), requires_grad=True).is_leaf


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


def test_states(T):
    T.manual_seed(5)
    T.rand(3)
    state = T.get_rng_state()
    assert (state.dtype, state.dim()) == (T.uint8, 1)
    first = [T.rand(2).tolist(), T.randint(0, 9, (3,)).tolist(), T.randn(3).tolist()]
    T.manual_seed(6)
    T.set_rng_state(state)
    assert [T.rand(2).tolist(), T.randint(0, 9, (3,)).tolist(), T.randn(3).tolist()] == first
    T.random.set_rng_state(state)
    assert T.rand(2).tolist() == first[0]
    assert T.initial_seed() == 5
    assert T.get_rng_state().tolist() != state.tolist()


def test_states_that_are_none(T):
    for wrong in (3, T.zeros(3)):
        with pytest.raises(TypeError, match=r"torch\.ByteTensor"):
            T.set_rng_state(wrong)
    with pytest.raises(RuntimeError, match="found the input RNG state size to be 3"):
        T.set_rng_state(T.zeros(3, dtype=T.uint8))


def test_negative_seeds_come_back():
    gw.manual_seed(-3)
    state = gw.get_rng_state()
    gw.manual_seed(4)
    gw.set_rng_state(state)
    assert gw.initial_seed() == -3


def test_fork(T):
    T.manual_seed(5)
    with T.random.fork_rng():
        T.manual_seed(9)
        inside = T.rand(2).tolist()
    outside = T.rand(2).tolist()
    with T.random.fork_rng(devices=[]):
        T.rand(2)
    with pytest.raises(RuntimeError), T.random.fork_rng(devices=[]):
        T.rand(2).backward()
    again = T.rand(2).tolist()
    T.manual_seed(5)
    assert [T.rand(2).tolist(), T.rand(2).tolist()] == [outside, again]
    with T.random.fork_rng(enabled=False):
        T.manual_seed(9)
    assert T.rand(2).tolist() == inside

    @T.random.fork_rng()
    def decorated():
        T.rand(2)

    T.manual_seed(5)
    decorated()
    assert T.rand(2).tolist() == outside


SOURCES = {
    "rand": lambda T, g: T.rand(3, generator=g), "randn": lambda T, g: T.randn(3, generator=g),
    "randint": lambda T, g: T.randint(0, 99, (5,), generator=g), "randperm": lambda T, g: T.randperm(9, generator=g),
    "rand_like": lambda T, g: T.rand_like(T.ones(3), generator=g),
    "randint_like": lambda T, g: T.randint_like(T.ones(5), 99, generator=g),
    "bernoulli": lambda T, g: T.bernoulli(T.full((30,), 0.5), generator=g),
    "normal": lambda T, g: T.normal(T.zeros(3), T.ones(3), generator=g),
    "poisson": lambda T, g: T.poisson(T.full((9,), 4.0), generator=g),
    "multinomial": lambda T, g: T.multinomial(T.ones(30), 9, generator=g),
    "uniform_": lambda T, g: T.zeros(3).uniform_(generator=g), "normal_": lambda T, g: T.zeros(3).normal_(generator=g),
    "bernoulli_": lambda T, g: T.zeros(30).bernoulli_(generator=g),
    "exponential_": lambda T, g: T.zeros(3).exponential_(generator=g),
    "geometric_": lambda T, g: T.zeros(9).geometric_(0.2, generator=g),
    "cauchy_": lambda T, g: T.zeros(3).cauchy_(generator=g),
    "log_normal_": lambda T, g: T.zeros(3).log_normal_(generator=g),
    "random_": lambda T, g: T.zeros(9).random_(generator=g),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_generators(T, name):
    draw, g = SOURCES[name], T.Generator().manual_seed(7)
    before = T.get_rng_state().tolist()
    first, second = draw(T, g).tolist(), draw(T, g).tolist()
    assert first != second
    assert draw(T, T.Generator().manual_seed(7)).tolist() == first
    assert T.get_rng_state().tolist() == before
    with pytest.raises(TypeError):
        draw(T, 7)


def test_what_a_generator_can_do(T):
    g = T.Generator(device="cpu")
    assert (g.initial_seed(), str(g.device)) == (67280421310721, "cpu")
    state = g.get_state()
    first = T.rand(2, generator=g).tolist()
    twin = g.clone_state()
    assert T.rand(2, generator=twin).tolist() == T.rand(2, generator=g).tolist()
    assert g.set_state(state) is g
    assert T.rand(2, generator=g).tolist() == first
    assert g.seed() == g.initial_seed()
    with pytest.raises(TypeError):
        g.set_state(3)
    T.manual_seed(4)
    assert T.default_generator.initial_seed() == 4
    assert T.default_generator.get_state().tolist() == T.get_rng_state().tolist()
    T.default_generator.manual_seed(5)
    first = T.rand(2).tolist()
    T.manual_seed(5)
    assert T.rand(2).tolist() == first


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

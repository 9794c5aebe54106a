"""Random numbers under vmap. Row 29 of the pain points."""

from functools import partial

import pytest

import gradwright as gw
from gradwright import vmap

F = gw.nn.functional
X = gw.linspace(0.1, 0.9, 15).reshape(5, 3)
DRAWS = {
    "rand": lambda x, g: x + gw.rand(3, generator=g),
    "rand of 1": lambda x, g: x + gw.rand(1, generator=g),
    "randn": lambda x, g: x + gw.randn(3, generator=g),
    "randn of float64": lambda x, g: x + gw.randn(3, generator=g, dtype=gw.float64),
    "complex randn": lambda x, g: x + gw.randn(3, generator=g, dtype=gw.complex64),
    "rand_like": lambda x, g: x + gw.rand_like(x, generator=g),
    "randint": lambda x, g: x + gw.randint(5, (3,), generator=g),
    "randint of many": lambda x, g: x + gw.randint(-(2**40), 2**40, (3,), generator=g),
    "randint_like": lambda x, g: gw.randint_like(x, 1, 9, generator=g),
    "randperm": lambda x, g: x[gw.randperm(3, generator=g)],
    "bernoulli": lambda x, g: gw.bernoulli(x, generator=g),
    "bernoulli of p": lambda x, g: gw.bernoulli(x, 0.3, generator=g),
    "normal": lambda x, g: gw.normal(x, 2.0, generator=g),
    "normal of tensors": lambda x, g: gw.normal(x, x * x, generator=g),
    "poisson": lambda x, g: gw.poisson(x * 10, generator=g),
    "uniform_": lambda x, g: gw.zeros(3).uniform_(1, 2, generator=g) * x,
    "normal_ of a batch": lambda x, g: (x * 1).normal_(generator=g),
    "bernoulli_": lambda x, g: (x * 1).bernoulli_(x, generator=g),
    "exponential_": lambda x, g: gw.zeros(3).exponential_(generator=g) * x,
    "geometric_": lambda x, g: gw.zeros(3).geometric_(0.2, generator=g) * x,
    "cauchy_": lambda x, g: gw.zeros(3).cauchy_(generator=g) * x,
    "log_normal_": lambda x, g: gw.zeros(3).log_normal_(generator=g) * x,
    "random_": lambda x, g: gw.zeros(3).random_(0, 100, generator=g) * x,
    "dropout": lambda x, g: F.dropout(x, 0.5),
    "feature dropout": lambda x, g: F.dropout1d(x.reshape(3, 1)),
    "alpha_dropout": lambda x, g: F.alpha_dropout(x, 0.5, training=True),
    "rrelu": lambda x, g: F.rrelu(x - 0.5, training=True),
    "gumbel_softmax": lambda x, g: F.gumbel_softmax(x),
    "two layers of dropout": lambda x, g: F.dropout(F.dropout(x, 0.5) @ gw.ones(3, 4), 0.5),
    "several": lambda x, g: gw.rand(2, generator=g).sum() + gw.randn(3, generator=g) * gw.randint(9, (3,), generator=g),
    "of several sources": lambda x, g: gw.rand(3, generator=g) + gw.rand(3) * gw.rand(3, generator=g) + gw.rand(3) + x,
}  # fmt: skip


@pytest.fixture(params=DRAWS)
def f(request):
    return DRAWS[request.param]


def seeded(f):
    gw.manual_seed(3)
    g = gw.Generator().manual_seed(5)
    out = f(g)
    return out, gw.rand(1).item(), gw.rand(1, generator=g).item()


@pytest.mark.parametrize("chunk_size", [None, 2])
def test_different_numbers_are_those_of_the_loop(f, chunk_size):
    expected = seeded(lambda g: gw.stack([f(x, g) for x in X]))
    got = seeded(lambda g: vmap(f, in_dims=(0, None), randomness="different", chunk_size=chunk_size)(X, g))
    assert got[0].dtype == expected[0].dtype
    assert (got[0] == expected[0]).all()
    assert got[1:] == expected[1:]


@pytest.mark.parametrize("chunk_size", [None, 2])
def test_the_same_numbers_are_those_of_one_example(f, chunk_size):
    if "poisson" in str(f.__code__.co_names):  # whose numbers are others for other rates
        return
    expected = [seeded(partial(f, x)) for x in X]
    got = seeded(lambda g: vmap(f, in_dims=(0, None), randomness="same", chunk_size=chunk_size)(X, g))
    assert (got[0] == gw.stack([e[0] for e in expected])).all()
    assert got[1:] == expected[0][1:]


def test_random_numbers_are_an_error_unless_said_otherwise(f):
    with pytest.raises(RuntimeError, match=r"called random operation while in randomness error mode \(.*test_draws"):
        vmap(f, in_dims=(0, None))(X, gw.Generator())


def test_one_inside_another():
    f = lambda x: x + gw.rand(()) * gw.randn(())
    expected = seeded(lambda g: gw.stack([gw.stack([f(y) for y in x]) for x in X]))
    got = seeded(lambda g: vmap(vmap(f, randomness="different"), randomness="different")(X))
    assert (got[0] == expected[0]).all()
    assert got[1:] == expected[1:]
    same = seeded(lambda g: vmap(vmap(f, randomness="same"), randomness="different")(X))[0] - X
    assert (same - same[:, :1]).abs().max() < 1e-6
    assert same[:, 0].unique().numel() == 5


def test_numbers_that_depend_on_each_example_beside_others_are_told_of():
    with pytest.warns(gw.GradientWarning, match="the random numbers are others than those of a loop"):
        vmap(lambda x: gw.poisson(x) + gw.rand(3), randomness="different")(X)


def test_dropout_of_a_network_in_training_and_its_gradients():
    net = gw.nn.Sequential(gw.nn.Linear(3, 8), gw.nn.Dropout(), gw.nn.Linear(8, 4), gw.nn.Dropout())
    weights = list(net.parameters())

    def slopes(x):
        return gw.autograd.grad(net(x).sum(), weights)

    gw.manual_seed(1)
    expected = [slopes(x) for x in X]
    gw.manual_seed(1)
    got = vmap(slopes, randomness="different")(X)
    for k, g in enumerate(got):
        assert gw.allclose(g, gw.stack([e[k] for e in expected]))


def test_a_functions_own_random_numbers():
    class Noise(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mask = gw.rand_like(x)
            return x * ctx.mask

        @staticmethod
        def backward(ctx, g):
            return g * ctx.mask

    gw.manual_seed(1)
    expected = gw.stack([Noise.apply(x) for x in X])
    gw.manual_seed(1)
    x = X.clone().requires_grad_()
    out = vmap(Noise.apply, randomness="different")(x)
    assert (out == expected).all()
    out.sum().backward()
    assert gw.allclose(x.grad, expected / X)
    with pytest.raises(RuntimeError, match="called random operation"):
        vmap(Noise.apply)(X)


PARAMETERS = gw.tensor([[0.1, 0.5, 0.9], [0.4, 0.6, 0.2], [0.5, 0.5, 0.5]])
BY_THEIR_OWN = {
    "bernoulli": gw.bernoulli,
    "poisson": lambda p: gw.poisson(p * 10),
    "binomial": lambda p: gw.binomial(gw.full_like(p, 10.0), p),
    "normal": lambda p: gw.normal(p, 1.0),
    "Gamma": lambda p: gw.distributions.Gamma(p, p).sample(),
    "Beta": lambda p: gw.distributions.Beta(p, p).sample(),
    "Dirichlet": lambda p: gw.distributions.Dirichlet(p).sample(),
    "Poisson": lambda p: gw.distributions.Poisson(p).sample(),
    "Binomial": lambda p: gw.distributions.Binomial(5, p).sample(),
    "StudentT": lambda p: gw.distributions.StudentT(p + 1).sample(),
    "VonMises": lambda p: gw.distributions.VonMises(p, p).sample(),
    "NegativeBinomial": lambda p: gw.distributions.NegativeBinomial(5, p).sample(),
    "multinomial": lambda p: gw.multinomial(p, 2),
    "after another": lambda p: gw.rand(3) + gw.poisson(p),
}


@pytest.mark.parametrize("name", BY_THEIR_OWN)
def test_the_same_by_numbers_of_their_own_is_a_loop_from_one_state(name):
    draw = BY_THEIR_OWN[name]
    gw.manual_seed(3)
    found = gw.vmap(draw, randomness="same")(PARAMETERS)
    rows = []
    for p in PARAMETERS:
        gw.manual_seed(3)
        rows.append(draw(p))
    assert gw.equal(found, gw.stack(rows))

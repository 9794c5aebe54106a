"""PyTorch's numbers for a seed: each way of drawing, in shapes below, at and beyond a block of 16, against PyTorch."""

import importlib

import numpy as np
import pytest

import gradwright as gw

SHAPES = ((1,), (3, 5), (16,), (17,), (5, 13))
REAL = ("float32", "float64", "float16", "bfloat16")
SINGLE = REAL[:2]

IN_PLACE = {
    "uniform_": (-0.3, 0.7), "normal_": (1.0, 2.0), "exponential_": (1.5,), "geometric_": (0.3,), "cauchy_": (1.0, 2.0),
    "log_normal_": (0.1, 0.2), "bernoulli_": (0.3,), "random_": (), "random_ below": (7,), "random_ between": (-3, 90),
}  # fmt: skip

OF_A_SHAPE = {
    "rand": (lambda t, s, d: t.rand(s, dtype=d), REAL),
    "randn": (lambda t, s, d: t.randn(s, dtype=d), REAL),
    "complex rand": (lambda t, s, d: t.rand(s, dtype=t.complex128), SINGLE[:1]),
    "complex randn": (lambda t, s, d: t.randn(s, dtype=t.complex64), SINGLE[:1]),
    "randint": (lambda t, s, d: t.randint(-3, 50, s), SINGLE[:1]),
    "randint of two words": (lambda t, s, d: t.randint(-3, 2**40, s), SINGLE[:1]),
    "randint of all": (lambda t, s, d: t.randint(-(2**63), 2**63 - 1, s), SINGLE[:1]),
    "rand_like": (lambda t, s, d: t.rand_like(t.zeros(s, dtype=d)), REAL),
    "randint_like": (lambda t, s, d: t.randint_like(t.zeros(s, dtype=d), 10), REAL),
    "bernoulli": (lambda t, s, d: t.bernoulli(t.full(s, 0.3, dtype=d)), REAL),
    "bernoulli, a number": (lambda t, s, d: t.bernoulli(t.zeros(s, dtype=d), 0.3), REAL),
    "normal": (lambda t, s, d: t.normal(t.full(s, 0.3, dtype=d), t.full(s, 0.7, dtype=d)), REAL),
    "poisson": (lambda t, s, d: t.poisson(t.full(s, 3.0, dtype=d)), SINGLE),
    "poisson above 10": (lambda t, s, d: t.poisson(t.full(s, 30.0, dtype=d)), SINGLE),
    "binomial": (lambda t, s, d: t.binomial(t.full(s, 30.0, dtype=d), t.full(s, 0.2, dtype=d)), SINGLE),
    "binomial of many": (lambda t, s, d: t.binomial(t.full(s, 300.0, dtype=d), t.full(s, 0.7, dtype=d)), SINGLE),
    "dropout": (lambda t, s, d: t.nn.functional.dropout(t.ones(s, dtype=d), 0.3), REAL),
    "alpha_dropout": (lambda t, s, d: t.nn.functional.alpha_dropout(t.ones(s, dtype=d), 0.3, True), SINGLE),
    "gumbel_softmax": (lambda t, s, d: t.nn.functional.gumbel_softmax(t.ones(s, dtype=d)), SINGLE),
    "trunc_normal_": (lambda t, s, d: t.nn.init.trunc_normal_(t.empty(s, dtype=d)), SINGLE),
    "trunc_normal_, a tail": (lambda t, s, d: t.nn.init.trunc_normal_(t.empty(s, dtype=d), 0, 1, 1, 3), SINGLE),
} | {
    name: (lambda t, s, d, name=name, args=args: getattr(t.zeros(s, dtype=d), name.partition(" ")[0])(*args), REAL)
    for name, args in IN_PLACE.items()
}  # fmt: skip

LAWS = {
    "Normal": (1.0, 2.0), "Uniform": (1.0, 2.0), "Exponential": (2.0,), "Gamma": (0.2, 2.0), "Beta": (0.4, 2.0),
    "Bernoulli": (0.2,), "Laplace": (1.0, 2.0), "Cauchy": (1.0, 2.0), "Gumbel": (1.0, 2.0), "StudentT": (3.0,),
    "Poisson": (3.0,), "Geometric": (0.3,), "Weibull": (1.0, 2.0), "VonMises": (1.0, 2.0), "Chi2": (3.0,),
    "LogNormal": (0.1, 0.2), "HalfNormal": (2.0,), "HalfCauchy": (2.0,), "Pareto": (1.0, 2.0),
    "NegativeBinomial": (5.0, 0.4), "Kumaraswamy": (1.0, 2.0), "FisherSnedecor": (3.0, 2.0),
    "Dirichlet": ([0.5, 2.0, 3.0],), "Categorical": ([0.2, 0.3, 0.5],), "OneHotCategorical": ([0.2, 0.3, 0.5],),
}  # fmt: skip

LAYERS = {
    "Linear": (5, 7), "Bilinear": (2, 3, 4), "Conv2d": (3, 4, 3), "ConvTranspose2d": (3, 4, 3), "Embedding": (10, 3),
    "EmbeddingBag": (10, 3), "LSTM": (3, 4, 2), "GRU": (3, 4), "RNN": (3, 4), "LSTMCell": (2, 3),
    "MultiheadAttention": (8, 2), "TransformerEncoderLayer": (8, 2, 16), "TransformerDecoderLayer": (8, 2, 16),
}  # fmt: skip

FILLS = ("xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "orthogonal_", "uniform_",
         "normal_")  # fmt: skip


def _categories(t):
    return t.distributions.Categorical(t.tensor([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])).sample((4,))


def _prune(t):
    return importlib.import_module(f"{t.__name__}.nn.utils.prune")


def _batches(t, **options):
    loader = t.utils.data.DataLoader(range(10), batch_size=3, **options)
    return t.cat([batch for _ in range(3) for batch in loader])


WHOLE = {
    "randperm": lambda t: t.cat([t.randperm(n) for n in (0, 1, 10, 1000)]),
    "multinomial": lambda t: t.multinomial(t.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]), 2),
    "multinomial, one": lambda t: t.multinomial(t.tensor([1.0, 2.0, 3.0]), 1, replacement=True),
    "multinomial, replaced": lambda t: t.multinomial(t.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]), 20, True),
    "many categories": _categories,
    "normal numbers in odd counts": lambda t: t.cat([t.randn(n) for n in (3, 1, 20, 2, 1)]),
    "whole": lambda t: t.cat([t.zeros(9, dtype=getattr(t, d)).random_().double()
                              for d in ("int64", "int32", "int16", "int8", "uint8", "bool")]),
    "state": lambda t: (t.randn(3), t.get_rng_state())[1],
    "state at first": lambda t: t.get_rng_state(),
    "state taken up": lambda t: t.cat([t.set_rng_state(t.Generator().manual_seed(9).get_state()) or t.randn(3)]),
    "dropout2d": lambda t: t.nn.functional.dropout2d(t.ones(3, 4, 2, 2), 0.4),
    "sparse_": lambda t: t.nn.init.sparse_(t.empty(6, 5), 0.3),
    "pruned": lambda t: _prune(t).random_unstructured(t.nn.Linear(5, 4), "weight", 0.3).weight_mask,
    "pruned slices": lambda t: _prune(t).random_structured(t.nn.Linear(5, 4), "weight", 2, 0).weight_mask,
    "random_split": lambda t: t.tensor([i for part in t.utils.data.random_split(range(20), [15, 5]) for i in part]),
    "shuffle": lambda t: _batches(t, shuffle=True),
    "shuffle, its own": lambda t: _batches(t, shuffle=True, generator=t.Generator().manual_seed(3)),
    "weights": lambda t: t.tensor(list(t.utils.data.WeightedRandomSampler([1.0, 2.0, 3.0], 8))),
    "replaced": lambda t: t.tensor(list(t.utils.data.RandomSampler(range(10), True, 70))),
    "subset": lambda t: t.tensor(list(t.utils.data.SubsetRandomSampler([4, 5, 6, 7]))),
    "dropout in LSTM": lambda t: t.nn.LSTM(3, 4, 2, dropout=0.5)(t.ones(3, 2, 3))[0].detach(),
    "dropout in attention": lambda t: t.nn.TransformerEncoderLayer(8, 2, 16)(t.ones(3, 2, 8)).detach(),
    "a negative seed": lambda t: t.tensor([t.manual_seed(-3).initial_seed() % 2**62, *t.rand(3).tolist()]).double(),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _theirs():
    gw.random.use("torch")
    yield
    gw.random.use("numpy")


def _drawn(t, draw):
    """What is drawn from one seed, and one number after it."""
    t.manual_seed(5)
    drawn = draw(t)
    drawn = t.view_as_real(drawn) if drawn.is_complex() else drawn
    return drawn.double().numpy(), t.rand(1, dtype=t.float64).item()


def _same(torch, draw, near=0.0):
    (ours, next_of_ours), (theirs, next_of_theirs) = _drawn(gw, draw), _drawn(torch, draw)
    np.testing.assert_allclose(ours, theirs, rtol=near, atol=near)
    assert next_of_ours == next_of_theirs, "as many words were drawn"


ROUNDED = {"float32": 2e-6, "float64": 1e-12, "float16": 2e-3, "bfloat16": 2e-2}
EXACT = ("rand", "random", "bernoulli", "poisson", "binomial", "geometric_")


@pytest.mark.parametrize("name", OF_A_SHAPE)
def test_of_a_shape(name, torch):
    draw, kinds = OF_A_SHAPE[name]
    for kind in kinds:
        near = 0.0 if name.startswith(EXACT) and not name.startswith("randn") else ROUNDED[kind]
        for shape in SHAPES:
            _same(torch, lambda t, shape=shape, kind=kind: draw(t, shape, getattr(t, kind)), near)


@pytest.mark.parametrize("name", LAWS)
def test_laws(name, torch):
    law = lambda t: getattr(t.distributions, name)(*map(t.tensor, LAWS[name]))
    for shape in SHAPES:
        _same(torch, lambda t, shape=shape: law(t).sample(shape), 1e-5)


def test_a_law_of_matrices(torch):
    _same(torch, lambda t: t.distributions.LKJCholesky(3).sample((2,)), 1e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name, torch):
    layer = lambda t: getattr(t.nn, name)(*LAYERS[name])
    _same(torch, lambda t: t.cat([p.detach().reshape(-1) for p in layer(t).parameters()]), 2e-6)


@pytest.mark.parametrize("name", FILLS)
def test_fills(name, torch):
    _same(torch, lambda t: getattr(t.nn.init, name)(t.empty(6, 5)), 5e-6)


@pytest.mark.parametrize("name", WHOLE)
def test_programs(name, torch):
    _same(torch, WHOLE[name], 2e-5 if "in " in name or name == "state" else 0 if "sparse" not in name else 2e-6)


def test_an_unknown_stream():
    with pytest.raises(ValueError, match=r"expected one of 'numpy', 'torch', but got 'torch-1\.0'"):
        gw.random.use("torch-1.0")
    with pytest.raises(RuntimeError, match="Expected a state of size 5056"):
        gw.set_rng_state(gw.zeros(80, dtype=gw.uint8))

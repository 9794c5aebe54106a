"""Random numbers: seeds that repeat them, and what they look like."""

import pytest

import gradwright

DRAWS = {
    "rand": lambda T: T.rand(2, 3), "randn": lambda T: T.randn(4), "randint": lambda T: T.randint(0, 10, (5,)),
    "randperm": lambda T: T.randperm(6), "rand_like": lambda T: T.rand_like(T.ones(2, dtype=T.float64)),
    "randn_like": lambda T: T.randn_like(T.ones(3)), "uniform_": lambda T: T.zeros(3).uniform_(),
    "normal_": lambda T: T.zeros(3).normal_(), "bernoulli": lambda T: T.bernoulli(T.full((20,), 0.5)),
    "normal": lambda T: T.normal(T.zeros(3), T.ones(3)), "poisson": lambda T: T.poisson(T.full((9,), 4.0)),
    "multinomial": lambda T: T.multinomial(T.ones(30), 9), "exponential_": lambda T: T.zeros(3).exponential_(),
    "random_": lambda T: T.zeros(9).random_(), "randint_like": lambda T: T.randint_like(T.zeros(9), 99),
    "randint_like by name": lambda T: T.randint_like(T.zeros(9), high=99),
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


def test_randint_by_name():
    randint = gradwright.randint
    for x in (randint(3, size=(50,)), randint(high=3, size=(50,)), randint(0, 3, (50,)), randint(3, (50,))):
        assert set(x.tolist()) == {0, 1, 2}

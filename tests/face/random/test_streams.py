"""Random numbers: states, generators and forks, which repeat them."""


import pytest

import gradwright as gw


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
    assert gw.initial_seed() == 2**64 - 3


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


def test_a_seed_returns_the_default_generator(T):
    assert T.manual_seed(3) is T.default_generator
    assert T.default_generator.initial_seed() == 3

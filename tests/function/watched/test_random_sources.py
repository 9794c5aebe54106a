"""Sources of random numbers that are not gradwright's: which ones code may draw from, and going back in them."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwright.function.watched.random_sources import Stream, streams

SOURCES = {
    "a generator": (np.random.default_rng, lambda s: s.normal(size=3).tolist()),
    "another generator": (lambda n: np.random.Generator(np.random.MT19937(n)), lambda s: s.random(3).tolist()),
    "a state": (np.random.RandomState, lambda s: s.randn(3).tolist()),
    "Python's": (random.Random, lambda s: [s.gauss(0, 1), s.random()]),
}


@pytest.mark.parametrize("name", SOURCES)
def test_going_back(name):
    make, draw = SOURCES[name]
    source = make(3)
    stream = Stream(source)
    draw(source)
    state, first = stream.get_state(), draw(source)
    assert draw(source) != first
    stream.set_state(state)
    assert draw(source) == first


DRAWS = {
    "Python's": (random.Random, [
        lambda s: s.random(), lambda s: s.gauss(0, 1), lambda s: s.getrandbits(3), lambda s: s.shuffle([*range(9)]),
        lambda s: s.seed(5), lambda s: s.setstate(random.Random(6).getstate()), lambda s: s.betavariate(2, 3),
    ]),
    "NumPy's": (np.random.RandomState, [
        lambda s: s.rand(), lambda s: s.randn(), lambda s: s.bytes(1), lambda s: s.shuffle([*range(9)]),
        lambda s: s.seed(5), lambda s: s.set_state(np.random.RandomState(6).get_state()), lambda s: s.binomial(9, 0.3),
        lambda s: s.randint(2, dtype="uint8"), lambda s: s._bit_generator.random_raw(),
        lambda s: np.random.Generator(s._bit_generator).random(dtype="float32"),
    ]),
}  # fmt: skip


def _numbers(source):
    normal = source.gauss if isinstance(source, random.Random) else source.normal
    return [normal(0, 1), source.random(), normal(0, 1), source.random()]


@pytest.mark.parametrize("name", DRAWS)
@given(choices=st.lists(st.integers(-6, 9), max_size=12))
def test_a_state_is_that_of_now(name, choices):
    """Whatever was drawn since, and however often nothing was."""
    make, draws = DRAWS[name]
    source = make(1)
    (stream,) = streams([source], set())
    for k in choices:
        if k >= 0:
            draws[k % len(draws)](source)
        state, twin = stream.get_state(), make(0)
        Stream(twin).set_state(state)
        assert _numbers(twin) == _numbers(source)
        stream.set_state(state)


@pytest.mark.parametrize("name", DRAWS)
def test_a_state_is_got_once_while_nothing_is_drawn(name):
    source = DRAWS[name][0](1)
    first, again = (streams([source], set())[0].get_state() for _ in range(2))
    assert first is again


def test_sources_that_are_equal_are_two():
    class Equal(random.Random):
        def __eq__(self, other):
            return isinstance(other, Equal)

        __hash__ = None

    two = [Equal(1), Equal(2)]
    assert [s.source is t for s, t in zip(streams(two, set()), two, strict=True)] == [True, True]


def test_what_code_may_draw_from():
    numpys, pythons = np.random.get_state.__self__, random.getstate.__self__
    mine = np.random.default_rng(0)
    for values, names, expected in [
        ([np], {"random", "rand"}, [numpys]),
        ([np], {"exp"}, []),
        ([np.random], set(), [numpys]),
        ([np.random.rand], set(), [numpys]),
        ([random, random.gauss], set(), [pythons]),
        ([mine, mine.normal, random], set(), [mine, pythons]),
        ([None, 1, "random", dict], {"random"}, []),
    ]:
        assert [stream.source for stream in streams(values, names)] == expected

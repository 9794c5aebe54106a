"""Sources of random numbers that are not gradwright's: which ones code may draw from, and going back in them."""

import random

import numpy as np
import pytest

from gradwright.guards.random_sources import Stream, streams

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

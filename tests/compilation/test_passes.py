"""All passes together, on random programs: the same results, to the bit where that is asked for, with fewer nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradwright.compilation.interpreted import Interpreted
from gradwright.compilation.passes import passes, simplified
from gradwright.compilation.trace.traced import space, traced
from tests.compilation.checks import ops_of
from tests.compilation.random_programs import Making, bits, close


@given(seed=st.integers(0, 2**32), long=st.sampled_from([False] * 4 + [True]))
@settings(max_examples=150, deadline=None)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_exactly_simplified_programs_give_the_same_bits(seed: int, long: bool) -> None:
    made = Making(seed, long=long, outside=bool(seed % 2))
    first, second = made.inputs(), made.inputs()
    want = Interpreted(made.program)(first) + first
    found = simplified(made.program, exact=True)
    for a, b in zip(want, Interpreted(found)(second) + second, strict=True):
        assert (a is None) == (b is None)
        assert a is None or bits(a) == bits(b)


@given(seed=st.integers(0, 2**32), long=st.sampled_from([False] * 4 + [True]))
@settings(max_examples=150, deadline=None)
def test_simplified_programs_give_the_same_numbers(seed: int, long: bool) -> None:
    made = Making(seed, special=False, long=long, outside=bool(seed % 2))
    first, second = made.inputs(), made.inputs()
    want = Interpreted(made.program)(first) + first
    for a, b in zip(want, Interpreted(simplified(made.program))(second) + second, strict=True):
        assert (a is None) == (b is None)
        assert a is None or close(b, a)


@given(seed=st.integers(0, 2**32), name=st.sampled_from(passes()))
@settings(max_examples=150, deadline=None)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_each_pass_alone_keeps_bits(seed: int, name: str) -> None:
    made = Making(seed)
    want = Interpreted(made.program)(made.inputs())
    for a, b in zip(want, Interpreted(simplified(made.program, exact=True, only=[name]))(made.inputs()), strict=True):
        assert bits(a) == bits(b)


def test_what_is_computed_twice_is_computed_once() -> None:
    program = traced(lambda x: [space.exp(x) + 1.0, space.exp(x) + 1.0, space.exp(x) + 2.0], np.ones(3))
    assert ops_of(simplified(program, only=["common"])) == ["exp", "add", "add"]


def test_what_nothing_needs_is_not_computed() -> None:
    program = traced(lambda x: [space.exp(x), space.exp(x) * 2.0][0], np.ones(3))
    assert ops_of(simplified(program, only=["dead"])) == ["exp"]


def test_a_seed_of_backward_leaves_nothing() -> None:
    """What backward starts from, ones that are broadcast, times a slope is that slope."""
    program = traced(lambda x: space.broadcast_to(space.ones_like(space.sum(x)), (3,)) * (x + x), np.ones(3))
    assert ops_of(simplified(program)) == ["multiply"]

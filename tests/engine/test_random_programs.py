"""Random programs of in-place writes, views, indexing and ordinary operations do what they do in PyTorch.

`make test` runs 500 of them, with CI=1 2,000, and `make soak` 50,000, the same ones each time.
"""

import warnings
from itertools import chain

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import gradwright
from tests import thorough
from tests.engine.random_programs.language import ORDINARY, OVERWRITES, REARRANGES, VIEWS, WRITES
from tests.engine.random_programs.run import Run, agree, between_libraries, difference

PIECE = 500
PIECES = thorough.PROGRAMS // PIECE

KINDS = [ORDINARY] * 3 + [VIEWS] * 5 + [WRITES] * 5 + [OVERWRITES] + [REARRANGES] * 2
NAMES = st.sampled_from(KINDS).flatmap(lambda kind: st.sampled_from(sorted(kind)))
NUMBERS = st.integers(0, 7)
LATEST = st.sampled_from([0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7])
MODES = st.sampled_from(["grad"] * 17 + ["no_grad"] * 2 + ["inference"])
STEPS = st.tuples(NAMES, LATEST, NUMBERS, NUMBERS, MODES)
PROGRAMS = st.lists(st.lists(STEPS, min_size=1, max_size=4), min_size=1, max_size=6).map(chain.from_iterable).map(list)


@pytest.mark.parametrize("piece", range(PIECES))
def test_programs_do_what_they_do_in_pytorch(torch, piece):
    @seed(piece)
    @settings(max_examples=PIECE, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(program=PROGRAMS)
    def check(program):
        found = difference(torch, program)
        assert found is None, found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check()


@seed(0)
@settings(max_examples=PIECE * PIECES // 10, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=PROGRAMS)
def test_what_tensors_are_does_not_depend_on_whether_anybody_looks(program):
    program = [step for step in program if step[0] != "detach_"]  # views lose what they have not read, and say so

    def seen(looks):
        run = Run(gradwright)
        refused = []
        for step in program:
            refused.append(run.step(*step) is not None)
            if looks:
                run.state()
        return [refused, run.state(), run.gradients()]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert agree(seen(True), seen(False))


@pytest.mark.parametrize("piece", range(PIECES))
@pytest.mark.parametrize(("library", "part"), [("strict", 5), ("jax", 100)])  # JAX compiles for every shape
def test_programs_do_the_same_over_arrays_that_are_never_written(library, part, piece):
    pytest.importorskip({"strict": "array_api_strict"}.get(library, library))

    @seed(piece)
    @settings(max_examples=PIECE // part, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(program=PROGRAMS)
    def check(program):
        found = between_libraries(program, library)
        assert found is None, found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check()

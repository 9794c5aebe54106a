"""Arrays that others hold: whether anybody does, and numbers that change with what is in them."""

import numpy as np
import pytest

from gradwright.base.cpython.lent import Export, fingerprint, is_held, sample, through_buffer

LAID = {"rows": lambda a: a, "columns": lambda a: a.T.copy().T, "steps": lambda a: np.repeat(a, 2, 1)[:, ::2],
        "reversed": lambda a: a[::-1, ::-1], "number": lambda a: a[0, 0, ...]}  # fmt: skip


@pytest.mark.parametrize("shape", [(1, 1), (16, 32), (27, 19), (64, 784), (2048, 4)])
@pytest.mark.parametrize("laid", LAID)
def test_what_is_filled_again_has_another_number_and_what_is_not_has_the_same(shape, laid):
    rng = np.random.default_rng(0)
    array = LAID[laid](rng.normal(size=shape))
    for of in (sample, fingerprint):
        before = of(array)
        assert of(array) == of(array.copy(order="K")) == before
        kept = array.copy()
        for new in (rng.normal(size=array.shape), np.zeros(array.shape), kept * (1 + 1e-15), -kept):
            array[...] = new
            assert of(array) != before
        array[...] = kept
        assert of(array) == before


def test_few_numbers_are_all_looked_at_and_of_many_those_at_the_ends_and_of_every_column():
    for size, ends in ((512, 256), (513, 32), (100_000, 32)):
        array = np.zeros(size)
        for k in (*range(ends), *range(size - ends, size)):
            before = sample(array)
            array[k] += 1
            assert sample(array) != before
    array = np.zeros((1024, 64))
    for k in range(64):
        before = sample(array)
        array[:, k] += 1
        assert sample(array) != before


def test_who_holds_it():
    array = np.ones(3)
    mine, theirs = through_buffer(array)
    held = [theirs.obj]
    assert np.shares_memory(mine, array)
    assert is_held(array)
    assert Export(mine, theirs).is_open()
    export = Export(mine)
    assert not export.is_open()
    export.hand_out(held_by := {1}, lambda depth: ("here", depth))
    assert export.is_open()
    assert export.place == ("here", 3)
    del held_by
    assert not export.is_open()
    assert export.covers(mine[1:])
    assert not export.covers(np.ones(3))
    del held

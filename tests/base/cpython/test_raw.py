"""The memory of an object: it shows what its fields hold, and not who holds it."""

import random
import sys

import pytest

from gradwright.base.cpython.raw import raw


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="only CPython's objects lie where their id says")
def test_what_it_shows():
    x, y = 1.5, float("1.5")
    holders = [x] * 9
    assert raw(x, float) == raw(y, float) != raw(2.5, float)
    assert len(holders) == 9
    source = random.Random(1)
    before = raw(source, random.Random.__base__)
    assert before == raw(source, random.Random.__base__)
    source.random()
    assert raw(source, random.Random.__base__) != before


def test_of_another_interpreter_nothing_is_known(monkeypatch):
    monkeypatch.setattr(sys, "implementation", type("Other", (), {"name": "other"}))
    assert raw(1.5, float) is None

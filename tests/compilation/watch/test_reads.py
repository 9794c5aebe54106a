"""What was read."""

from __future__ import annotations

import weakref

import pytest

import gradwright as gw
from gradwright.compilation.watch import reads
from gradwright.compilation.watch.reads import UNKNOWN
from tests.compilation.watch.seen import refusals


def test_what_was_read_is_let_go_of_at_once():
    class Held:
        k = 2.0

    held = Held()
    weak = weakref.ref(held)
    assert not refusals((lambda x: x * (weak().k if weak() else 1.0), (gw.ones(3, requires_grad=True),)))
    del held
    assert weak() is None


def test_what_is_not_known_may_be_from_outside():
    assert not UNKNOWN.made


@pytest.mark.parametrize("many", [0, 10**9])
def test_what_a_run_makes_is_told_from_what_was_there(many, monkeypatch):
    """Also where it has made so much that not all of it is looked through for each question."""
    monkeypatch.setattr(reads, "_MANY", many)
    looks, young = [], reads._young
    monkeypatch.setattr(reads, "_young", lambda: looks.append(1) or young())
    kept = [[0.5], [0.25]]

    def add(x, y, scale=1.0):
        return x + y * scale

    def step(x, times):
        for _ in range(times):
            own = [x, x]
            x = add(*own)
        return x * kept[1][0]

    counts = []
    for times in (3, 30):
        looks.clear()
        assert not refusals((step, (gw.ones(3), times)))
        counts.append(len(looks))
    assert (counts[0] == counts[1]) is (many == 0)
    assert refusals((lambda x: kept[0].append(1.0) or x * kept[0][0], (gw.ones(3),)))

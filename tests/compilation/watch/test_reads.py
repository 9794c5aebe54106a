"""What was read."""

from __future__ import annotations

import weakref

import pytest

import gradwright as gw
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

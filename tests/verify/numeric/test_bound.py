"""Bound arguments."""

from __future__ import annotations

from functools import partial

from gradwright.verify.numeric.bound import unbound


def test_keywords_are_taken_out():
    assert unbound(partial(print, end=""), {"sep": "-"}) == (print, {"end": "", "sep": "-"})


def test_what_has_positional_arguments_stays():
    bound = partial(print, 1)
    assert unbound(bound, {}) == (bound, {})
    assert unbound(print, {}) == (print, {})

"""Copies of calls."""

import gradwright as gw
from gradwright.verify.audit.recorded import copied, copies, printed
from gradwright.verify.check.calls import flat


def test_copies_are_apart():
    x = gw.ones(2, 3).t()
    y = copied(x)
    x[0, 0] = 5
    assert (y[0, 0].item(), y.stride()) == (1.0, x.stride())
    given = copies(([x], {"a": 1}), copied, gw)
    assert given[0][0] is not x
    assert flat(given, gw)[0].shape == x.shape


def test_prints_tell_numbers_apart():
    assert printed(gw.ones(2)) == printed(gw.ones(2)) != printed(gw.zeros(2))

"""Calls between which no interrupt comes, and what is put back after one."""

from contextvars import ContextVar
from operator import setitem

import numpy as np
import pytest

from gradwright.base.cpython.at_once import at_once, copying, having
from tests.interrupts import interrupted

variable = ContextVar("variable", default="before")


def test_calls_are_made_in_order():
    made = []
    at_once([(made.append, 1), (made.extend, [2, 3]), (setitem, made, 0, 0)])
    assert made == [0, 2, 3]


def test_what_a_call_raises_is_raised():
    made = []
    with pytest.raises(KeyError):
        at_once([(made.append, 1), ({}.pop, "missing"), (made.append, 2)])
    assert made == [1]


def test_all_or_none_of_it_is_done():
    for after in range(1, interrupted(_two_arrays()[1], 0)[0] + 1):
        arrays, program = _two_arrays()
        interrupted(program, after)
        assert [a.tolist() for a in arrays] in ([[0.0] * 3] * 2, [[2.0] * 3] * 2), after


def _two_arrays():
    arrays = [np.zeros(3), np.zeros(3)]

    def program():
        at_once([call for a in arrays for call in ((np.add, a, 1.0, a), copying(a, a * 0 + 2.0))])

    return arrays, program


def test_having():
    assert having(variable, "during", variable.get) == "during"
    assert variable.get() == "before"
    for after in range(1, interrupted(_have, 0)[0] + 1):
        interrupted(_have, after)
        assert variable.get() == "before"


def _have():
    having(variable, "during", lambda: None)

"""Doors and their calls."""

import numpy as np

from gradwright.verify.audit.doors.door import Call, Door, both, caller, door
from gradwright.verify.audit.doors.heard import Heard


def solve(f, x, *, jac=None):
    return f(x)


def test_a_call():
    call = Call(Door("here", "solve", lambda call: None), solve, (np.sum, [1, 2]), {}, ("", 0))
    assert (call.get("jac"), call.hear("jac")) == (None, None)
    heard = call.hear("f")
    assert call.given["f"] is heard
    assert solve(*call.bound.args, **call.bound.kwargs) == 3
    assert (heard.calls, call.heard) == (1, [heard])
    assert call.listen(int) is call.listen("2-point") is None


def test_attributes_are_put_back():
    class Solver:
        f = 1

    call = Call(Door("here", "solve", lambda call: None), solve, (abs, 1), {}, ("", 0))
    call.swap(Solver, "f", 2)
    with call.swapped():
        assert Solver.f == 2
    assert Solver.f == 1


def test_a_function_that_returns_both():
    heard = Heard(lambda x: (x @ x, 2 * x))
    heard(np.array([1.0, 2.0]))
    value, gradient = both(heard)
    (point,) = gradient.points()
    assert (point.value, point.returned.tolist()) == (5, [2, 4])
    assert gradient.again(np.array([3.0])).tolist() == [6]
    assert value.again(np.array([3.0])) == 9


def test_declared_and_called_from():
    (made,) = door("a.b", "C.f")(lambda call: None)
    assert (made.name, made.library) == ("a.b.C.f", "a")
    assert caller()[0] == __file__

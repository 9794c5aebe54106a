"""Functions that are heard."""

import copy
import functools
import inspect
import traceback

import numpy as np
import pytest

from gradwright.verify.audit.doors.heard import Heard, copied, identity, named, parameters, place


def squares(x, k=2.0):
    """Say."""
    return k * x**2


class Model:
    def __init__(self, k):
        self.k = k

    def loss(self, x):
        return self.k * x

    __call__ = loss


def test_it_is_the_function_to_whoever_asks():
    heard = Heard(squares)
    assert str(inspect.signature(heard)) == "(x, k=2.0)"
    assert (heard.__name__, heard.__doc__, heard.__code__) == ("squares", "Say.", squares.__code__)
    make, made_of = heard.__reduce__()
    assert make(*made_of) is squares  # in another process
    assert copy.deepcopy(heard) is heard
    bound = Heard(Model(2).loss)
    assert (bound.__self__.k, bound(3)) == (2, 6)
    x = np.ones(2)
    assert Heard(lambda a: x)(1) is x


def test_parameters_have_names_where_they_are_written():
    assert parameters(lambda t, a, b=1, *, c=2: a) == ("t", "a", "b")
    assert parameters(lambda t, *p: p) == ()


def test_an_array_that_is_filled_again_is_known_from_one_that_stays():
    buffer, constant = np.zeros(1), np.ones(1)

    def f(x):
        buffer[:] = x
        return buffer

    for function, reused in ((f, True), (lambda x: f(x).copy(), False), (lambda x: constant, False)):
        heard = Heard(function)
        for k in (0.0, 0.0, 1.0, 2.0):
            heard(np.full(1, k))
        assert heard.reused is reused


def test_what_is_kept_is_spread_over_the_run_and_is_as_it_was():
    buffer = np.zeros(1)

    def f(x):
        buffer[:] = x
        return buffer

    heard, x = Heard(f), np.zeros(1)
    for k in range(100):
        x[0] = k
        heard(x)
    assert heard.calls == 100
    assert [k.number for k in heard.kept][:2] == [1, 2]
    assert heard.kept[-1].number > 80
    assert len(heard.kept) <= 9
    for k in heard.kept:
        assert (k.x[0], k.result[0]) == (k.number - 1, k.number - 1)
        assert k.before is None if k.number == 1 else k.before[0] == k.number - 2


def test_an_error_passes_through_without_a_trace_of_it():
    with pytest.raises(ZeroDivisionError) as raised:
        Heard(lambda x: 1 / x)(0)
    names = [f.name for f in traceback.extract_tb(raised.value.__traceback__)]
    assert names[1:] == ["<lambda>"]


def test_points_where_it_was_called_seldom():
    f, df = Heard(squares), Heard(lambda x: 4 * x)
    df.value = f
    for k in (1.0, 2.0, 3.0):
        f(np.array([k]))
    df(np.array([3.0]))
    points = df.points(f)
    assert [p.x[0] for p in points] == [3.0, 2.0, 1.0]
    assert [p.call for p in points] == [1, 0, 0]
    assert points[0].value == 18
    assert f.again(np.array([2.0]))[0] == 8


def test_functions_are_told_apart():
    made = [functools.partial(lambda k: lambda x: k * x, k)() for k in (1, 2, 1)]
    assert identity(made[0]) == identity(made[2]) != identity(made[1])
    a, b = Model(1), Model(1)
    assert identity(a.loss) == identity(a.loss) != identity(b.loss)
    assert identity(functools.partial(squares, k=1)) != identity(functools.partial(squares, k=2))


def test_names_and_places():
    assert named(a := Model(1)) == "Model"
    assert (named(a.loss), named(functools.partial(squares))) == ("Model.loss", "squares")
    line = inspect.getsourcelines(squares)[1]
    assert place(functools.partial(squares)) == (__file__, line)
    assert named(lambda: 0).startswith("lambda at line ")
    assert place(len) == ("", 0)


def test_copies():
    x = [np.ones(2), (1.0, np.ones(1))]
    y = copied(x)
    x[0][:] = x[1][1][:] = 5
    assert (y[0].tolist(), y[1][1].tolist()) == ([1, 1], [1])

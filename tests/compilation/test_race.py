"""A program that is slower than an eager run is not used; the clock here is the tests'."""

from itertools import chain

import pytest

import gradwright as gw
from gradwright.compilation import race
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.by_numpy.plan import Plan
from tests.compilation.checks import entries

N = race.ROUNDS
EAGER, PLAN, C_ = "eager", "plan", "c"


class Clock:
    """It passes so many seconds in each call that is timed, in the order of these."""

    def __init__(self, seconds):
        self.seconds, self.now, self.begun = iter(chain(*seconds)), 0.0, False

    def __call__(self):
        self.begun = not self.begun
        self.now += 0 if self.begun else next(self.seconds)
        return self.now


def turns(own, eager, compared=True):
    """An eager run that is compared with, and then both by turns."""
    return [eager] * compared + [own, eager] * (N - 1) + [own]


def run(monkeypatch, *seconds, calls=40, **options):
    """A compiled function after calls that take so long, and which of its later calls were eager."""
    monkeypatch.setattr(race, "clock", Clock(seconds))
    w = gw.ones(3)
    step = gw.compile(lambda x: w.add_(x).sum(), **options)
    for k in range(calls):
        assert step(gw.ones(3)).item() == 3 * (k + 2)
    eager, function = [], step.programs.function
    step.programs.function = lambda *args: eager.append(args) or function(*args)
    for _ in range(3):
        step(gw.ones(3))
    (entry,) = entries(step)
    return step, entry, len(eager)


@pytest.mark.parametrize("options", [{"backend": "plan"}, {"backend": "c"}, {"backend": "auto"}], ids=str)
def test_one_that_is_clearly_quicker_is_known_at_once(options, monkeypatch, compiler):
    _, entry, eager = run(monkeypatch, [10.0, 1.0], **options)
    assert (entry.race, eager) == (None, 0)


@pytest.mark.parametrize(("own", "eager_calls"), [(9.0, 0), (11.0, 3)])
def test_one_that_is_not_is_measured_some_calls(own, eager_calls, monkeypatch):
    step, entry, eager = run(monkeypatch, turns(own, 10.0), backend="plan")
    assert (entry.race is None, eager) == (not eager_calls, eager_calls)
    said = "its calls are eager, as it is slower: 11,000,000.0 µs by it, 10,000,000.0 µs eagerly"
    assert (said in str(step.explain())) is bool(eager_calls)


@pytest.mark.parametrize(("c", "plan", "eager", "best"), [
    (9.0, 8.0, 10.0, PLAN), (8.0, 9.0, 10.0, C_), (12.0, 8.0, 10.0, PLAN), (12.0, 11.0, 10.0, EAGER),
    (11.0, 12.0, 10.0, EAGER),
])  # fmt: skip
def test_c_and_the_plan_are_compared_where_c_is_not_clearly_quicker(c, plan, eager, best, monkeypatch, compiler):
    step, entry, calls = run(monkeypatch, turns(c, eager), [eager], [plan] * N)
    assert calls == (3 if best == EAGER else 0)
    assert isinstance(entry.runner, Plan if plan < c else C)
    assert ("its calls are eager" in str(step.explain())) is (best == EAGER)


@pytest.mark.parametrize("options", [{"fullgraph": True}, {"check": "always"}], ids=str)
def test_whoever_asks_for_programs_gets_them(options, monkeypatch):
    assert run(monkeypatch, backend="plan", calls=10, **options)[1].race is None


def test_the_next_shape_has_a_race_of_its_own(monkeypatch):
    monkeypatch.setattr(race, "clock", Clock([turns(2.0, 1.0), [9.0, 1.0]]))
    step = gw.compile(lambda x: x * 2, backend="plan", dynamic=False)
    for n in (3, 4):
        for _ in range(12):
            step(gw.ones(n))
    assert [entry.race is None for entry in entries(step)] == [True, False]

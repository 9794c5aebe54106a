"""The errors by which both libraries tell of a broken rule are known for what they are."""

import pytest

from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.battery.findings import RULES, broken
from gradwright.verify.check.battery.run import CHECKS
from tests.verify.check.functions import trial, x


def body(T, what):
    def forward(ctx, a, b):
        if what == "dirty":
            ctx.mark_dirty(a.clone())
        return a * b

    def backward(ctx, g):
        return {
            "count": (g, g)[:1],
            "shape": (g.reshape(1, -1).expand(2, -1)[:, :2], g),
            "type": (3.0, g),
            "number": (g, g, g)[: 2 + (what == "count")],
        }.get(what, (g, g))

    members = {"forward": staticmethod(forward)} | ({"backward": staticmethod(backward)} if what != "none" else {})
    return type("F", (T.autograd.Function,), members)


@pytest.mark.parametrize(("what", "cause"), [
    ("count", "number of gradients"), ("shape", "gradient shape"), ("type", "wrong type"),
    ("number", "gradient of a number"), ("dirty", "mark_dirty"), ("none", "not implemented"),
])  # fmt: skip
def test_broken_rules(T, what, cause):
    one = trial(body(T, what), x, 2.0 if what == "number" else x)
    attempt = Attempt()
    with attempt:
        one.backward(one.run())
    finding = broken(attempt, one)
    assert finding is not None, attempt.said()
    assert finding.cause == cause
    assert finding.mend


def test_other_errors_are_not():
    attempt = Attempt()
    with attempt:
        raise ValueError("something else")
    assert broken(attempt, None) is None


def test_the_table_names_checks():
    assert {check for _, check, _, _ in RULES} <= CHECKS.keys()

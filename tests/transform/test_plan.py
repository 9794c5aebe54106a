"""The quick way of tangents: what declarations give, beside the rule of the rule."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.op import Rule, table
from gradwright.transform import plan as plans
from gradwright.transform.tangent import pushed

CASES = [
    (op, sample)
    for op in table.values()
    for sample in op.samples
    if op.rules and not op.several and (op.pushes or op.multilinear or op.kind == "elementwise")
]


def drawn(a, rng):
    if a.values is not None:
        values = np.array(a.values)
        return gw.tensor(values)
    return gw.tensor(rng.uniform(max(a.low, 0.2), max(a.high, 0.9), a.shape))


@pytest.mark.parametrize(("op", "sample"), CASES, ids=lambda v: getattr(v, "name", None))
def test_a_plan_gives_what_the_rule_of_the_rule_gives(op, sample, monkeypatch):
    rng = np.random.default_rng(0)
    xs = [drawn(a, rng) for a in sample.arrays]
    names = op.names_of(len(xs))
    ts = [gw.tensor(rng.standard_normal(tuple(x.shape))) if n in op.rules and x.is_floating_point() else None
          for n, x in zip(names, xs, strict=True)]  # fmt: skip
    if all(t is None for t in ts):
        return
    out = op(*xs, **sample.static)
    quick = pushed(op, xs, ts, out, sample.static)
    monkeypatch.setattr("gradwright.transform.tangent.planned", lambda op, moves: None)
    slow = pushed(op, xs, ts, out, sample.static)
    np.testing.assert_allclose(quick.numpy(), slow.numpy(), rtol=1e-9, atol=1e-12)


def test_a_rule_that_is_declared_later_is_taken_up(monkeypatch):
    op = table["sin"]
    x, t = gw.tensor([0.5]), gw.tensor([1.0])
    assert plans.planned(op, (True,)) is not None
    monkeypatch.setattr(op, "pushes", {})
    op.jvp(x=lambda xp, t, x: t * 7)
    assert pushed(op, [x], [t], op(x), {}).item() == 7
    op.pushes.clear()
    op.plans.clear()
    assert pushed(op, [x], [t], op(x), {}).item() == pytest.approx(np.cos(0.5))


def test_there_is_no_plan_for_a_rule_that_names_more():
    op = table["sin"].variant("OtherBackward0")
    op.rules = {"x": Rule(lambda xp, g, reached: g, ("reached",))}
    op.plans = {}
    assert plans.planned(op, (True,)) is None

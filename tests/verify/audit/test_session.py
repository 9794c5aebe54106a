"""`gradwright.audit`: what it finds, and that it changes nothing."""

import multiprocessing
import random

import numpy as np
import pytest

import gradwright as gw
from gradwright.verify.audit import audit
from gradwright.verify.check.records import Outcome
from tests.corpus.right import Scaled
from tests.corpus.wrong import Forgotten, Plain
from tests.verify.audit.functions import leaf


def train(f):
    gw.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    w = leaf(5)
    for _ in range(6):
        f(w, 3.0).sum().backward()
        with gw.no_grad():
            w -= 0.01 * w.grad * gw.rand(5) * random.random()
    return w.tolist(), gw.rand(2).tolist(), random.random(), np.random.rand()


@pytest.mark.parametrize(("function", "outcome"), [(Scaled, Outcome.PASS), (Forgotten, Outcome.FAIL)])
def test_verdicts_and_that_numbers_stay(function, outcome):
    before = train(function.apply)
    with audit(shown=False) as found:
        assert train(function.apply) == before
    (checked,) = found.report.checked
    assert (checked.name, checked.verdict) == (function.__name__, outcome)
    if outcome is Outcome.FAIL:
        assert "0.333333 times what it should be" in checked.failures[0].sentence


def test_what_python_code_counts_is_put_back():
    Scaled.calls = 0
    with audit(shown=False):
        Scaled.apply(leaf(3), 2.0)
    assert Scaled.calls == 1


def test_functions_of_containers_and_in_batches_are_called():
    class AddedPair(gw.autograd.Function):
        @staticmethod
        def forward(ctx, pair):
            return pair[0] + pair[1]

        @staticmethod
        def backward(ctx, g):
            return [g, g]

    with audit(shown=False) as found:
        AddedPair.apply([leaf(3), leaf(3)])
        gw.vmap(lambda x: AddedPair.apply([x, x]))(leaf(3))
    assert [c.name for c in found.report.checked] == ["AddedPair"]
    assert not [n for n in found.report.notes if n.startswith("AddedPair")]


def test_nothing_called():
    with audit(shown=False) as found:
        gw.ones(3).sum()
    assert found.report.exit_code == 2
    assert "no Function" in found.report.problems[0][1]


def test_what_is_refused():
    with pytest.raises(ValueError, match="above 0"):
        audit(budget=0)
    with pytest.raises(ValueError, match="whole number"):
        audit(every=-1)
    with audit(shown=False), pytest.raises(RuntimeError, match="on already"), audit():
        pass


def test_a_fault_in_a_compiled_step():
    w = leaf(5)

    @gw.compile(backend="plan")
    def step(x):
        loss = Plain.apply(w * x).sum()
        loss.backward()
        with gw.no_grad():
            w.sub_(0.01 * w.grad)
        return loss

    with audit(shown=False) as found:
        for _ in range(4):
            step(gw.ones(5))
    (checked,) = found.report.checked
    assert "0.333333 times what it should be" in checked.failures[0].sentence


def test_what_is_not_heard_is_told():
    @gw.compile(backend="plan")
    def step(x):
        return gw.autograd.grad(Plain.apply(x).sum(), x)[0]

    x = leaf(3)
    for _ in range(3):
        step(x)
    with audit(shown=False) as found:
        step(x)
        process = multiprocessing.get_context("spawn").Process(target=int)
        process.start()
        process.join()
    assert not found.report.checked
    said = " ".join(found.report.notes)
    assert "step was compiled before the audit began" in said
    assert "started by spawn" in said

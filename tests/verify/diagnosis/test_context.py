"""The numbers and tensors that a cause may be made of."""

import numpy as np
import pytest

import gradwright
from gradwright.autograd import Function
from gradwright.verify.diagnosis.case import Case
from gradwright.verify.diagnosis.context import Context, on_ctx
from gradwright.verify.diagnosis.measure import measure
from gradwright.verify.diagnosis.probes import Probes
from tests.corpus.wrong import t


class Keeps(Function):
    @staticmethod
    def forward(ctx, x, rate, flag):
        ctx.gain, ctx.table, ctx.flag = 0.25, np.array([1.0, 4.0, 9.0]), flag
        y = x.exp() * 1.75
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[1], None, None


@pytest.fixture
def context():
    case = Case(Keeps, (t(3), gradwright.tensor(3.5), True))
    return Context(case, measure(case)[0], Probes())


def test_numbers(context):
    numbers = dict(context.numbers)
    assert numbers["`rate`"] == 3.5
    assert numbers["`ctx.gain`"] == 0.25
    assert numbers["the 1.75 in forward"] == 1.75
    assert numbers["the number of entries of `x`"] == 3
    assert not any("flag" in n for n in numbers)  # no truth values


@pytest.mark.parametrize(
    ("factor", "name"),
    [(3.5, "`rate`"), (-3.5, "`rate`"), (1 / 3.5, "1 / `rate`"), (0.0625, "`ctx.gain` ** 2"), (0.5, "sqrt(`ctx.gain`)"),
     (1 / 3.5**2, "1 / `rate` ** 2")],
)  # fmt: skip
def test_a_number_is_recognised(context, factor, name):
    assert context.named(factor, 1e-7)[0] == name


def test_any_number_is_not(context):
    assert context.named(0.123, 1e-7) is None
    assert context.named(3.6, 1e-7) is None
    assert context.named(3.6, 0.1)[0] == "`rate`"


def test_tensors_are_named_once(context):
    assert [n for n, _ in context.tensors] == ["x", "out", "ctx.table"]  # the saved ones are x and out


def test_what_is_on_ctx(context):
    assert set(on_ctx(context.case.node)) == {
        "ctx.gain", "ctx.table", "ctx.flag", "ctx.saved_tensors[0]", "ctx.saved_tensors[1]",
    }  # fmt: skip
    assert on_ctx(None) == {}

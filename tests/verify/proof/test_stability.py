"""Digits lost: of formulas that are known to lose them, where, and what would help; of those that do not, none."""

import json

import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import Function
from gradwright.errors import NotProvedError
from gradwright.op import table
from gradwright.verify import stability


def loss(found, what, dtype):
    return next(one for one in found.losses if (one.what, one.dtype) == (what, dtype))


def test_cancellation_is_found_where_it_is():
    found = stability(lambda x: gw.exp(x) - 1, (-1.0, 1.0), name="f")
    assert not found
    assert loss(found, "value", "float32").worst > 6
    assert abs(loss(found, "value", "float32").where) < 1e-6
    assert loss(found, "gradient", "float64").worst < 0.5
    assert found.hint == "expm1(x) for exp(x) - 1"
    assert "loses" in str(found)
    assert "use expm1" in str(found)


@pytest.mark.parametrize("name", ["expm1", "log1p", "asinh", "erfc", "elu"])
def test_what_is_stable_loses_nothing(name):
    found = stability(table[name], (-0.9, 2.0), **table[name].samples[0].static)
    assert found
    assert found.worst.worst < 1.0
    assert "no more than" in str(found)


def test_the_gradient_of_tanh_loses_its_digits_far_out():
    found = stability(gw.tanh, (-15.0, 15.0))
    assert loss(found, "value", "float64").worst < 1
    assert abs(loss(found, "gradient", "float64").where) > 12


def test_conditioning_is_not_counted():
    assert stability(gw.sin, (3.0, 3.3)).worst.worst < 0.5  # near pi, where it is 0
    assert stability(gw.acosh, (1.0, 1.5)).worst.worst < 0.5


def test_functions_and_their_backward():
    class Sinh(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return gw.sinh(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * gw.sqrt(gw.sinh(x) ** 2 + 1)

    assert stability(Sinh, (-1.0, 1.0))


def test_plain_data():
    data = json.loads(json.dumps(stability(gw.exp, (-1.0, 200.0)).as_dict()))
    assert [one["dtype"] for one in data["losses"]] == ["float32", "float32", "float64", "float64"]
    assert None in data["losses"][0]["digits"]  # out of the range of float32


def test_bad_input():
    with pytest.raises(ValueError, match="expected one range"):
        stability(gw.exp, gw.ones(2))
    with pytest.raises(NotProvedError, match="entry by entry"):
        stability(lambda x: x.sum(), (0.0, 1.0))
    with pytest.raises(NotProvedError, match="reads numbers"):
        stability(lambda x: gw.from_numpy(np.sin(x.numpy(force=True))), (0.0, 1.0))

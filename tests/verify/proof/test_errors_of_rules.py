"""The error of a rule, as balls: 0 of what is right, the error of what is wrong, by entries and all at once."""

from functools import partial

import numpy as np
import pytest

import gradwright as gw
from gradwright.errors import NotProvedError
from gradwright.verify.proof import series
from gradwright.verify.proof.balls import balls
from gradwright.verify.proof.errors_of_rules import compared
from gradwright.verify.proof.series import working

X = np.array([0.5, -1.0, 2.0])


@pytest.fixture(autouse=True)
def _precision():
    with working(bits=120):
        yield


def ones(out):
    return balls(np.ones(out.shape, complex if out.dtype.kind == "c" else float))


class Off(gw.autograd.Function):
    """A square whose derivative is 1/8 too large."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (2.0 * x + 0.125)


@pytest.mark.parametrize("elementwise", [False, True])
def test_the_error_is_found(elementwise):
    (found,) = compared(Off.apply, [balls(X)], [0], ones, elementwise=elementwise)
    assert all(series.start(e).overlaps(series.arb(-0.125)) for e in found.error)
    assert all(series.start(e).overlaps(series.arb(2 * x)) for e, x in zip(found.formula, X, strict=True))


def test_several_inputs_and_outputs():
    found = compared(lambda x, y: (x @ y, gw.sin(x) * 2.0), [balls(X), balls(X)], [0, 1], ones)
    for one in found:
        assert all(series.start(e).contains(0) and series.start(e).rad() < 1e-30 for e in one.error)


def test_complex_numbers():
    z = balls(np.array([0.3 + 0.4j]))
    for f in (gw.exp, lambda t: (t * t.conj()).real, gw.abs):
        (one,) = compared(f, [z], [0], partial(ones))
        assert series.start(one.error[0]).contains(0)


def test_what_has_no_derivative():
    with pytest.raises(NotProvedError, match="no result has a derivative"):
        compared(lambda x: x.detach(), [balls(X)], [0], ones)

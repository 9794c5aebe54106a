"""The namespace of balls: formulas find in it what they use, and nothing is made of numbers that are not certain."""

import numpy as np
import pytest

from gradwright import backends
from gradwright.errors import NotProvedError
from gradwright.op import table
from gradwright.verify.proof.balls import Truths, balls
from gradwright.verify.proof.series import working
from gradwright.verify.proof.space import space
from gradwright.verify.testing import draw
from tests.verify.proof.test_balls import around, middles


@pytest.fixture(autouse=True)
def _precision():
    with working(bits=120):
        yield


def test_balls_are_an_array_library():
    assert backends.namespace(balls(1.0)) is space
    assert backends.library(balls(1.0)).name == "balls"
    with pytest.raises(NotProvedError):
        backends.to_host(balls(1.0))


@pytest.mark.parametrize("name", [n for n, op in table.items() if op.kind == "elementwise" and op.rules])
def test_elementwise_formulas_give_numpys_values(name):
    op = table[name]
    for sample in op.samples:
        arrays, static = draw(sample)
        try:
            found = op.forward(space, *[balls(a) if a.dtype.kind in "fc" else np.asarray(a) for a in arrays], **static)
        except NotProvedError:
            assert name == "nextafter"
            continue
        wanted = op(*arrays, **static)
        if wanted.dtype.kind == "f" and np.isfinite(wanted).all() and (name, static.get("base")) != ("exponential", 0):
            if name == "polygamma" and (arrays[0] < 0).any():
                continue  # nothing is known of it there
            np.testing.assert_allclose(middles(found), wanted, rtol=1e-11, atol=1e-12, err_msg=name)


def test_quantifiers():
    open_ = around(-1, 1) < 0.0
    assert isinstance(space.any(open_), Truths)
    assert isinstance(space.all(open_), Truths)
    assert space.all(balls(np.array([1.0, 2.0])) > 0.0)
    assert space.any(balls(np.array([0.0, 2.0])))
    assert space.may_hold(open_)
    assert not space.may_hold(np.array(False))


def test_what_balls_do_not_have_is_not_proved():
    for f in (lambda: space.linalg.svd(balls(np.eye(2))), lambda: space.fft.hfft(balls(np.ones(2))),
              lambda: space.nextafter(balls(1.0), balls(2.0)),
              lambda: space.unique_values(balls(np.ones(2)))):  # fmt: skip
        with pytest.raises(NotProvedError, match="balls have no"):
            f()


def test_dtypes_and_comparisons():
    assert space.isdtype(balls(1.0).dtype, "real floating")
    assert space.result_type(balls(1.0), space.complex64).kind == "c"
    assert space.less(balls(1.0), balls(2.0)).item()
    assert space.greater_equal(balls(2.0), balls(2.0)).item()
    assert space.logical_not(balls(0.0)).item()
    assert not space.logical_and(True, balls(0.0)).item()
    assert middles(space.where(np.array([True, False]), balls(np.array([1.0, 2.0])), 7)).tolist() == [1, 7]

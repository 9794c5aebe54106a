"""Softmax, its relatives, and draws by it."""

import math

import numpy as np
import pytest

import gradwright as gw


def test_softmax_converts_first(lib):
    for f in (lib.nn.functional.softmax, lib.nn.functional.log_softmax):
        assert f(lib.tensor([1, 2]), dim=0, dtype=lib.float64).dtype is lib.float64


@pytest.mark.parametrize(("shape", "dim"), [((3,), 0), ((2, 3), 1), ((2, 3, 4), 0), ((2, 3, 2, 2), 1), ((), 0)])
def test_the_dim_that_is_taken_where_none_is_given(lib, shape, dim):
    x = lib.arange(float(math.prod(shape))).reshape(shape)
    for name in ("softmax", "log_softmax"):
        f = getattr(lib.nn.functional, name)
        with pytest.warns(UserWarning, match=f"^Implicit dimension choice for {name} has been deprecated"):
            implicit = f(x)
        assert implicit.tolist() == f(x, dim=dim).tolist()


@pytest.mark.parametrize("name", ["gumbel_softmax", "log_softmax", "softmax", "softmin"])
def test_what_is_no_tensor(name):
    argument, dim = ("logits", ()) if name == "gumbel_softmax" else ("input", (0,))
    message = rf"^{name}\(\): argument '{argument}'( \(position 1\))? must be Tensor, not list: gradwright.tensor"
    with pytest.raises(TypeError, match=message):
        getattr(gw.nn.functional, name)([1.0], *dim)


def test_a_dim_out_of_range(lib):
    with pytest.raises(IndexError, match="Dimension out of range"):
        lib.nn.functional.softmax(lib.ones(2), dim=1)


def test_gumbel_softmax():
    gw.manual_seed(0)
    odds = gw.tensor([0.7, 0.2, 0.1])
    hard = gw.nn.functional.gumbel_softmax(odds.log().expand(4000, 3), hard=True)
    assert set(hard.numpy().ravel()) == {0.0, 1.0}
    np.testing.assert_allclose(hard.mean(0).numpy(), odds.numpy(), atol=0.03)
    x = gw.zeros(2, 3, requires_grad=True)
    (gw.nn.functional.gumbel_softmax(x, tau=0.5, hard=True, dim=0)[0] ** 2).sum().backward()
    assert (x.grad != 0).any()

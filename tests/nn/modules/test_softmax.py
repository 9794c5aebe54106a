"""Softmax and its kin as modules."""

import math

import pytest

from tests.nn.module_cases import run


def test_softmax_along_a_dim(lib):
    x = lib.log(lib.tensor([[1.0, 3.0], [2.0, 8.0]], dtype=lib.float64))
    rows, columns = [0.25, 0.75, 0.2, 0.8], [1 / 3, 3 / 11, 2 / 3, 8 / 11]
    assert lib.nn.Softmax(dim=1)(x).flatten().tolist() == pytest.approx(rows, rel=1e-12)
    assert lib.nn.Softmax(0)(x).flatten().tolist() == pytest.approx(columns, rel=1e-12)
    logs = [math.log(r) for r in rows]
    assert lib.nn.LogSoftmax(dim=-1)(x).flatten().tolist() == pytest.approx(logs, rel=1e-12)


def test_softmax_gradients(lib):
    x = lib.log(lib.tensor([1.0, 3.0], dtype=lib.float64)).requires_grad_()
    g = lib.tensor([1.0, 0.0], dtype=lib.float64)
    assert lib.autograd.grad(lib.nn.Softmax(0)(x), x, g)[0].tolist() == pytest.approx([3 / 16, -3 / 16], rel=1e-12)
    assert lib.autograd.grad(lib.nn.LogSoftmax(0)(x), x, g)[0].tolist() == pytest.approx([0.75, -0.75], rel=1e-12)


def test_softmax_reprs_and_kinds(lib):
    assert repr(lib.nn.Softmax(dim=1)) == "Softmax(dim=1)"
    assert repr(lib.nn.LogSoftmax()) == "LogSoftmax(dim=None)"
    assert not isinstance(lib.nn.LogSoftmax(), lib.nn.Softmax)


def test_softmax_without_a_dim_warns(lib):
    with pytest.warns(UserWarning, match="^Implicit dimension choice for softmax has been deprecated"):
        assert lib.nn.Softmax()(lib.zeros(1, 2)).tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("name", ["Softmax", "Softmin", "Softmax2d", "LogSoftmax"])
def test_every_case_of_torch(torch, name):
    run(torch, f"nn.{name}")


def test_softmin(lib):
    assert lib.nn.Softmin(dim=0)(lib.tensor([0.0, math.log(3.0)])).tolist() == pytest.approx([0.75, 0.25])


def test_channels(lib):
    m = lib.nn.Softmax2d()
    assert repr(m) == "Softmax2d()"
    assert m(lib.zeros(1, 4, 2, 3)).sum(1).tolist() == [[[1.0] * 3] * 2]
    assert m(lib.zeros(4, 2, 3))[0].tolist() == [[0.25] * 3] * 2
    with pytest.raises(ValueError, match="Softmax2d: expected input to be 3D or 4D, got 2D instead"):
        m(lib.zeros(2, 3))

"""Transforms of each number: inverses, slopes, PyTorch's values."""

from typing import Any

import pytest

import gradwright as gw
from gradwright import distributions as D
from tests.distributions.close import close

MADE: list[Any] = [
    lambda D, t: D.ExpTransform(), lambda D, t: D.SoftplusTransform(), lambda D, t: D.SigmoidTransform(),
    lambda D, t: D.TanhTransform(), lambda D, t: D.AffineTransform(0.3, -2.0),
    lambda D, t: D.AffineTransform(t(0.3), t([1.0, -2.0, 0.5]), event_dim=1), lambda D, t: D.PowerTransform(t(-1.5)),
    lambda D, t: D.PowerTransform(t([2.0, 0.5, 3.0])),
    lambda D, t: D.CumulativeDistributionTransform(D.Normal(t(0.3), 2.0)),
    lambda D, t: D.ComposeTransform([D.SigmoidTransform(), D.ExpTransform().inv]),
]  # fmt: skip


@pytest.mark.parametrize("make", MADE)
def test_inverses_and_volumes(make: Any) -> None:
    def t(value: Any) -> Any:
        return gw.tensor(value, dtype=gw.float64)

    it = make(D, t)
    x = t([0.3, 1.2, 0.7]).requires_grad_()
    y = it(x)
    close(it.inv(y), x, 1e-9)
    (slope,) = gw.autograd.grad(y.sum(), x, create_graph=True)
    change = it.log_abs_det_jacobian(x, y)
    close(change, slope.abs().log().sum(-1) if it.domain.event_dim else slope.abs().log(), 1e-8)
    assert (gw.as_tensor(it.sign) * slope > 0).all()
    assert it.forward_shape((3,)) == it.inverse_shape((3,)) == (3,)


@pytest.mark.parametrize("make", MADE)
def test_pytorchs_values(make: Any, torch: Any) -> None:
    found = []
    for T, module in ((torch, torch.distributions), (gw, D)):
        it = make(module, lambda value, T=T: T.tensor(value, dtype=T.float64))
        x = T.tensor([0.3, 1.2, 0.7], dtype=T.float64)
        y = it(x)
        found.append([y, it.log_abs_det_jacobian(x, y), it.inv(y)])
        assert it.domain.event_dim == it.codomain.event_dim == y.ndim - found[-1][1].ndim
    for theirs, mine in zip(*found, strict=True):
        assert mine.tolist() == pytest.approx(theirs.tolist(), rel=1e-9)


def test_far_ends() -> None:
    x = gw.tensor([-200.0, 200.0])
    assert D.SigmoidTransform().inv(D.SigmoidTransform()(x)).isfinite().all()
    assert D.TanhTransform().log_abs_det_jacobian(x, x).isfinite().all()
    assert D.SoftplusTransform()(x)[1].item() == 200


def test_absolute_values() -> None:
    a = D.AbsTransform()
    assert a(gw.tensor([-1.0, 2.0])).tolist() == [1, 2]
    assert a.inv(gw.tensor(1.0)).item() == 1
    assert not a.bijective


def test_which_are_equal() -> None:
    assert D.AffineTransform(0, 1) == D.AffineTransform(0.0, gw.ones(2))
    assert D.AffineTransform(0, 1) != D.AffineTransform(0, 2)
    assert D.AffineTransform(0, 1) != D.ExpTransform()
    assert D.PowerTransform(2) == D.PowerTransform(gw.tensor(2))
    assert D.PowerTransform(2) != D.PowerTransform(3)
    assert D.AffineTransform(gw.zeros(2, 1), 1).forward_shape((3,)) == (2, 3)

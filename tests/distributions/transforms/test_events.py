"""Transforms of vectors and matrices: inverses, volumes by Jacobians, PyTorch's values."""

from typing import Any

import pytest

import gradwright as gw
from gradwright import distributions as D
from tests.distributions.close import close

gw_float64 = gw.float64
VECTORS = ["SoftmaxTransform", "StickBreakingTransform", "CorrCholeskyTransform"]
MATRICES = ["LowerCholeskyTransform", "PositiveDefiniteTransform"]


@pytest.mark.parametrize("name", VECTORS + MATRICES)
def test_pytorchs_values_and_gradients(name: str, torch: Any) -> None:
    found = []
    gw.manual_seed(0)
    data = gw.randn(2, 6, dtype=gw_float64) if name in VECTORS else gw.randn(2, 3, 3, dtype=gw_float64)
    for T, module in ((torch, torch.distributions), (gw, D)):
        it, x = getattr(module, name)(), T.tensor(data.tolist(), dtype=T.float64, requires_grad=True)
        y = it(x)
        out = [y, *T.autograd.grad((y**2).sum(), x, retain_graph=True), it.inv(y)]
        out += [it.log_abs_det_jacobian(x, y)] if it.bijective else []
        found.append(out)
        assert tuple(it.forward_shape(x.shape)) == tuple(y.shape)
        assert tuple(it.inverse_shape(y.shape)) == tuple(x.shape)
    for theirs, mine in zip(*found, strict=True):
        assert mine.flatten().tolist() == pytest.approx(theirs.flatten().tolist(), rel=1e-8, abs=1e-12)


def test_the_volume_of_broken_sticks() -> None:
    t, x = D.StickBreakingTransform(), gw.tensor([0.3, -0.5, 1.1], dtype=gw_float64)
    y = t(x)
    jacobian = gw.func.jacrev(lambda x: t(x)[:-1])(x)
    close(t.log_abs_det_jacobian(x, y), gw.linalg.slogdet(jacobian).logabsdet)
    close(t.inv(y), x)


def test_the_volume_of_correlations() -> None:
    t, x = D.CorrCholeskyTransform(), gw.tensor([0.3, -0.5, 1.1], dtype=gw_float64)
    y = t(x)
    jacobian = gw.func.jacrev(lambda x: t(x)[gw.tensor([1, 2, 2]), gw.tensor([0, 0, 1])])(x)
    close(t.log_abs_det_jacobian(x, y), gw.linalg.slogdet(jacobian).logabsdet)
    close(t.inv(y), x, 1e-8)


def test_other_shapes() -> None:
    r = D.ReshapeTransform((2, 3), (6,))
    x = gw.arange(12.0).reshape(2, 2, 3)
    assert r(x).shape == (2, 6)
    close(r.inv(r(x)), x)
    assert r.log_abs_det_jacobian(x, r(x)).tolist() == [0, 0]
    assert r.forward_shape((5, 2, 3)) == (5, 6)
    assert (r.domain.event_dim, r.codomain.event_dim) == (2, 1)
    with pytest.raises(ValueError, match="Shape mismatch: expected"):
        r.forward_shape((3, 2))
    with pytest.raises(ValueError, match="different numbers of elements"):
        D.ReshapeTransform((2,), (3,))


def test_what_is_refused() -> None:
    for t in (D.SoftmaxTransform(), D.StickBreakingTransform(), D.CorrCholeskyTransform()):
        with pytest.raises(ValueError, match="Too few dimensions on input"):
            t.forward_shape(())
    with pytest.raises(ValueError, match="Input is not a flattened lower-diagonal number"):
        D.CorrCholeskyTransform().forward_shape((4,))
    with pytest.raises(ValueError, match="Input is not square"):
        D.CorrCholeskyTransform().inverse_shape((3, 4))

"""Derivatives of functions of another library's arrays, checked as those of NumPy's are."""

import array_api_strict
import numpy as np
import pytest

import gradwright
from gradwright.backends import strict
from gradwright.verify.numeric.on_host import on_host

DEVICES = ["CPU_DEVICE", "device1"]
VALUES = np.linspace(0.5, 1.5, 4)


def leaf(values, device="CPU_DEVICE"):
    device = array_api_strict.Device(device)
    return gradwright.xp.asarray(strict.namespace.asarray(values, device=device)).requires_grad_()


class Cube(gradwright.autograd.Function):
    factor = 3.0

    @staticmethod
    def forward(ctx, x):
        assert isinstance(x.array, type(strict.namespace.empty(0)))
        ctx.save_for_backward(x)
        return x * x * x

    @classmethod
    def backward(cls, ctx, g):
        (x,) = ctx.saved_tensors
        return cls.factor * x * x * g


class Wrong(Cube):
    factor = 2.0


@pytest.mark.parametrize("device", DEVICES)
def test_right_derivatives(device):
    x = leaf(VALUES, device)
    assert gradwright.autograd.gradcheck(Cube.apply, x)
    assert gradwright.autograd.gradcheck(Cube.apply, x, fast_mode=True)
    assert gradwright.autograd.gradgradcheck(Cube.apply, x)
    assert gradwright.autograd.gradgradcheck(Cube.apply, x, leaf(VALUES, device))
    assert gradwright.autograd.diagnose(Cube, x, order=2).verdict.name == "VERIFIED"
    assert x.array.device == array_api_strict.Device(device)
    np.testing.assert_array_equal(x.detach().cpu().numpy(), VALUES)


@pytest.mark.parametrize("device", DEVICES)
def test_wrong_ones(device):
    x = leaf(VALUES, device)
    with pytest.raises(gradwright.GradcheckError, match=r"(?s)Jacobian mismatch.*/ d x\[3\]: analytical 4\.5, numeri"):
        gradwright.autograd.gradcheck(Wrong.apply, x)
    found = gradwright.autograd.diagnose(Wrong, x)
    assert found.verdict.name == "WRONG"
    assert "0.666667 times" in found.hypotheses[0].sentence


def test_containers_and_what_is_on_the_host_already():
    x, y = leaf(VALUES), gradwright.tensor(VALUES, requires_grad=True)
    hosted, (pair, same, flag) = on_host(lambda pair, y, flag: {"sum": pair[0] * y.to(pair[0]), "y": y}, ([x], y, True))
    assert isinstance(pair[0].array, np.ndarray)
    assert same is y
    assert flag is True
    out = hosted(pair, same, flag)
    np.testing.assert_allclose(out["sum"].array, VALUES**2)
    assert out["y"] is y
    f = lambda y: y
    assert on_host(f, (y,)) == (f, (y,))

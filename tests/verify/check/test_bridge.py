"""PyTorch's Functions as gradwright's: values and derivatives of every order are PyTorch's."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import diagnose
from gradwright.verify.check.bridge import bridged


@pytest.fixture
def sinh(torch):
    class Sinh(torch.autograd.Function):
        """PyTorch takes ctx.e for a constant in the second derivative."""

        @staticmethod
        def forward(ctx, x, factor):
            ctx.e = x.exp()
            ctx.factor = factor
            return (ctx.e - 1 / ctx.e) / 2 * factor

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor * (ctx.e + 1 / ctx.e) / 2, None

    return Sinh


@pytest.fixture
def cube(torch):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(x, n):
            return x**3 * n, x * n, x.argmax()

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.n = inputs
            ctx.save_for_backward(x)
            ctx.mark_non_differentiable(output[2])

        @staticmethod
        def backward(ctx, g, h, _):
            (x,) = ctx.saved_tensors
            return g * 3 * x**2 * ctx.n + h * ctx.n, None

    return Cube


def x():
    return gw.tensor([0.3, -0.7, 1.2], dtype=gw.float64, requires_grad=True)


def test_any_order(torch, cube):
    t = x()
    y = bridged(cube, torch).apply(t, 2.0)[0]
    for slope in (6 * t.detach() ** 2, 12 * t.detach(), 12 + 0 * t.detach()):
        (y,) = gw.autograd.grad(y.sum(), t, create_graph=True)
        np.testing.assert_allclose(y.detach().numpy(), slope.numpy(), rtol=1e-14)


def test_outputs(torch, cube):
    y, z, index = bridged(cube, torch).apply(x(), 2.0)
    assert (y.requires_grad, z.requires_grad, index.requires_grad) == (True, True, False)
    assert index.item() == 2


def test_right_ones_are_verified(torch, cube):
    for order in (1, 2):
        assert diagnose(bridged(cube, torch), (x(), 2.0), order=order).verdict == "VERIFIED"


def test_what_pytorch_gets_wrong_is_wrong(torch, sinh):
    bridge = bridged(sinh, torch)
    assert diagnose(bridge, (x(), 2.0)).verdict == "VERIFIED"
    second = diagnose(bridge, (x(), 2.0), order=2)
    assert second.verdict == "WRONG"
    assert "`ctx.e`" in second.hypotheses[0].sentence


def test_names_and_numbers_are_the_users(torch):
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return g, None

    d = diagnose(bridged(Scale, torch), (x(), 2.5))
    assert d.name == "Scale"
    assert "1 / `factor`" in d.hypotheses[0].sentence


def test_changed_inputs(torch):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    assert diagnose(bridged(Twice, torch, cloned=True), (x(),)).verdict == "VERIFIED"


def test_a_backward_with_numpy_is_looked_at_where_it_is_not_recorded(torch):
    """g.numpy() raises in PyTorch where g requires grad, as in a second derivative; not in a first."""

    class Sine(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            return torch.from_numpy(g.numpy() * np.cos(ctx.saved_tensors[0].detach().numpy()))

    x = gw.tensor([0.3, -1.2], dtype=gw.float64, requires_grad=True)
    assert diagnose(bridged(Sine, torch), x).verdict == "VERIFIED"

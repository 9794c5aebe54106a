"""Operations of a name, with derivatives registered afterwards: as PyTorch's."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.around import library


def double_sine(t, module, name):
    """y = scale sin x, as an operation of each library."""

    def forward(x, scale=2.0):
        return t.sin(x) * scale

    forward.__annotations__ = {"x": t.Tensor, "scale": float, "return": t.Tensor}
    op = module.custom_op(name, mutates_args=())(forward)

    def setup(ctx, inputs, output):
        x, scale = inputs
        ctx.save_for_backward(x)
        ctx.scale = scale

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.cos() * ctx.scale, None

    module.register_autograd(name, backward, setup_context=setup)
    module.register_fake(name)(lambda x, scale=2.0: t.empty_like(x))
    return op


def test_values_and_gradients_are_pytorchs(torch):
    found = []
    for t, module in ((gw, library), (torch, torch.library)):
        op = double_sine(t, module, "library_test::double_sine")
        x = t.tensor([0.5, 1.0], dtype=t.float64, requires_grad=True)
        y = op(x, scale=3.0) + op(x)
        (g,) = t.autograd.grad(y.sum(), x)
        found.append((y.detach().numpy(), g.numpy()))
    np.testing.assert_allclose(*found)


def test_without_a_derivative_a_backward_pass_says_so():
    @library.custom_op("library_test::plain", mutates_args=())
    def plain(x: gw.Tensor) -> gw.Tensor:
        return x * 2

    y = plain(gw.ones(1, requires_grad=True))
    with pytest.raises(RuntimeError, match="backward through library_test::plain but no autograd formula was"):
        y.sum().backward()
    assert repr(plain) == "<CustomOpDef(library_test::plain)>"


def test_what_writes_its_arguments_is_not_recorded():
    @library.custom_op("library_test::fill", mutates_args=("x",))
    def fill(x: gw.Tensor) -> None:
        x.fill_(1)

    x = gw.zeros(2)
    fill(x)
    assert x.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match=r"^library_test::fill: writes to x, which is not recorded"):
        fill(gw.zeros(2, requires_grad=True))


def test_keyword_only_arguments_and_kernels():
    @library.custom_op("library_test::scale", mutates_args=())
    def scale(x: gw.Tensor, *, by: float) -> gw.Tensor:
        return x * by

    @scale.register_kernel("cpu")
    def _(x, *, by):
        return x * by * 10

    def setup(ctx, inputs, keyword_only_inputs, output):
        ctx.by = keyword_only_inputs["by"]

    scale.register_autograd(lambda ctx, g: g * ctx.by * 10, setup_context=setup)
    x = gw.ones(1, requires_grad=True)
    y = scale(x, by=3.0)
    y.backward()
    assert (y.item(), x.grad.item()) == (30.0, 30.0)
    assert library.opcheck(scale, (x.detach(),), {"by": 1.0})


def test_wrong_names():
    with pytest.raises(ValueError, match=r"expected a name such as 'mylib::sin', but got 'sin'"):
        library.custom_op("sin", mutates_args=())
    with pytest.raises(ValueError, match="expected an operation made by custom_op, or the name of one, but got 'a::b'"):
        library.register_autograd("a::b", None)
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.library\.Library yet: operations are made"):
        library.Library("x", "DEF")


def test_the_names_are_pytorchs(torch):
    names = [name for name in library.__all__ if name != "CustomOpDef"]
    assert [name for name in names if not hasattr(torch.library, name)] == []

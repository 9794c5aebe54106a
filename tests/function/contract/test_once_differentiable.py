"""`once_differentiable`: a second derivative through such a backward raises, and only that."""

import pytest

import gradwright
from gradwright.function.contract.once_differentiable import once_differentiable
from tests.functions import Function, functions


@pytest.fixture
def Once(T):
    decorate = once_differentiable if T is gradwright else T.autograd.function.once_differentiable

    class Once(functions(T)):
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @decorate
        def backward(ctx, g):
            assert not T.is_grad_enabled()
            (x,) = ctx.saved_tensors
            return 3 * g * x**2

    return Once


def test_once_differentiable_once(leaf, Once):
    x = leaf([1.0, 2.0])
    Once.apply(x).sum().backward()
    assert x.grad.tolist() == [3, 12]
    assert Once.backward.__name__ == "backward"


def test_once_differentiable_twice(T, leaf, Once):
    x, v = leaf([1.0, 2.0]), leaf([1.0, 1.0])
    (g,) = T.autograd.grad(Once.apply(x), x, v, create_graph=True)
    assert g.tolist() == [3, 12]
    assert g.requires_grad
    with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was marked with "
                                           "@once_differentiable"):  # fmt: skip
        g.sum().backward()


def test_once_differentiable_is_never_silently_constant():
    # (PyTorch hands out a gradient without history if the cotangent has none, and forgets what it depends on.)
    class Once(Function):
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @once_differentiable
        def backward(ctx, g):
            return 3 * g * ctx.saved_tensors[0] ** 2

    x, v = gradwright.ones(2, requires_grad=True), gradwright.ones(2, requires_grad=True)
    for cotangent, by in ((gradwright.ones(2), x), (v, x), (v, v)):
        (g,) = gradwright.autograd.grad(Once.apply(x), x, cotangent, create_graph=True)
        with pytest.raises(RuntimeError, match="marked with @once_differentiable: OnceBackward"):
            gradwright.autograd.grad(g.sum(), by, allow_unused=True)


def test_once_differentiable_with_none(T, leaf):
    decorate = once_differentiable if T is gradwright else T.autograd.function.once_differentiable

    class F(functions(T)):
        def forward(ctx, x, k):
            return x * k

        @decorate
        def backward(ctx, g):
            return g * 2, None

    x = leaf(1.0)
    F.apply(x, 2).backward()
    F.apply(x, 2).backward(create_graph=True)
    assert x.grad.item() == 4

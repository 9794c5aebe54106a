"""Forward mode of one Function by hand, against PyTorch's forward mode and against products with backward."""

import warnings
from typing import Any

import pytest

import gradwright as gw
from gradwright.autograd import custom_op
from gradwright.function.pushforward import pushforward
from tests.functions import Function, functions


def push(T: Any, F: Any, inputs: tuple[Any, ...], tangents: tuple[Any, ...]) -> list[Any]:
    """The tangents of the outputs, as lists."""
    if T is gw:
        _, moved = pushforward(F, inputs, tangents)
    else:
        from torch.autograd import forward_ad

        with forward_ad.dual_level():
            duals = [x if t is None else forward_ad.make_dual(x, t) for x, t in zip(inputs, tangents, strict=True)]
            out = F.apply(*duals)
            moved = tuple(forward_ad.unpack_dual(o).tangent for o in (out if isinstance(out, tuple) else (out,)))
    moved = moved if isinstance(moved, tuple) else (moved,)
    return [None if t is None else t.tolist() for t in moved]


def product(T, materialize=True):
    seen = []

    class Product(functions(T)):
        def forward(ctx, x, y, k):
            ctx.set_materialize_grads(materialize)
            ctx.save_for_forward(x, y)
            ctx.k = k
            return x * y * k, x + y

        def jvp(ctx, dx, dy, dk):
            x, y = ctx.saved_tensors
            seen.append([None if t is None else t.tolist() for t in (dx, dy, dk)])
            dy = dx * 0 if dy is None else dy
            return ctx.k * (x * dy + y * dx), dx + dy

    return Product, seen


def test_tangents_are_those_of_pytorch(T):
    F, seen = product(T)
    x, y = T.tensor([1.0, 2.0]), T.tensor([3.0, 5.0])
    assert push(T, F, (x, y, 2.0), (T.ones(2), T.tensor([0.0, 1.0]), None)) == [[6.0, 14.0], [1.0, 2.0]]
    assert seen == [[[1, 1], [0, 1], None]]


@pytest.mark.parametrize("materialize", [True, False])
def test_undefined_tangents_are_zeros_or_none(T, materialize):
    F, seen = product(T, materialize)
    x, y = T.tensor([1.0]), T.tensor([3.0])
    assert push(T, F, (x, y, 2.0), (T.ones(1), None, None)) == [[6.0], [1.0]]
    assert seen == [[[1.0], [0.0] if materialize else None, None]]


def test_saved_tensors_are_those_for_forward(T):
    class F(functions(T)):
        def forward(x):
            return x * 2

        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)
            ctx.save_for_forward(*inputs)

        def jvp(ctx, dx):
            (x,) = ctx.saved_tensors
            return dx * x

    assert push(T, F, (T.tensor([5.0]),), (T.ones(1),)) == [[5.0]]


def test_what_is_saved_for_backward_alone_is_not_there(T):
    seen = []

    class F(functions(T)):
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        def jvp(ctx, dx):
            seen.append(ctx.saved_tensors)
            return dx * 2

    push(T, F, (T.ones(1),), (T.ones(1),))
    assert seen == [()]


def returning(T, value):
    class F(functions(T)):
        def forward(ctx, x):
            return x * 2

        def jvp(ctx, dx):
            return value(dx)

    return F


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda dx: (dx, dx), r"jvp returned an invalid number of forward gradients \(expected 1 but got 2\)"),
        (lambda dx: dx.sum(), r"Tensor is of size \[2\] while the given forward gradient is of size \[\]"),
        (lambda dx: 3.0, r"expected Variable or None \(got float\) for grad output 0"),
    ],
)
def test_wrong_tangents_are_errors(T, value, message):
    with pytest.raises(RuntimeError, match=message):
        push(T, returning(T, value), (T.ones(2),), (T.ones(2),))


def test_no_jvp_is_an_error(T):
    class F(functions(T)):
        def forward(ctx, x):
            return x * 2

    with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        push(T, F, (T.ones(1),), (T.ones(1),))


def test_outputs_without_derivative_have_no_tangent(T):
    class F(functions(T)):
        def forward(ctx, x):
            values, order = x.sort()
            sign = x.sign()
            ctx.mark_non_differentiable(order, sign)
            ctx.save_for_forward(order)
            return values, order, sign

        def jvp(ctx, dx):
            (order,) = ctx.saved_tensors
            return dx.gather(0, order), None, None

    found = push(T, F, (T.tensor([2.0, 1.0]),), (T.tensor([5.0, 7.0]),))
    assert found == [[7.0, 5.0], None, None]


def test_a_tangent_of_an_output_without_derivative_is_an_error(T):
    class F(functions(T)):
        def forward(ctx, x):
            sign = x.sign()
            ctx.mark_non_differentiable(sign)
            return x * 1, sign

        def jvp(ctx, dx):
            return dx, dx

    with pytest.raises(RuntimeError, match=r"at position 1, but +the corresponding forward output is not"):
        push(T, F, (T.ones(1),), (T.ones(1),))


def test_containers_move_in_their_shape():
    class F(Function):
        def forward(ctx, pair, k):
            ctx.save_for_forward(*pair)
            assert ctx.needs_input_grad == ([False, False], False)
            return {"product": pair[0] * pair[1] * k}

        def jvp(ctx, moved, k):
            a, b = ctx.saved_tensors
            return {"product": 2 * (a * moved[1] + b * moved[0])}

    a, b = gw.tensor(3.0), gw.tensor(4.0)
    out, moved = pushforward(F, ([a, b], 2), ([gw.tensor(1.0), None], None))
    assert out["product"].item() == 24
    assert moved["product"].item() == 8
    with pytest.raises(ValueError, match=r"expected 2 values for inputs\[0\]"):
        pushforward(F, ([a, b], 2), ([a], None))


def test_jvp_can_itself_be_differentiated():
    class Cube(Function):
        def forward(ctx, x):
            ctx.save_for_forward(x)
            return x**3

        def jvp(ctx, dx):
            (x,) = ctx.saved_tensors
            return 3 * x * x * dx

    x = gw.tensor(2.0, requires_grad=True)
    _, moved = pushforward(Cube, x, gw.tensor(1.0))
    moved.backward()
    assert x.grad.item() == 12


def test_it_works_for_a_custom_op():
    @custom_op
    def scaled(x: gw.Tensor, *, factor: float = 2.0) -> gw.Tensor:
        return x * factor

    scaled.jvp(x=lambda xp, t, factor: t * factor)
    assert pushforward(scaled, (gw.ones(1), 3.0), (gw.ones(1), None))[1].item() == 3


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def test_what_is_kept_for_jvp_are_tensors(T, leaf):
    class Keeps(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x, 1)
            return x * 2

    with pytest.raises(AssertionError, match="save_for_forward expects all arguments to be tensors"):
        Keeps.apply(leaf([1.0]))

"""The contract of `Function`: what forward may return. What it declares: test_function_declarations.py."""

import numpy as np
import pytest

import gradwright
from tests.functions import functions

# ---- outputs ---------------------------------------------------------------------------------------------


@pytest.fixture
def Parts(T):
    class Parts(functions(T)):
        seen = []

        def forward(ctx, x, materialize=True):
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        def backward(ctx, g, h):
            Parts.seen.append([None if t is None else t.tolist() for t in (g, h)])
            g = 0 if g is None else g * 2
            h = 0 if h is None else h * 3
            return g + h, None

    return Parts


def test_several_outputs(T, leaf, Parts):
    x = leaf([1.0, 2.0])
    out = Parts.apply(x)
    assert type(out) is tuple
    a, b = out
    assert a.grad_fn is b.grad_fn
    assert (a.output_nr, b.output_nr) == (0, 1)
    assert (a * b).grad_fn.next_functions == ((a.grad_fn, 0), (a.grad_fn, 1))
    (a + 10 * b).sum().backward()
    assert x.grad.tolist() == [32, 32]
    assert Parts.seen == [[[1, 1], [10, 10]]]


def test_outputs_that_no_gradient_reached_get_zeros(leaf, Parts):
    x = leaf([1.0, 2.0])
    Parts.apply(x)[1].sum().backward()
    assert Parts.seen == [[[0, 0], [1, 1]]]
    assert x.grad.tolist() == [3, 3]


def test_or_none(leaf, Parts):
    x = leaf([1.0, 2.0])
    Parts.apply(x, False)[0].sum().backward()
    assert Parts.seen == [[[1, 1], None]]
    assert x.grad.tolist() == [2, 2]


def test_second_derivatives_of_several_outputs(T, leaf):
    class SinCos(functions(T)):
        def forward(ctx, x):
            s, c = x.sin(), x.cos()
            ctx.save_for_backward(s, c)
            return s, c

        def backward(ctx, gs, gc):
            s, c = ctx.saved_tensors
            return gs * c - gc * s

    x = leaf(0.7)
    s, c = SinCos.apply(x)
    (g,) = T.autograd.grad(s * c, x, create_graph=True)
    (h,) = T.autograd.grad(g, x, create_graph=True)
    assert g.item() == pytest.approx(T.cos(2 * x).item(), rel=1e-14)
    assert h.item() == pytest.approx((-2 * T.sin(2 * x)).item(), rel=1e-14)


def test_one_output_in_a_tuple(T, leaf):
    class F(functions(T)):
        def forward(ctx, x):
            return (x * 2,)

        def backward(ctx, g):
            return (g * 2,)

    x = leaf(1.0)
    out = F.apply(x)
    assert type(out) is tuple
    out[0].backward()
    assert x.grad.item() == 2


def test_outputs_that_are_no_tensors(T, leaf):
    class F(functions(T)):
        def forward(ctx, x):
            return x * 2, "text", None, 3

        def backward(ctx, g, *rest):
            assert rest == (None, None, None)
            return g * 2

    x = leaf(1.0)
    y, *rest = F.apply(x)
    assert rest == ["text", None, 3]
    y.backward()
    assert x.grad.item() == 2


def test_tensors_in_a_list_are_outputs_though_not_in_pytorch(T, leaf):
    class F(functions(T)):
        def forward(ctx, x):
            return [x * 2, x * 3]

        def backward(ctx, grads):
            return 2 * grads[0] + 3 * grads[1]

    out = F.apply(leaf(1.0))
    assert type(out) is list
    assert [t.requires_grad for t in out] == [T is gradwright] * 2


def test_integer_outputs_do_not_require_grad(T, leaf):
    class Sort(functions(T)):
        def forward(ctx, x):
            values, order = x.sort()
            ctx.save_for_backward(order)
            return values, order

        def backward(ctx, g, order_grad):
            (order,) = ctx.saved_tensors
            return T.zeros(3, dtype=g.dtype).scatter_add(0, order, g)

    x = leaf([3.0, 1.0, 2.0])
    values, order = Sort.apply(x)
    assert values.requires_grad
    assert not order.requires_grad
    (values * T.tensor([1.0, 10.0, 100.0], dtype=T.float64)).sum().backward()
    assert x.grad.tolist() == [100, 1, 10]


def test_mark_non_differentiable(T, leaf):
    class F(functions(T)):
        def forward(ctx, x):
            a, b = x * 2, x * 3
            ctx.mark_non_differentiable(b)
            return a, b

        def backward(ctx, g, h):
            assert h.tolist() == [0, 0]
            return g * 2

    x = leaf([1.0, 2.0])
    a, b = F.apply(x)
    assert a.requires_grad
    assert not b.requires_grad
    a.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_an_input_returned_as_it_is(T, leaf):
    class Identity(functions(T)):
        def forward(ctx, x):
            return x

        def backward(ctx, g):
            return g * 10

    x = leaf([1.0, 2.0])
    y = Identity.apply(x)
    assert y is not x
    assert y._is_view()
    assert type(y.grad_fn).__name__ == "IdentityBackward"
    assert x.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [10, 10]
    assert not Identity.apply(T.ones(2)).requires_grad


def test_an_input_returned_among_others(T, leaf):
    class F(functions(T)):
        def forward(ctx, x, y):
            return x, y * 2

        def backward(ctx, g, h):
            return g * 10, h * 2

    x, y = leaf(1.0), leaf(2.0)
    a, b = F.apply(x, y)
    (a + b).backward()
    assert (x.grad.item(), y.grad.item()) == (10, 2)


VIEW = (
    r"Output 0 of F is a view and is being modified inplace. This view was created inside a custom Function \(or "
    r"because an input was returned as-is\) and the autograd logic to handle view\+inplace would override the custom"
)


@pytest.mark.parametrize("make", [lambda x: x, lambda x: x[:1], lambda x: x.view(-1)])
def test_a_view_that_a_function_made_must_not_be_written(T, leaf, make):
    class F(functions(T)):
        def forward(ctx, x):
            return make(x)

        def backward(ctx, g):
            return T.zeros(2, dtype=g.dtype) + g.sum()

    x = leaf([1.0, 2.0])
    y = F.apply(x * 1)
    with pytest.raises(RuntimeError, match=VIEW):
        y.mul_(2)
    assert y._version == 0


def test_an_output_may_be_changed_in_place(T, leaf):
    class Double(functions(T)):
        def forward(ctx, x):
            return x * 2

        def backward(ctx, g):
            return g * 2

    x = leaf([1.0, 2.0])
    y = Double.apply(x)
    y.mul_(5)
    y[0] = 0.0
    y.sum().backward()
    assert x.grad.tolist() == [0, 10]


def test_functions_in_functions(T, leaf):
    class Inner(functions(T)):
        def forward(ctx, x):
            return x * 2

        def backward(ctx, g):
            return g * 2

    class Outer(functions(T)):
        def forward(ctx, x):
            with T.enable_grad():
                u = x.detach().requires_grad_()
                ctx.out = Inner.apply(u)
                ctx.u = u
            return ctx.out.detach()

        def backward(ctx, g):
            return T.autograd.grad(ctx.out, ctx.u, g)[0]

    x = leaf([1.0, 2.0])
    Outer.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_function_that_raises_in_forward_leaves_no_mode_behind(T, leaf):
    class Fails(functions(T)):
        def forward(ctx, x):
            raise KeyError("in forward")

    with pytest.raises(KeyError, match="in forward"):
        Fails.apply(leaf(1.0))
    assert T.is_grad_enabled()


# ---- arrays ------------------------------------------------------------------------------------------------------


def returning(make):
    return type("Returns", (gradwright.autograd.Function,), {
        "forward": staticmethod(lambda ctx, x: make(x)), "backward": staticmethod(lambda ctx, *g: g[0] * 2),
    })  # fmt: skip


@pytest.mark.parametrize("make", [
    lambda x: x.numpy() * 2, lambda x: x.numpy().sum(), lambda x: np.float64(2.0), lambda x: (x.numpy(), 3),
    lambda x: {"y": x.numpy()},
])  # fmt: skip
def test_an_array_is_no_output(make):
    with pytest.raises(TypeError, match=r"Returns: forward returned a NumPy (ndarray|float)") as error:
        returning(make).apply(gradwright.ones(2, requires_grad=True))
    assert f"forward is at {__file__}" in str(error.value)
    returning(make).apply(gradwright.ones(2))  # where no gradient is asked for


@pytest.mark.parametrize("make", [lambda x: (x * 2, x.numpy().sum()), lambda x: {"y": x * 2, "n": x.numpy()}])
def test_an_array_beside_an_output_is_warned_of(make):
    x = gradwright.ones(2, requires_grad=True)
    with pytest.warns(gradwright.GradientWarning, match="through which no gradient flows"):
        returning(make).apply(x)
    with gradwright.autograd.strict(True), pytest.raises(RuntimeError, match=r"Return gradwright\.from_numpy"):
        returning(make).apply(x)


@pytest.mark.parametrize("make", [lambda x: (x * 2, 3.0), lambda x: (x * 2, x.argmax().numpy()), lambda x: None])
def test_numbers_and_whole_numbers_may_be_returned(make):
    with gradwright.autograd.strict(True):
        returning(make).apply(gradwright.ones(2, requires_grad=True))

"""`custom_op`: operations made of typed functions. The truth is gradwright's own operations and finite differences."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import Tensor, custom_op
from gradwright.autograd import gradcheck, gradgradcheck
from gradwright.function.contract.surrogate import surrogate
from gradwright.function.pushforward import pushforward
from tests.functions import leaf


@custom_op
def scaled(x: Tensor, *, factor: float = 2.0) -> Tensor:
    """X times a factor."""
    return gw.from_numpy(x.numpy() * factor)


scaled.vjp(x=lambda xp, g, factor: g * factor)


@custom_op
def product(x: Tensor, y: Tensor, power: int = 1) -> Tensor:
    return gw.from_numpy(x.numpy() ** power * y.numpy())


product.vjp(
    x=lambda xp, g, x, y, power: g * power * x ** (power - 1) * y,
    y=lambda xp, g, x, power: g * x**power,
)


@custom_op
def tanh(x: Tensor) -> Tensor:
    return gw.from_numpy(np.tanh(x.numpy()))


tanh.vjp(x=lambda xp, g, out: g * (1 - out * out)).jvp(x=lambda xp, t, out: t * (1 - out * out))


def test_it_is_the_function_that_it_was_made_of():
    assert scaled.__name__ == scaled.name == "scaled"
    assert scaled.__doc__ == "X times a factor."
    assert scaled.__module__ == __name__
    assert str(inspect.signature(scaled)) == "(x: 'Tensor', *, factor: 'float' = 2.0) -> 'Tensor'"
    assert repr(scaled).startswith("<custom_op scaled(x: ")
    assert scaled.inputs == ("x", "factor")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: scaled(x), 2.0),
        (lambda x: scaled(x, factor=3.0), 3.0),
        (lambda x: scaled(x=x, factor=4.0), 4.0),
        (lambda x: product(x, gw.ones(1), 2), 6.0),
        (lambda x: product(y=gw.ones(1), x=x), 1.0),
    ],
)
def test_arguments_are_bound_as_the_signature_says(call, expected):
    x = leaf(3.0)
    call(x).backward()
    assert x.grad.tolist() == [expected]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: scaled(x, 3.0), r"scaled\(\): too many positional arguments"),
        (lambda x: scaled(factor=1.0), r"scaled\(\): missing a required argument: 'x'"),
        (lambda x: scaled(x, k=1.0), r"scaled\(\): got an unexpected keyword argument 'k'"),
        (lambda x: scaled(x, x=x), r"scaled\(\): multiple values for argument 'x'"),
    ],
)
def test_other_arguments_are_errors(call, message):
    with pytest.raises(TypeError, match=message):
        call(leaf(1.0))


@pytest.mark.parametrize(
    ("f", "inputs"),
    [
        (scaled, (leaf(1.0, -2.0),)),
        (product, (leaf(1.0, -2.0), leaf(0.5, 3.0))),
        (lambda x, y: product(x, y, power=3), (leaf(1.0, -2.0), leaf(0.5, 3.0))),
        (tanh, (leaf(0.3, -1.0),)),
    ],
)
def test_one_formula_is_right_to_both_orders(f, inputs):
    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs)


def test_the_third_order_is_right_too():
    x = leaf(0.3)
    g = tanh(x)
    true = x.tanh()
    for _ in range(3):
        (g,) = gw.autograd.grad(g, x, create_graph=True)
        (true,) = gw.autograd.grad(true, x, create_graph=True)
    assert g.item() == pytest.approx(true.item(), rel=1e-12)


def test_the_node_is_named_after_it():
    y = tanh(leaf(1.0))
    assert y.grad_fn.name() == "tanhBackward"
    assert not tanh(gw.ones(1)).requires_grad


def test_only_what_is_named_for_needed_inputs_is_saved():
    x, y = leaf(1.0), leaf(2.0)
    assert len(product(x, y).grad_fn.saved_tensors) == 2
    assert len(product(x.detach(), y).grad_fn.saved_tensors) == 1
    assert scaled(x).grad_fn.saved_tensors == ()
    assert tanh(x).grad_fn.saved_tensors[0].grad_fn.name() == "tanhBackward"


@pytest.mark.parametrize("call", [scaled, tanh, lambda x: product(x, x)])
def test_its_ctx_has_no_attributes_to_look_after(call):
    assert vars(call(leaf(1.0, 2.0)).grad_fn) == {}


def test_only_what_is_needed_is_computed():
    ran = []
    op = custom_op(lambda x, y: x * y)
    op.vjp(x=lambda xp, g, y: (ran.append("x"), g * y)[1], y=lambda xp, g, x: (ran.append("y"), g * x)[1])
    op(gw.ones(1), leaf(1.0)).backward()
    assert ran == ["y"]


def test_an_ordinary_pass_computes_on_arrays_and_a_recorded_one_on_tensors():
    seen = []
    op = custom_op(lambda x: x * x)
    op.vjp(x=lambda xp, g, x: (seen.append((type(g), type(x), hasattr(xp, "ndarray"))), 2 * g * x)[1])
    x = leaf(3.0)
    op(x).backward()
    gw.autograd.grad(op(x), x, create_graph=True)
    assert seen == [(np.ndarray, np.ndarray, True), (gw.Tensor, gw.Tensor, False)] or seen[0][0] is np.ndarray
    assert seen[1][:2] == (gw.Tensor, gw.Tensor)


def test_a_saved_value_changed_in_place_is_an_error():
    x = leaf(1.0)
    y = x * 1
    out = product(y, leaf(1.0))
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


# ---- several outputs, containers, shapes -----------------------------------------------------------------


@custom_op
def moments(x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    return x.sum(), {"second": (x * x).sum(), "n": 3}


moments.vjp(x=lambda xp, g, x: g[0] + 2 * x * g[1]["second"])


def test_cotangents_are_shaped_as_the_result():
    def f(x):
        total, rest = moments(x)
        assert rest["n"] == 3
        return total, rest["second"]

    assert gradcheck(f, leaf(1.0, 2.0))
    assert gradgradcheck(f, leaf(1.0, 2.0))


@custom_op
def combined(*xs: Tensor, weights: dict[str, Tensor], **more: Tensor) -> Tensor:
    return sum(x * weights["w"] for x in xs) + more.get("shift", 0)


combined.vjp(
    xs=lambda xp, g, xs, weights: [g * weights["w"] for _ in xs],
    weights=lambda xp, g, xs: {"w": sum(g * x for x in xs)},
    more=lambda xp, g: {"shift": g},
)


def test_containers_and_any_number_of_arguments():
    inputs = [leaf(1.0, 2.0), leaf(3.0, -1.0), leaf(0.5, 2.0), leaf(1.0, 1.0)]
    f = lambda a, b, w, s: combined(a, b, weights={"w": w, "name": "w"}, shift=s)
    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs)
    a = leaf(1.0)
    combined(a, weights={"w": gw.ones(1)}).backward()
    assert a.grad.tolist() == [1.0]


def test_an_elementwise_operation_sums_back():
    @custom_op(kind="elementwise")
    def times(x: Tensor, y: Tensor) -> Tensor:
        return gw.from_numpy(x.numpy() * y.numpy())

    times.vjp(x=lambda xp, g, y: g * y, y=lambda xp, g, x: g * x)
    x = gw.ones(2, 1, dtype=gw.float64, requires_grad=True)
    assert gradcheck(times, (x, leaf(1.0, 2.0, 3.0)))
    assert gradgradcheck(times, (x, leaf(1.0, 2.0, 3.0)))


def test_a_missing_sum_points_at_the_formula():
    @custom_op
    def shifted(x: Tensor, bias: Tensor, pair: Any = ()) -> Tensor:
        return gw.from_numpy(x.numpy() + bias.numpy())

    shifted.vjp(x=lambda xp, g: g, pair=None,
                bias=lambda xp, g: g)  # fmt: skip
    line = inspect.currentframe().f_lineno - 1
    with pytest.warns(gw.GradientWarning, match=r"shape \[2, 3\] for input 1 \('bias'\) of shape \[3\]") as caught:
        shifted(leaf(1.0) * gw.ones(2, 3), leaf(1.0, 2.0, 3.0)).sum().backward()
    said = str(caught[0].message)
    assert f"backward is at {__file__}:{line}, in test_a_missing" in said
    assert said.endswith('sum it down to [3] in that formula, or declare custom_op(kind="elementwise"), which does so.')

    @shifted.vjp
    def together(xp, g):
        return {"x": g, "bias": g}

    del shifted.rules["bias"]
    with pytest.warns(gw.GradientWarning, match=f"backward is at {__file__}:\\d+, in .*together"):
        shifted(leaf(1.0) * gw.ones(2, 3), leaf(1.0, 2.0, 3.0)).sum().backward()


def test_shapes_can_be_named():
    op = custom_op(lambda x, ys: x.sum() + ys[0].sum())
    op.vjp(x=lambda xp, g, x_shape: xp.broadcast_to(g, x_shape), ys=lambda xp, g, ys_shape: [xp.ones(ys_shape[0]) * g])
    x, y = leaf(1.0, 2.0), leaf(1.0, 2.0, 3.0)
    op(x, [y]).backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([1, 1], [1, 1, 1])


# ---- one function for all inputs, no gradient, forward mode -----------------------------------------------


def test_one_function_may_give_all_gradients():
    @custom_op
    def norm(x: Tensor, y: Tensor, k: float = 1.0) -> Tensor:
        return (x * x + y * y).sqrt() * k

    @norm.vjp
    def _(xp, g, x, y, out, k, needs_input_grad):
        assert not needs_input_grad["k"]
        h = g * k * k / out
        return {"x": h * x if needs_input_grad["x"] else None, "y": h * y}

    assert gradcheck(norm, (leaf(3.0), leaf(4.0), 2.0))
    assert gradgradcheck(norm, (leaf(3.0), leaf(4.0), 2.0))
    y = leaf(4.0)
    norm(gw.tensor([3.0], dtype=gw.float64), y).backward()
    assert y.grad.item() == pytest.approx(0.8)


def test_of_one_tensor_it_may_be_that_gradient_alone():
    op = custom_op(lambda x, k: x * k)
    op.vjp(lambda xp, g, k: g * k)
    x = leaf(1.0)
    op(x, 3.0).backward()
    assert x.grad.item() == 3
    with pytest.raises(TypeError, match="the gradients of x, k are needed: return them as a dictionary by these names"):
        op(x, leaf(2.0)).backward()


def test_an_input_may_be_declared_to_have_none():
    op = custom_op(lambda x, y: x * y)
    op.vjp(x=lambda xp, g, y: g * y, y=None)
    x, y = leaf(2.0), leaf(3.0)
    op(x, y).backward()
    assert x.grad.item() == 3
    assert y.grad is None


def test_an_input_without_derivative_is_an_error():
    op = custom_op(lambda x, y: x * y)
    op.vjp(x=lambda xp, g, y: g * y)
    op(leaf(2.0), gw.ones(1)).backward()
    with pytest.raises(NotImplementedError, match="the derivative for 'y' is not implemented"):
        op(leaf(2.0), leaf(3.0)).backward()


def test_tangents_agree_with_cotangents():
    op = custom_op(lambda x, y, k: (x * y * k, x + y))
    op.jvp(x=lambda xp, t, y, k: (t * y * k, t), y=lambda xp, t, x, k: (t * x * k, t))
    x, y, dx, dy = (gw.tensor([v]) for v in (2.0, 3.0, 0.5, -1.0))
    _, moved = pushforward(op, (x, y, 2.0), (dx, dy, None))
    assert [t.item() for t in moved] == [2 * (0.5 * 3 - 2), -0.5]
    _, moved = pushforward(op, (x, y, 2.0), (None, dy, None))
    assert [t.item() for t in moved] == [-4, -1]
    _, t = pushforward(tanh, (x,), (dx,))
    z = leaf(2.0)
    tanh(z).backward()
    assert t.item() == pytest.approx(z.grad.item() * 0.5)
    with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        pushforward(scaled, (x, 2.0), (dx, None))


def test_a_surrogate_may_be_declared():
    op = custom_op(lambda x: x.round())
    op.vjp(x=surrogate("straight-through")(lambda xp, g: g))
    assert op.surrogate == "straight-through"
    assert op(leaf(0.3)).grad_fn.surrogate == "straight-through"
    other = surrogate("clipped")(custom_op(lambda x: x * 1).vjp(x=lambda xp, g: xp.clip(g, -1, 1)))
    assert other(leaf(0.3)).grad_fn.surrogate == "clipped"
    assert tanh.surrogate is None


# ---- bad declarations ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: tanh.vjp(z=lambda xp, g: g), r"tanh\.vjp: 'z' is no input; the inputs are x"),
        (lambda: tanh.vjp(x=lambda xp, g, z: g), r"tanh\.vjp\(x=...\): cannot save 'z'; known: \['out', 'x'"),
        (lambda: tanh.jvp(x=lambda xp, t, z: t), r"tanh\.jvp\(x=...\): cannot save 'z'"),
        (lambda: tanh.vjp(lambda xp, g, z: g), r"cannot save 'z'"),
        (lambda: custom_op(3), "custom_op: expected a function, but got 3"),
    ],
)
def test_bad_declarations_are_errors(declare, message):
    with pytest.raises(TypeError, match=message):
        declare()


def test_an_unknown_kind_is_an_error():
    with pytest.raises(ValueError, match="kind must be one of"):
        custom_op(kind="view")(lambda x: x)


def test_checkers_find_it():
    @custom_op(samples=[(gw.ones(1), 2.0)])
    def op(x: Tensor, k: float) -> Tensor:
        return x * k

    assert op.samples == [(gw.ones(1), 2.0)]
    assert issubclass(op.__gradwright_function__, gw.autograd.Function)
    assert list(inspect.signature(op.function.forward).parameters) == ["ctx", "x", "k"]
    assert op.function.__name__ == "op"


def test_on_arrays_it_computes_as_an_op_does():
    found = product(np.array([2.0]), np.array([3.0]), 2)
    assert type(found) is np.ndarray
    assert found.tolist() == [12.0]
    assert scaled(gw.ones(1)).tolist() == [2.0]


def test_a_derivative_may_use_operations_of_ones_own():
    op = custom_op(lambda x: gw.from_numpy(np.sinh(x.numpy())))
    other = custom_op(lambda x: gw.from_numpy(np.cosh(x.numpy())))
    op.vjp(x=lambda xp, g, x: g * other(x))
    other.vjp(x=lambda xp, g, x: g * op(x))
    assert gradcheck(op, leaf(0.3, -1.0))
    assert gradgradcheck(op, leaf(0.3, -1.0))


def test_the_tensors_it_gets_have_no_history_but_may_be_returned():
    seen = []
    op = custom_op(lambda x: (seen.append(x.requires_grad), x)[1]).vjp(x=lambda xp, g: g * 5)
    x = leaf(1.0)
    y = op(x)
    assert y._is_view()
    y.backward()
    assert seen == [False]
    assert x.grad.item() == 5


def test_an_argument_may_be_returned_in_a_container():
    op = custom_op(lambda x: [x, x * 2]).vjp(x=lambda xp, g: 10 * g[0] + 2 * g[1])
    x = leaf(1.0)
    same, double = op(x)
    assert same._is_view()
    (same + double).backward()
    assert x.grad.item() == 12


def test_a_derivative_may_be_declared_anew():
    op = custom_op(lambda x: x * 2).vjp(x=lambda xp, g: g)
    x = leaf(3.0)
    op(x).backward()
    op.vjp(x=lambda xp, g, x: g * x)
    op(x).backward()
    assert x.grad.item() == 1 + 3


def test_an_argument_changed_in_place_is_an_error():
    op = custom_op(lambda x: x.mul_(2) * 1).vjp(x=lambda xp, g: g * 2)
    with pytest.raises(RuntimeError, match="forward changed its input 'x' in place"):
        op(leaf(1.0) * 1)

"""Functions whose arguments and outputs are containers of tensors: gradients in the same shape.

The truth is the same program of gradwright's own operations, and finite differences.
"""

import weakref
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pytest

import gradwright as gw
from gradwright.autograd import diagnose, gradcheck, gradgradcheck
from gradwright.function import of_containers
from gradwright.verify.diagnosis import Verdict
from tests.functions import Function, functions, leaf

f64 = gw.float64


@dataclass
class Batch:
    x: Any
    scale: float
    mask: Any = None


class Pair(NamedTuple):
    low: Any
    high: Any


class Dot(Function):
    """Sum over k of weights[k] * batch.x ** (k + 1) * batch.scale."""

    needs: Any = None

    def forward(ctx, weights, batch, shift=0.0):
        Dot.needs = ctx.needs_input_grad
        ctx.save_for_backward(batch.x, *weights)
        ctx.scale = batch.scale
        y = shift
        for k, w in enumerate(weights):
            y = y + w * batch.x ** (k + 1) * batch.scale
        return y

    def backward(ctx, g):
        x, *weights = ctx.saved_tensors
        Dot.needs = ctx.needs_input_grad
        gw_ = [g * x ** (k + 1) * ctx.scale for k in range(len(weights))]
        gx = g * sum(w * (k + 1) * x**k * ctx.scale for k, w in enumerate(weights))
        return (gw_, {"x": gx}, None)[: len(ctx.needs_input_grad)]


def plain(weights, batch, shift=0.0):
    return sum(w * batch.x ** (k + 1) * batch.scale for k, w in enumerate(weights)) + shift


def test_gradients_come_to_what_is_in_containers():
    w1, w2, x = leaf(1.0, 2.0), leaf(3.0, -1.0), leaf(0.5, 2.0)
    got = gw.autograd.grad(Dot.apply([w1, w2], Batch(x, 2.0)).sum(), [w1, w2, x])
    true = gw.autograd.grad(plain([w1, w2], Batch(x, 2.0)).sum(), [w1, w2, x])
    for a, b in zip(got, true, strict=True):
        assert a.tolist() == pytest.approx(b.tolist())


def test_both_orders_hold():
    inputs = [leaf(1.0, 2.0), leaf(3.0, -1.0), leaf(0.5, 2.0)]
    assert gradcheck(lambda a, b, x: Dot.apply([a, b], Batch(x, 2.0)), inputs)
    assert gradgradcheck(lambda a, b, x: Dot.apply((a, b), Batch(x, 2.0), shift=1.0), inputs)


def test_checkers_look_into_containers():
    x = leaf(0.5, 2.0)
    assert gradcheck(Dot.apply, ([leaf(1.0, 2.0)], Batch(x, 2.0)))
    assert x.tolist() == [0.5, 2.0]
    found = diagnose(Dot, ([leaf(1.0, 2.0), leaf(3.0, 4.0)], Batch(x, 2.0)), order=2)
    assert found.verdict is Verdict.VERIFIED
    assert [b.input for b in diagnose(Dot, ([leaf(1.0)], Batch(leaf(2.0), 2.0))).blocks] == ["weights[0]", "batch.x"]


def test_an_intermediate_of_forward_has_its_second_derivative():
    class Sinh(Function):
        def forward(ctx, at):
            ctx.e, ctx.m = at["x"].exp(), (-at["x"]).exp()
            return [(ctx.e - ctx.m) / 2]

        def backward(ctx, g):
            return {"x": g[0] * (ctx.e + ctx.m) / 2}

    assert gradgradcheck(lambda x: Sinh.apply({"x": x})[0], leaf(0.3, -1.0))


def test_a_wrong_gradient_in_a_container_is_named():
    class F(Function):
        def forward(ctx, weights):
            return weights[0] * weights[1]

        def backward(ctx, g):
            return [g, gw.ones(5, dtype=f64)]  # of [2]

    with pytest.raises(RuntimeError, match=r"(?s)got \[5\] but expected shape compatible with \[2\].*weights\[1\]"):
        F.apply([leaf(1.0, 2.0), leaf(2.0, 3.0)]).sum().backward()


def test_a_pass_for_one_of_several_asks_for_that_alone():
    asked = []

    class F(Function):
        def forward(ctx, at):
            return at["x"] * at["y"]

        def backward(ctx, g):
            asked.append(ctx.needs_input_grad)
            return {"x": g, "y": g}

    x, y = leaf(1.0), leaf(2.0)
    gw.autograd.grad(F.apply({"x": x, "y": y}), [y])
    assert asked == [({"x": False, "y": True},)]


def test_needs_input_grad_has_the_same_shape():
    w1, w2, x = leaf(1.0), gw.tensor([2.0], dtype=f64), leaf(0.5)
    y = Dot.apply([w1, w2], Batch(x, 2.0))
    expected = ([True, False], Batch(True, False, False))
    assert Dot.needs == expected
    y.sum().backward()
    assert Dot.needs == expected
    assert y.grad_fn.needs_input_grad == expected
    assert y.grad_fn.name() == "DotBackward"
    assert [n and type(n).__name__ for n, _ in y.grad_fn.next_functions] == ["AccumulateGrad", None, "AccumulateGrad"]
    assert w2.grad is None


def test_keywords_reach_containers():
    w, x = leaf(1.0), leaf(0.5)
    Dot.apply(weights=[w], batch=Batch(x, 2.0)).backward()
    assert w.grad.tolist() == [1.0]


def test_one_tensor_twice_gets_the_sum():
    w, x = leaf(3.0), leaf(2.0)
    Dot.apply([w, w], Batch(x, 1.0)).backward()
    assert w.grad.tolist() == [6.0]


def test_setup_context_sees_containers():
    seen = []

    class F(Function):
        def forward(pair, k=3):
            return pair["a"] * pair["b"] * k

        def setup_context(ctx, inputs, output):
            seen.append((type(inputs[0]), inputs[1], ctx.needs_input_grad))
            ctx.save_for_backward(inputs[0]["a"], inputs[0]["b"])
            ctx.k = inputs[1]

        def vjp(ctx, g):
            a, b = ctx.saved_tensors
            return {"a": g * b * ctx.k, "b": g * a * ctx.k}, None

    a, b = leaf(2.0), leaf(5.0)
    F.apply({"a": a, "b": b}).backward()
    assert seen == [(dict, 3, ({"a": True, "b": True}, False))]
    assert (a.grad.item(), b.grad.item()) == (15.0, 6.0)
    assert gradgradcheck(lambda a, b: F.apply({"a": a, "b": b}, 2), (leaf(2.0), leaf(5.0)))


# ---- outputs ---------------------------------------------------------------------------------------------


class Powers(Function):
    """{1: x, 'more': [x**2, (x**3, n)]}."""

    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        return {"one": x * 1, "more": [x**2, (x**3, n)]}

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        assert set(g) == {"one", "more"}
        second, (third, none) = g["more"]
        assert none is None
        return g["one"] + 2 * x * second + 3 * x**2 * third, None


def test_outputs_in_containers_have_gradients():
    x = leaf(2.0)
    out = Powers.apply(x, 7)
    assert list(out) == ["one", "more"]
    assert out["more"][1][1] == 7
    assert all(t.requires_grad for t in (out["one"], out["more"][0], out["more"][1][0]))
    assert {t.grad_fn for t in (out["one"], out["more"][0])} == {out["more"][1][0].grad_fn}
    (out["one"] * 100 + out["more"][0] * 10 + out["more"][1][0]).backward()
    assert x.grad.item() == 100 + 40 + 12


def test_outputs_in_containers_hold_to_both_orders():
    def f(x):
        out = Powers.apply(x, 7)
        return out["one"], out["more"][0], out["more"][1][0]

    assert gradcheck(f, leaf(2.0, -1.0))
    assert gradgradcheck(f, leaf(2.0, -1.0))


def test_outputs_and_inputs_at_once():
    class F(Function):
        def forward(ctx, pair):
            ctx.save_for_backward(*pair)
            return Pair(pair.low * pair.high, [pair.low + pair.high])

        def backward(ctx, product, total):
            low, high = ctx.saved_tensors
            return Pair(product * high + total[0], product * low + total[0])

    def f(a, b):
        out = F.apply(Pair(a, b))
        assert type(out) is Pair
        return out.low, out.high[0]

    assert gradcheck(f, (leaf(2.0), leaf(3.0)))
    assert gradgradcheck(f, (leaf(2.0), leaf(3.0)))


def test_a_named_tuple_is_a_tuple_of_outputs(T):
    class F(functions(T)):
        def forward(ctx, x):
            return Pair(x * 2, x * 3)

        def backward(ctx, g, h):
            return 2 * g + 3 * h

    x = T.ones(1, requires_grad=True)
    out = F.apply(x)
    assert isinstance(out, tuple)
    (out[0] + out[1]).backward()
    assert x.grad.item() == 5
    assert type(F.apply(gw.ones(1))) is Pair or T is not gw


def test_undefined_gradients_are_zeros_or_none():
    seen = []

    class F(Function):
        def forward(ctx, x, materialize):
            ctx.set_materialize_grads(materialize)
            return [x * 2, x * 3]

        def backward(ctx, g):
            seen.append([None if t is None else t.tolist() for t in g])
            return g[0] * 2, None

    F.apply(leaf(1.0), True)[0].backward()
    F.apply(leaf(1.0), False)[0].backward()
    assert seen == [[[1.0], [0.0]], [[1.0], None]]


def test_nothing_is_recorded_without_need():
    out = Powers.apply(gw.ones(2), 1)
    assert not out["one"].requires_grad
    with gw.no_grad():
        out = Powers.apply(leaf(1.0), 1)
        assert not out["more"][0].requires_grad
        assert not Dot.apply([leaf(1.0)], Batch(leaf(1.0), 1.0)).requires_grad


def test_an_input_returned_in_a_container_is_another_tensor():
    class F(Function):
        def forward(ctx, xs):
            return [xs[0], xs[1] * 2]

        def backward(ctx, g):
            return [g[0] * 10, g[1] * 2]

    a, b = leaf(1.0), leaf(1.0)
    out = F.apply([a, b])
    assert out[0] is not a
    (out[0] + out[1]).backward()
    assert (a.grad.item(), b.grad.item()) == (10, 2)


def test_dirty_and_flat_outputs_in_containers():
    class F(Function):
        def forward(ctx, xs):
            xs[0].mul_(3)
            ctx.mark_dirty(xs[0])
            order = xs[0].detach() * 1
            ctx.mark_non_differentiable(order)
            return {"x": xs[0], "order": order}

        def backward(ctx, g):
            assert g["order"].tolist() == [0.0]
            return [g["x"] * 3]

    x = leaf(2.0)
    y = x * 1
    out = F.apply([y])
    assert out["x"] is y
    assert not out["order"].requires_grad
    out["x"].backward()
    assert x.grad.item() == 3


def test_containers_are_not_kept_alive(no_gc):
    x = leaf(2.0)
    out = Powers.apply(x, 7)
    seen = weakref.ref(out["more"][0])
    del out
    assert seen() is None
    w = leaf(1.0) * 2
    seen = weakref.ref(w)
    y = Dot.apply([w], Batch(x, 1.0))
    del w
    assert seen() is None
    y.backward()


# ---- errors ----------------------------------------------------------------------------------------------


def answering(gradient):
    class F(Function):
        def forward(ctx, weights, batch):
            return weights[0] * weights[1] * batch["x"]

        def backward(ctx, g):
            return gradient(g)

    return F.apply([leaf(1.0), leaf(1.0)], {"x": leaf(1.0), "n": 3})


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        (lambda g: ([g], None), r"function FBackward .* expected 2 values for weights, a list of 2, but got 1"),
        (lambda g: (g, None), r"expected one like weights, which is a list of 2, but got Tensor"),
        (lambda g: (None, {"y": g}), r"there is no batch\['y'\]"),
        (lambda g: (None, {"n": g}), r"expected None for batch\['n'\], which is no tensor, but got Tensor"),
        (lambda g: [g, g], r"incorrect number of gradients \(expected 2, got 1\)"),
        (lambda g: (None, None, g), r"incorrect number of gradients \(expected 2, got 3\)"),
    ],
)
def test_a_gradient_of_another_shape_names_the_place(gradient, message):
    with pytest.raises(RuntimeError, match=message):
        answering(gradient).backward()


def test_a_whole_container_or_a_leaf_may_be_none():
    answering(lambda g: (None, None)).backward()
    answering(lambda g: ([None, g], {"x": None}, None, None)).backward()


def test_a_dataclass_may_be_answered_by_an_instance():
    class F(Function):
        def forward(ctx, batch):
            ctx.batch = batch
            return batch.x * batch.scale

        def backward(ctx, g):
            return replace(ctx.batch, x=g * ctx.batch.scale)

    x = leaf(1.0)
    F.apply(Batch(x, 4.0)).backward()
    assert x.grad.item() == 4


def test_an_input_changed_in_place_is_named_by_its_path():
    class F(Function):
        def forward(ctx, batch):
            batch["x"][1].mul_(2)
            return batch["x"][1] * 1

        def backward(ctx, g):
            return None

    with pytest.raises(RuntimeError, match=r"""forward changed its input "batch\['x'\]\[1\]" in place"""):
        F.apply({"x": [leaf(1.0), leaf(2.0) * 1]})


def test_containers_without_tensors_are_handed_through():
    config = {"n": [1, 2]}

    class F(Function):
        def forward(ctx, x, given):
            assert given is config
            return x * 1

        def backward(ctx, g):
            return g, None

    y = F.apply(leaf(1.0), config)
    assert not isinstance(y.grad_fn, of_containers.NestedNode)
    y.backward()


def test_watches_and_anomaly_mode_work():
    with gw.autograd.detect_anomaly():
        x = leaf(2.0)
        Dot.apply([leaf(1.0)], Batch(x, 1.0)).backward()
        assert x.grad.item() == 1

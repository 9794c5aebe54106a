"""The backward pass: order, accumulation, failures half-way, deep graphs. What it frees: test_leaks.py."""

import weakref

import numpy as np
import pytest

import gradwright
from gradwright.engine import backward as engine
from tests.functions import Function, functions

DEEP = 200_000  # a recursion would fail at about 1,000

# ---- order -----------------------------------------------------------------------------------------------


def test_each_node_runs_once_with_the_sum_of_what_reaches_it(T, leaf):
    seen = []

    class Watch(functions(T)):
        def forward(ctx, x):
            return x * 1

        def backward(ctx, g):
            seen.append(g.item())
            return g

    x = leaf(2.0)
    y = Watch.apply(x)
    (y * 3 + y.exp() * 0 + (y + y)).backward()
    assert seen == [5]


def test_walk_lists_every_node_once_last_made_first():
    x = gradwright.ones((), requires_grad=True)
    y = x * 2
    z = (y + y * y).sin()
    nodes = engine.walk([z.grad_fn])
    names = " ".join(type(n).__name__ for n in nodes)
    assert names == "SinBackward0 AddBackward0 MulBackward0 MulBackward0 AccumulateGrad"


def test_only_the_way_to_the_targets_is_run():
    x = gradwright.ones((), requires_grad=True)
    y = gradwright.ones((), requires_grad=True)
    a, b = x * 2, y * 3
    out = a + b
    assert engine.leading_to({x._node}, [out.grad_fn]) == {out.grad_fn, a.grad_fn}


# ---- gradients are nobody else's memory ------------------------------------------------------------------


def test_the_gradient_argument_is_not_aliased(T, leaf):
    x = leaf([1.0, 2.0])
    v = T.tensor([1.0, 1.0], dtype=T.float64)
    (x + 0).backward(v)
    v[0] = 100
    assert x.grad.tolist() == [1, 1]
    x.backward(v)  # accumulates in place
    assert v.tolist() == [100, 1]
    x.grad[1] = -5
    assert v.tolist() == [100, 1]


def test_a_leaf_as_root_does_not_alias_the_gradient_argument(T, leaf):
    x = leaf([1.0, 2.0])
    v = T.tensor([1.0, 1.0], dtype=T.float64)
    x.backward(v)
    x.grad.zero_()
    assert v.tolist() == [1, 1]


def test_leaves_that_share_a_cotangent_do_not_share_a_grad(T, leaf):
    x, y = leaf([1.0, 2.0]), leaf([1.0, 2.0])
    (x + y).backward(T.ones(2, dtype=T.float64))
    x.grad[0] = 100
    assert y.grad.tolist() == [1, 1]


def test_one_leaf_used_twice_by_an_addition(T, leaf):
    x = leaf([1.0, 2.0])
    v = T.ones(2, dtype=T.float64)
    (x + x).backward(v)
    assert x.grad.tolist() == [2, 2]
    assert v.tolist() == [1, 1]


def test_broadcast_gradients_are_written_out(leaf):
    x = leaf([1.0, 2.0, 3.0])
    x.sum().backward()  # the cotangent is one number seen three times
    x.grad[0] = 7
    assert x.grad.tolist() == [7, 1, 1]
    x.sum().backward()
    assert x.grad.tolist() == [8, 2, 2]


def test_views_of_a_cotangent_are_copied(T, leaf):
    x, y = leaf([[1.0, 2.0]]), leaf([1.0, 2.0])
    v = T.ones(1, 2, dtype=T.float64)
    (x.reshape(2) + y).backward(v.reshape(2))
    y.grad[0] = 100
    assert x.grad.tolist() == [[1, 1]]
    assert v.tolist() == [[1, 1]]


def test_what_a_backward_returns_stays_its_own(T, leaf):
    kept = T.ones(2, dtype=T.float64)

    class Constant(functions(T)):
        def forward(ctx, x):
            return x * 1

        def backward(ctx, g):
            return kept

    for _ in range(2):
        x = leaf([1.0, 2.0])
        Constant.apply(x).sum().backward()
        x.grad.mul_(50)
        assert kept.tolist() == [1, 1]


def test_what_a_hook_saw_stays_as_it_was(leaf):
    seen = []
    x = leaf([1.0, 2.0])
    x.register_hook(lambda g: seen.append(g))
    for _ in range(2):
        (x * 3).sum().backward()
    assert [g.tolist() for g in seen] == [[3, 3], [3, 3]]
    assert x.grad.tolist() == [6, 6]


def test_results_of_grad_are_not_aliased():  # (PyTorch's is the cotangent itself)
    x, y, v = gradwright.ones(2, requires_grad=True), gradwright.ones(2, requires_grad=True), gradwright.ones(2)
    gx, gy, again = gradwright.autograd.grad(x + y, [x, y, x], v)
    gx.add_(100)
    assert v.tolist() == gy.tolist() == again.tolist() == [1, 1]


def test_a_grad_put_there_by_the_user_is_added_to_in_place(T, leaf):
    x = leaf([1.0, 2.0])
    x.grad = mine = T.tensor([10.0, 20.0], dtype=T.float64)
    (x * 3).sum().backward()
    assert x.grad is mine
    assert mine.tolist() == [13, 23]


def test_a_frozen_leaf_gets_nothing(leaf):
    x, y = leaf(2.0), leaf(3.0)
    z = x * y
    x.requires_grad_(False)
    z.backward()
    assert x.grad is None
    assert y.grad.item() == 2


def test_a_leaf_that_was_frozen_and_thawed_gets_its_gradient(leaf):
    x = leaf(2.0)
    z = x * 3
    x.requires_grad_(False)
    x.requires_grad_(True)
    z.backward()
    assert x.grad.item() == 3


# ---- failures half-way -----------------------------------------------------------------------------------


class MishapError(Exception):
    pass


@pytest.fixture
def Fails(T):
    class Fails(functions(T)):
        def forward(ctx, x):
            return x * 1

        def backward(ctx, g):
            raise MishapError("in backward")

    return Fails


def test_an_exception_keeps_its_type(leaf, Fails):
    with pytest.raises(MishapError, match="in backward"):
        Fails.apply(leaf(1.0)).backward()


def test_an_exception_leaves_every_grad_untouched(Fails, leaf):
    # Whatever the order of the branches: PyTorch may have accumulated one of these when the other fails.
    for build in (lambda a, b: a * 2 + Fails.apply(b), lambda a, b: Fails.apply(b) + a * 2):
        x, y = leaf(1.0), leaf(2.0)
        x.grad = x.detach() * 7
        with pytest.raises(MishapError):
            build(x, y).backward()
        if type(x) is gradwright.Tensor:
            assert x.grad.item() == 7
        assert y.grad is None


def test_the_grad_mode_is_restored_after_an_exception(T, leaf, Fails):
    with pytest.raises(MishapError):
        Fails.apply(leaf(1.0)).backward()
    assert T.is_grad_enabled()
    y = Fails.apply(leaf(1.0))
    with T.no_grad():
        with pytest.raises(MishapError):
            y.backward(create_graph=True)
        assert not T.is_grad_enabled()


def test_a_modified_value_leaves_every_grad_untouched():
    x, y = (gradwright.ones(2, requires_grad=True) for _ in range(2))
    z = y.exp()
    out = (z * 2 + x).sum()
    z.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        (out + x.sum()).backward()
    assert x.grad is None
    assert y.grad is None


def test_backward_inside_backward(T, leaf):
    class Inner(functions(T)):
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.exp()

        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with T.enable_grad():
                u = x.detach().requires_grad_()
                u.exp().backward()
            assert not T.is_grad_enabled()
            return g * u.grad

    x = leaf(1.5)
    (Inner.apply(x) * 2).backward()
    assert x.grad.item() == pytest.approx(2 * np.exp(1.5), rel=1e-15)


# ---- deep graphs -----------------------------------------------------------------------------------------


def test_a_deep_chain_builds_runs_prints_and_frees():
    x = gradwright.tensor(1.0, dtype=gradwright.float64, requires_grad=True)
    y = x
    for _ in range(DEEP):
        y = y + 1.0
    assert "grad_fn=<AddBackward0>" in repr(y)
    y.backward()
    assert x.grad.item() == 1
    gone = weakref.ref(y.grad_fn)
    del y
    assert gone() is None


def test_a_deep_chain_can_be_differentiated_twice():
    x = gradwright.tensor(1.0, dtype=gradwright.float64, requires_grad=True)
    y = x * x
    for _ in range(DEEP // 40):
        y = (y * y).sqrt()
    (g,) = gradwright.autograd.grad(y, x, create_graph=True)
    assert len(engine.walk([g.grad_fn])) > DEEP // 10
    assert gradwright.autograd.grad(g, x)[0].item() == pytest.approx(2, rel=1e-6)


def test_deep_chains_of_other_kinds_of_node():
    class Twice(Function):
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.some = [1, 2]
            return x * 1.0

        def backward(ctx, g):
            return g

    x = gradwright.ones(2, requires_grad=True)
    y = x
    for _ in range(DEEP // 20):
        y = Twice.apply(y)
    for _ in range(DEEP // 20):
        a, b = y.split(1)
        y = gradwright.cat([b, a])
    for _ in range(DEEP // 10):
        y = y.view(2)
    for _ in range(DEEP // 100):
        y = y * 1
        y[0] = 1.0
    y.sum().backward()
    assert x.grad.tolist() == [0, 1]
    del y


def test_a_wide_graph():
    x = gradwright.ones(3, dtype=gradwright.float64, requires_grad=True)
    total = gradwright.stack([x * k for k in range(10_000)]).sum()
    total.backward()
    assert x.grad.tolist() == [sum(range(10_000))] * 3


N = 20_000  # entries: so many, and sums of cotangents are made in place


def _held_by_a_hook(x, held):
    y = x + 0.0
    y.register_hook(held.append)
    return y


def _held_by_a_view_in_a_hook(x, held):
    y = x + 0.0
    y.register_hook(lambda g: held.append(g[1:].detach()))
    return y


def _held_by_a_node(x, held):
    y = x + 0.0
    y.grad_fn.register_hook(lambda inputs, outputs: held.extend([*inputs, *outputs]))
    return y


def _retained(x, held):
    y = x + 0.0
    y.retain_grad()
    held.append(y)
    return y


def _returned_by_a_function(x, held):
    class Keeps(Function):
        def forward(ctx, x):
            return x.clone()

        def backward(ctx, g):
            out = g * 1.0
            held.append(out)
            return out

    return Keeps.apply(x)


@pytest.mark.parametrize("holding", [_held_by_a_hook, _held_by_a_view_in_a_hook, _held_by_a_node, _retained,
                                     _returned_by_a_function])  # fmt: skip
@pytest.mark.parametrize("first", [True, False])
def test_a_cotangent_that_others_hold_is_not_added_to(holding, first):
    x = gradwright.ones(N, requires_grad=True)
    a = x * 2.0
    held = []
    parts = [holding(a, held), a * 3.0] if first else [a * 3.0, holding(a, held)]
    sum(parts[0] * 5.0 + parts[1] * 7.0 for _ in range(2)).sum().backward()
    kept = [h.grad if h.requires_grad else h for h in held if h is not None]
    mine, other = (10.0, 14.0) if first else (14.0, 10.0)
    assert all((h == mine).all() for h in kept)
    assert (x.grad == 2 * (mine + 3 * other)).all()


def test_a_graph_kept_gives_the_same_again():
    x = gradwright.linspace(0, 1, N).requires_grad_()
    y = x * 2.0
    z = ((y * y + y.exp() * y + y) * y).sum()
    one = gradwright.autograd.grad(z, [x, y], retain_graph=True)
    two = gradwright.autograd.grad(z, [x, y])
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    v = 2 * x.detach()
    assert np.allclose(one[1], 3 * v**2 + (2 * v + v**2) * v.exp() + 2 * v, rtol=1e-5)

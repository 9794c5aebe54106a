"""`grad` with all its arguments, to higher orders. Truths are worked out by hand; PyTorch runs the same tests."""

import pytest

import gradwright


def test_grad_returns_and_does_not_accumulate(T, leaf):
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    grads = T.autograd.grad((x * y).sum(), [x, y])
    assert type(grads) is tuple
    assert [g.tolist() for g in grads] == [[3, 4], [1, 2]]
    assert x.grad is None
    assert y.grad is None


def test_grad_of_a_non_leaf(T, leaf):
    x = leaf([1.0, 2.0])
    y = x * x
    z = (y * y).sum()
    gy, gx = T.autograd.grad(z, [y, x])
    assert gy.tolist() == [2, 8]
    assert gx.tolist() == [4, 32]


def test_grad_with_an_output_as_input(T, leaf):
    y = leaf([1.0, 2.0]) * 2
    (g,) = T.autograd.grad(y, y, T.tensor([5.0, 6.0], dtype=T.float64))
    assert g.tolist() == [5, 6]


def test_the_same_input_twice(T, leaf):
    x = leaf([1.0, 2.0])
    a, b = T.autograd.grad((x * x).sum(), [x, x])
    assert a.tolist() == b.tolist() == [2, 4]


def test_several_outputs_add_up(T, leaf):
    x = leaf([1.0, 2.0])
    y = x * x
    (g,) = T.autograd.grad([y, y, x.sum()], x, [T.ones(2, dtype=T.float64), T.ones(2, dtype=T.float64) * 10, None])
    assert g.tolist() == [1 + 22, 1 + 44]


def test_grad_outputs_may_be_one_tensor(T, leaf):
    x = leaf([1.0, 2.0])
    assert T.autograd.grad(x * x, x, grad_outputs=T.ones(2, dtype=T.float64))[0].tolist() == [2, 4]


@pytest.mark.parametrize("k", [0, 1])
def test_one_of_several_results_of_an_operation(T, leaf, k):
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    pieces = x.unbind(0)
    (g,) = T.autograd.grad((pieces[k] ** 2).sum(), x)
    expected = [[0, 0], [0, 0]]
    expected[k] = [[2, 4], [6, 8]][k]
    assert g.tolist() == expected


def test_grad_of_several_results_of_an_operation(T, leaf):
    x = leaf([1.0, 2.0, 3.0])
    a, b = (x * 2).split([1, 2])
    ga, gb = T.autograd.grad((a * a).sum() + (b * 5).sum(), [a, b], retain_graph=True)
    assert ga.tolist() == [4]
    assert gb.tolist() == [5, 5]
    assert T.autograd.grad((a * a).sum() + (b * 5).sum(), x)[0].tolist() == [8, 10, 10]


def test_unused_inputs(T, leaf):
    x, y = leaf([1.0, 2.0]), leaf([1.0, 2.0])
    out = (x * x).sum()
    message = (
        r"The differentiated Tensor at index 1 appears to not have been used in the graph. "
        r"Set allow_unused=True if this is the desired behavior."
    )
    with pytest.raises(RuntimeError, match=message):
        T.autograd.grad(out, [x, y], retain_graph=True)
    gx, gy = T.autograd.grad(out, [x, y], retain_graph=True, allow_unused=True)
    assert gx.tolist() == [2, 4]
    assert gy is None
    gx, gy = T.autograd.grad(out, [x, y], retain_graph=True, materialize_grads=True)
    assert gy.tolist() == [0, 0]
    assert gy.dtype == T.float64
    with pytest.raises(ValueError, match="Expected allow_unused to be True or not passed when materialize_grads=True"):
        T.autograd.grad(out, [x, y], allow_unused=False, materialize_grads=True)


def test_a_recorded_zero_is_a_tensor_too(T, leaf):
    x, y = leaf(2.0), leaf(3.0)
    gx, gy = T.autograd.grad(x * x, [x, y], create_graph=True, materialize_grads=True)
    assert gx.requires_grad
    assert gy.item() == 0


@pytest.mark.parametrize("batched", [False, True])
def test_a_chain_of_derivatives_does_not_end_at_zeros(T, leaf, batched):
    x, y = leaf([2.0, 1.0]), leaf([3.0, 1.0])
    given = T.eye(2, dtype=T.float64) if batched else T.ones(2, dtype=T.float64)
    for create_graph in (True, False):
        *_, g = T.autograd.grad(x * x, [x, y], given, create_graph=create_graph, materialize_grads=True,
                                is_grads_batched=batched)  # fmt: skip
        assert (g.requires_grad, g.is_leaf, g.any().item()) == (create_graph, True, False)
        if create_graph:
            for _ in range(3):
                (g,) = T.autograd.grad(g.sum(), y, create_graph=True, materialize_grads=True)
                assert g.tolist() == [0, 0]


def test_an_unused_input_between_used_ones(T, leaf):
    x, unused, y = leaf(2.0), leaf(0.0), leaf(3.0)
    grads = T.autograd.grad(x * y, [x, unused, y], allow_unused=True)
    assert [g if g is None else g.item() for g in grads] == [3, None, 2]


def test_higher_derivatives(T, leaf):
    x = leaf([0.5, 2.0])
    y = x**5
    for expected in ([5 * 0.5**4, 80], [20 * 0.5**3, 160], [60 * 0.5**2, 240], [120 * 0.5, 240], [120, 120]):
        (y,) = T.autograd.grad(y.sum(), x, create_graph=True)
        assert y.tolist() == pytest.approx(expected, rel=1e-14)


def test_mixed_second_derivatives(T, leaf):
    x, y = leaf(2.0), leaf(3.0)
    gx, gy = T.autograd.grad(x**2 * y**3, [x, y], create_graph=True)
    assert [g.item() for g in T.autograd.grad(gx, [x, y], retain_graph=True)] == [2 * 27, 2 * 2 * 27]
    assert [g.item() for g in T.autograd.grad(gy, [x, y])] == [3 * 9 * 4, 4 * 6 * 3]


def test_a_hessian_vector_product(T, leaf):
    x = leaf([1.0, 2.0, 3.0])
    v = T.tensor([1.0, 0.0, -1.0], dtype=T.float64)
    (g,) = T.autograd.grad((x.prod() + (x**3).sum()), x, create_graph=True)
    (hv,) = T.autograd.grad((g * v).sum(), x)
    hessian = [[6, 3, 2], [3, 12, 1], [2, 1, 18]]
    assert hv.tolist() == pytest.approx([row[0] - row[2] for row in hessian], rel=1e-14)


def test_second_derivative_by_backward_twice(T, leaf):
    x = leaf(3.0)
    (x**3).backward(create_graph=True)
    first = x.grad
    assert first.requires_grad
    x.grad = None
    first.backward()
    assert x.grad.item() == 18


def test_cotangents_are_differentiated_too(T, leaf):
    x, v = leaf([2.0, 3.0]), leaf([1.0, 1.0])
    (g,) = T.autograd.grad(x * x, x, v, create_graph=True)
    (gv,) = T.autograd.grad(g.sum(), v)
    assert gv.tolist() == [4, 6]


def test_a_gradient_without_history(T, leaf):
    x = leaf([1.0, 2.0])
    (g,) = T.autograd.grad((x * x).sum(), x)
    assert not g.requires_grad
    assert g.grad_fn is None


def test_outputs_inputs_and_cotangents_may_come_from_any_iterable(T, leaf):
    net = T.nn.Linear(2, 1).to(T.float64)
    x = T.ones(3, 2, dtype=T.float64)
    weight, bias = T.autograd.grad(net(x).sum(), net.parameters(), create_graph=True)
    assert (weight.tolist(), bias.tolist()) == ([[3.0, 3.0]], [3.0])
    a, b = leaf([1.0]), leaf([2.0])
    results, ones = [a * b, a + b], [T.ones(1, dtype=T.float64)] * 2
    found = T.autograd.grad(iter(results), {"a": a, "b": b}.values(), iter(ones), retain_graph=True)
    assert [g.item() for g in found] == [3, 2]
    T.autograd.backward(iter(results), iter(ones), inputs=(t for t in (a, b)))
    assert (a.grad.item(), b.grad.item()) == (3, 2)
    with pytest.raises(TypeError):
        T.autograd.grad(results, 3)


def test_a_root_that_leads_nowhere_is_not_run(T):
    x, w, seen = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True), []
    other = (w * 3).sum()
    other.register_hook(seen.append)
    other.retain_grad()
    (found,) = T.autograd.grad([(x * 2).sum(), other], [x])
    assert found.tolist() == [2, 2]
    assert seen == []
    assert other.grad is None


def test_what_is_before_a_root_that_is_asked_for_is_not_run():
    class Double(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise AssertionError  # PyTorch runs it, for nothing

    y = Double.apply(gradwright.ones(2, requires_grad=True))
    y.backward(gradwright.ones(2), inputs=[y])
    assert y.grad.tolist() == [1, 1]
    assert gradwright.autograd.grad(y, [y], gradwright.ones(2))[0].tolist() == [1, 1]

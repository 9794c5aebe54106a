"""Results of compiled functions have the history of the eager ones."""

import numpy as np
import pytest

import gradwright as gw


def both(function, *args, calls=4):
    """The compiled function after some calls."""
    compiled = gw.compile(function)
    for _ in range(calls):
        compiled(*args)
    assert not compiled.programs.reason
    return compiled


def test_a_module_is_trained_through_its_compiled_self():
    gw.manual_seed(0)
    net = gw.nn.Sequential(gw.nn.Linear(4, 8), gw.nn.Tanh(), gw.nn.Linear(8, 3)).double()
    x = gw.randn(5, 4, dtype=gw.float64, requires_grad=True)
    fast = gw.compile(net)
    for _ in range(5):
        found = []
        for f in (net, fast):
            net.zero_grad()
            x.grad = None
            (f(x) ** 2).sum().backward()
            found.append([p.grad.numpy().copy() for p in [*net.parameters(), x]])
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13)
    assert isinstance(fast(x).grad_fn.name(), str)


def test_derivatives_of_every_order():
    x = gw.tensor([0.5, -1.5], dtype=gw.float64, requires_grad=True)
    f = both(lambda x: (x**3).sum(), x)
    (g,) = gw.autograd.grad(f(x), x, create_graph=True)
    (h,) = gw.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(h.numpy(), 6 * x.detach().numpy())
    assert gw.autograd.gradcheck(f, (x,))
    assert gw.autograd.gradgradcheck(f, (x,))


def test_several_results_of_which_some_are_used():
    w = gw.tensor([2.0], requires_grad=True)
    v = gw.tensor([3.0], requires_grad=True)
    f = both(lambda x: (w * x, {"v": v * x}, 7), gw.tensor([5.0]))
    a, b, seven = f(gw.tensor([4.0]))
    a.backward()
    assert (w.grad.item(), v.grad, seven) == (4.0, None, 7)
    b["v"].backward()
    assert v.grad.item() == 4.0


def test_a_weight_changed_before_backward_is_noticed():
    w = gw.tensor([2.0], requires_grad=True)
    f = both(lambda x: (w * x) ** 2, gw.tensor([5.0], requires_grad=True))
    y = f(gw.tensor([5.0], requires_grad=True))
    with gw.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_second_pass_is_refused_as_ever():
    w = gw.tensor([2.0], requires_grad=True)
    f = both(lambda x: (w * x).exp(), gw.tensor([1.0]))
    y = f(gw.tensor([1.0]))
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_a_result_whose_graph_the_function_has_used_up():
    w = gw.tensor([2.0], requires_grad=True)

    def step(x):
        loss = (w * x).sum()
        loss.backward()
        w.grad = None
        return loss

    loss = both(step, gw.tensor([1.0]))(gw.tensor([3.0]))
    assert loss.requires_grad
    assert loss.grad_fn.name() == "SumBackward0"
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_a_pass_that_cannot_be_recorded_says_so():
    w = gw.tensor([2.0], requires_grad=True)
    count = gw.zeros(1)

    def f(x):
        count.add_(1)
        return (w * x) ** 2

    y = both(f, gw.tensor([1.0]))(gw.tensor([1.0]))
    with pytest.raises(NotImplementedError, match="writes to tensors"):
        gw.autograd.grad(y, w, create_graph=True)
    assert count.item() == 5

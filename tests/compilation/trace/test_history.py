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


def test_a_pass_from_one_result_is_not_spoilt_by_another_one():
    w = gw.tensor([0.0, 2.0], requires_grad=True)

    def f(x):
        y = w * x
        return y.sum(), y.log().sum(), (y * y).sum()

    fast = both(f, gw.tensor([1.0, 1.0]))
    for used in ((0,), (0, 2), (2,)):
        found = []
        for g in (f, fast):
            out = g(gw.tensor([3.0, 5.0]))
            found.append(gw.autograd.grad([out[k] for k in used], w)[0].tolist())
        assert found[0] == found[1]


factor = {"now": 2.0}


class Scaled(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return g * factor["now"]


def test_what_backward_reads_is_looked_at_before_each_call():
    w = gw.tensor([1.0], requires_grad=True)
    f = both(lambda x: Scaled.apply(w * x), gw.tensor([5.0]))
    for k in (3.0, 2.0):
        factor["now"] = k
        assert gw.autograd.grad(f(gw.tensor([5.0])), w)[0].tolist() == [5.0 * k]


def hook_that_reads():
    w, scale = gw.tensor([1.0], requires_grad=True), [2.0]

    def step(x):
        y = w * x
        y.register_hook(lambda g: g * scale[0])
        return y.sum()

    return step, w, lambda: scale.__setitem__(0, scale[0] + 1)


def hook_of_a_module():
    net, count = gw.nn.Sequential(gw.nn.Linear(1, 1), gw.nn.Tanh()), [0]

    def note(module, before, after):
        count[0] += 1
        return (before[0] * count[0],)

    net[0].register_full_backward_hook(note)
    x = gw.tensor([[1.0]], requires_grad=True)
    return lambda given: net(x * given).sum(), x, lambda: None


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("make", [hook_that_reads, hook_of_a_module])
def test_hooks_of_a_history_that_goes_on_after_the_call_are_kept(make):
    found = []
    for wrap in (lambda f: f, gw.compile):
        gw.manual_seed(0)
        step, w, change = make()
        step, grads = wrap(step), []
        for _ in range(5):
            grads.append(gw.autograd.grad(step(gw.tensor([3.0])), w)[0].tolist())
            change()
        found.append(grads)
    assert found[0] == found[1]


@pytest.mark.parametrize("change", ["weight", "data", "bias", "number"])
def test_no_second_derivative_is_made_of_what_has_changed(change):
    w, b = gw.tensor([2.0], requires_grad=True), gw.tensor([0.1], requires_grad=True)
    scale = [1.0]
    f = both(lambda x: (w**3 * x * scale[0] + b).tanh(), gw.tensor([0.1]))
    y = f(gw.tensor([0.1]))
    with gw.no_grad():
        if change == "weight":
            w.add_(1)
        elif change == "data":
            w.data = w.data + 1
        elif change == "bias":
            b.add_(1)
        else:
            scale[0] = 2.0
    with pytest.raises(RuntimeError, match=r"inplace|has changed since it was called"):
        gw.autograd.grad(y, w, create_graph=True)


def test_hooks_of_leaves_run_once_in_each_pass():
    found = []
    for wrap in (lambda f: f, gw.compile):
        w, log = gw.tensor([2.0], requires_grad=True), []
        w.register_hook(lambda g, log=log: log.append(1) or g * 2)
        f = wrap(lambda x, w=w: w * x)
        for _ in range(5):
            f(gw.tensor([3.0])).sum().backward()
        found.append((w.grad.tolist(), len(log)))
    assert found == [([30.0], 5)] * 2


@pytest.mark.parametrize("swapped", [False, True])
def test_a_way_from_one_result_to_another_that_is_asked_for_raises(swapped):
    w = gw.tensor([1.0, 2.0], requires_grad=True)

    @gw.compile(backend="plan")
    def pair(x):
        y = (w * x).sin()
        z = (y * y).sum()
        return (z, y) if swapped else (y, z)

    def called():
        found = pair(gw.tensor([0.5, 0.7]))
        return found[::-1] if swapped else found

    for _ in range(4):
        y, z = called()
    assert not pair.programs.reason
    asked = {
        "the other": lambda: gw.autograd.grad(z, y, allow_unused=True),
        "both": lambda: gw.autograd.grad(z + y.sum(), (w, y)),
        "in backward": lambda: (z * y.sum()).backward(inputs=[y]),
    }
    for ask in asked.values():
        y, z = called()
        with pytest.raises(RuntimeError, match="computed from it inside"):
            ask()
    for put in (lambda y: y.register_hook(lambda g: g), lambda y: y.retain_grad()):
        y, z = called()
        put(y)
        with pytest.raises(RuntimeError, match="computed from it inside"):
            z.backward()
    assert w.grad is None
    # what does not go by that way is as ever
    y, z = called()
    y.retain_grad()
    (found,) = gw.autograd.grad(y.sum(), w, retain_graph=True)
    assert y.grad.tolist() == [1.0, 1.0]
    assert gw.autograd.grad(y, z, gw.ones(2), allow_unused=True) == (None,)
    y, z = called()
    (by_both,) = gw.autograd.grad(z + y.sum(), w)
    (by_z,) = gw.autograd.grad(called()[1], w)
    np.testing.assert_allclose(by_both.numpy(), (by_z + found).numpy(), rtol=1e-6)

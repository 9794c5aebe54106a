"""Checkpointing."""

import warnings

import pytest

import gradwright
import gradwright as gw
from gradwright.utils import checkpoint as c
from tests.utils.checkpoints import WAYS, Counted, close, module, vector, without

# -- values and gradients --


@WAYS
def test_the_gradients_are_those_of_the_function(T, reentrant):
    f = Counted(T.sin, T.exp, lambda x: x * x, T.cos)
    x, w = vector(T), vector(T)
    y = module(T).checkpoint(f, x, use_reentrant=reentrant)
    z = f(w)
    close(y, z)
    (y * y).sum().backward()
    (z * z).sum().backward()
    close(x.grad, w.grad)
    assert f.calls == 3
    assert f.done == (12 if reentrant else 11)  # the last operation saves its argument, not its result


def test_every_pass_runs_the_function_once(T):
    f = Counted(T.sin, T.exp, T.tanh)
    x = vector(T)
    y = without(T)(f, x).sum()
    for k in range(1, 4):
        y.backward(retain_graph=True)
        assert f.calls == 1 + k
    T.autograd.grad(y, x)
    assert f.calls == 5
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()


def test_second_derivatives(T):
    x, w = vector(T), vector(T)
    f = lambda x: (x.sin() * x).exp()
    for g, t in ((without(T), x), (lambda f, x: f(x), w)):
        (first,) = T.autograd.grad(g(f, t).sum(), t, create_graph=True)
        (second,) = T.autograd.grad((first * first).sum(), t, create_graph=True)
        second.sum().backward()
    close(x.grad, w.grad)


def test_backward_for_some_inputs(T):
    x, y = vector(T), vector(T, 1.0, 2.0, 3.0)
    out = without(T)(lambda x, y: (x * y).exp() * y, x, y).sum()
    out.backward(inputs=[y], retain_graph=True)
    assert x.grad is None
    expected = T.autograd.grad(((x * y).exp() * y).sum(), y)[0]
    close(y.grad, expected)
    out.backward()
    close(y.grad, 2 * expected)


def test_keyword_arguments_and_containers(T):
    x, y, z = vector(T), vector(T), vector(T)

    def f(a, parts, scale, *, extra, how="exp"):
        assert scale == 3
        return {"sum": (a * parts[0]["y"] * scale, extra.sin()), "how": how, "none": None}

    out = without(T)(f, x, [{"y": y}], 3, extra=z, how="so")
    assert (out["how"], out["none"]) == ("so", None)
    (out["sum"][0] * out["sum"][1]).sum().backward()
    a, b, c = vector(T), vector(T), vector(T)
    (a * b * 3 * c.sin()).sum().backward()
    for got, wanted in ((x, a), (y, b), (z, c)):
        close(got.grad, wanted.grad)


@WAYS
def test_several_outputs(T, reentrant):
    x = vector(T)
    a, b = module(T).checkpoint(lambda x: (x.sin(), x.exp()), x, use_reentrant=reentrant)
    (a * b).sum().backward()
    w = vector(T)
    (w.sin() * w.exp()).sum().backward()
    close(x.grad, w.grad)
    x.grad = None
    a, b = module(T).checkpoint(lambda x: (x.sin(), x.exp()), x, use_reentrant=reentrant)
    b.sum().backward()
    close(x.grad, x.exp())


@WAYS
def test_parameters_that_the_function_closes_over(T, reentrant):
    T.manual_seed(0)
    layer = T.nn.Linear(3, 2).double()
    x = vector(T).detach().reshape(1, 3).requires_grad_()
    module(T).checkpoint(lambda x: layer(x).tanh(), x, use_reentrant=reentrant).sum().backward()
    got = [p.grad.clone() for p in layer.parameters()]
    layer.zero_grad()
    layer(x).tanh().sum().backward()
    for g, p in zip(got, layer.parameters(), strict=True):
        close(g, p.grad)


def test_no_input_that_requires_grad(T):
    layer = T.nn.Linear(3, 2)
    without(T)(layer, T.ones(1, 3)).exp().sum().backward()
    assert layer.weight.grad is not None
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True. Gradients will be None") as found:
        out = module(T).checkpoint(layer, T.ones(1, 3), use_reentrant=True)
    assert T is not gradwright or found[0].filename == __file__
    assert not out.requires_grad


def test_detached_outputs(T):
    x = vector(T)
    a, b = without(T)(lambda x: (x.exp().detach(), x * 2), x)
    assert (a.requires_grad, b.requires_grad) == (False, True)
    b.sum().backward()
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        module(T).checkpoint(lambda x: x.exp().detach(), x, use_reentrant=True).sum().backward()


@WAYS
@pytest.mark.filterwarnings("ignore:None of the inputs")  # where the outer, reentrant one runs forward
def test_nested(T, reentrant):
    checkpoint = module(T).checkpoint
    inner, other = Counted(T.sin, T.exp), Counted(T.cos, T.tanh)
    x, w = vector(T), vector(T)

    def outer(x):
        y = checkpoint(inner, x * 2, use_reentrant=reentrant)
        return checkpoint(other, y * y, use_reentrant=reentrant) * y

    y = checkpoint(outer, x, use_reentrant=reentrant)
    y.sum().backward()
    inside = w.mul(2).sin().exp()
    ((inside * inside).cos().tanh() * inside).sum().backward()
    close(x.grad, w.grad)
    assert inner.calls == 3


def test_nested_to_second_order(T):
    checkpoint = without(T)
    f = lambda x: checkpoint(lambda y: checkpoint(T.sin, y * 2).exp() * y, x.cos())
    plain = lambda x: (x.cos() * 2).sin().exp() * x.cos()
    found = []
    for g in (f, plain):
        x = vector(T)
        (first,) = T.autograd.grad(g(x).sum(), x, create_graph=True)
        found.append(T.autograd.grad((first**2).sum(), x)[0])
    close(*found)


def test_in_place_operations_inside(T):
    def f(x):
        y = x * 2
        y.mul_(x).sin_()
        y[0] = x[1] * 3
        return y.exp_() + T.nn.functional.elu(x - 1, inplace=True)

    x, w = vector(T), vector(T)
    without(T)(f, x).sum().backward()
    f(w).sum().backward()
    close(x.grad, w.grad)


def test_functions_of_users_inside(T):
    class Cube(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return g * 3 * ctx.saved_tensors[0] ** 2

    x = vector(T)
    without(T)(lambda x: Cube.apply(x.exp()).sin(), x).sum().backward()
    w = vector(T)
    (w.exp() ** 3).sin().sum().backward()
    close(x.grad, w.grad)


def test_a_function_that_reads_its_saved_values_twice():
    """An error in PyTorch."""

    class Square(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0] + g * ctx.saved_tensors[0]

    x = vector(gradwright)
    without(gradwright)(Square.apply, x).sum().backward()
    close(x.grad, 2 * x)


def test_backward_inside_of_the_function(T):
    def f(x):
        y = x.sin()
        z = y.exp()
        (g,) = T.autograd.grad(z.sum(), x)
        return x.cos() * g

    found = []
    for g in (f, lambda x: without(T)(f, x), lambda x: without(T)(f, x, early_stop=False)):
        x = vector(T)
        g(x).sum().backward()
        found.append(x.grad)
    close(found[0], found[1])
    close(found[0], found[2])


def test_saved_attributes(T):
    x = vector(T)
    y = without(T)(lambda x: (x * x).exp(), x)
    node = y.grad_fn
    close(node._saved_result, y)
    close(node._saved_result, y)
    y.sum().backward()
    close(x.grad, 2 * x * y)


def test_inside_and_around_saved_tensor_hooks(T):
    hooks, counts = T.autograd.graph.saved_tensors_hooks, [0, 0]

    def on(k):
        def pack(t):
            counts[k] += 1
            return t.detach().clone()

        return hooks(pack, lambda t: t)

    def f(x):
        y = x.sin()
        with on(1):
            y = y.exp()
        return y.cos()

    x = vector(T)
    with on(0):
        y = without(T)(f, x)
    assert counts == [1, 1]  # the argument, and the result of exp
    y.sum().backward()
    assert counts == [1, 2]
    w = vector(T)
    w.sin().exp().cos().sum().backward()
    close(x.grad, w.grad)


# -- in pieces --


@WAYS
@pytest.mark.parametrize("segments", [1, 2, 3, 4])
def test_sequential(T, reentrant, segments):
    T.manual_seed(1)
    n = T.nn

    class Dropout(n.Module):
        def forward(self, x):
            return n.functional.dropout(x, 0.5)

    layers = n.Sequential(n.Linear(3, 4), n.Tanh(), n.Linear(4, 4), Dropout(), n.Linear(4, 1)).double()
    x, w = vector(T), vector(T)
    for container in (layers, list(layers)):
        T.manual_seed(2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            out = module(T).checkpoint_sequential(container, segments, x.reshape(1, 3), use_reentrant=reentrant)
        out.sum().backward()
    T.manual_seed(2)
    expected = layers(w.reshape(1, 3))
    expected.sum().backward()
    close(out, expected)
    close(x.grad, 2 * w.grad)


def test_sequential_runs_again_all_but_the_last_piece(T):
    steps = [Counted(T.sin) for _ in range(7)]
    module(T).checkpoint_sequential(steps, 3, vector(T), use_reentrant=False).sum().backward()
    assert [s.calls for s in steps] == [2, 2, 2, 2, 1, 1, 1]


@pytest.mark.parametrize("device", ["cpu", "jax:0"])
@pytest.mark.parametrize("reentrant", [False, True])
def test_on_devices_it_runs_and_says_what_has_changed(device, reentrant):
    pytest.importorskip("jax")
    start = gradwright.ones(2, 3, device=device, requires_grad=True)
    w = gradwright.ones(3, 3, device=device, requires_grad=True)
    run = gradwright.utils.checkpoint.checkpoint

    def function(x):
        return (x @ w).sin() * x

    for changed in (False, True):
        x = start * 2
        start.grad = None
        out = run(function, x, use_reentrant=reentrant).sum()
        if changed:
            w.data = w.data + 1
            with pytest.raises(gradwright.utils.checkpoint.CheckpointError, match="has been changed"):
                out.backward()
        else:
            out.backward()
            (expected,) = gradwright.autograd.grad(function(start * 2).sum(), start)
            close(start.grad.cpu(), expected.cpu())


def test_there_are_no_states_of_devices(torch):
    from torch.utils import checkpoint as theirs

    assert c.get_device_states(gw.ones(1)) == theirs.get_device_states(torch.ones(1)) == ([], [])
    c.set_device_states(*c.get_device_states())
    with pytest.raises(RuntimeError, match="random numbers are drawn on the CPU"):
        c.set_device_states([0], [None])
    assert [p.name for p in c.CheckpointPolicy] == [p.name for p in theirs.CheckpointPolicy]


def test_detached():
    x = gw.ones(2, requires_grad=True) * 2
    a, b, n = c.detach_variable((x, gw.ones(1), 3))
    assert a.is_leaf
    assert (a.requires_grad, b.requires_grad, n) == (True, False, 3)
    with pytest.raises(RuntimeError, match="Only tuple of tensors is supported"):
        c.detach_variable([x])

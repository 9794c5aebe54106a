"""Modules and functions traced, as PyTorch's are."""

import copy
import functools
import importlib

import pytest

import gradwright as gw
from gradwright.pytorch import fx as ours


def net(T):
    class Net(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.Tanh())
            self.w = T.nn.Parameter(T.ones(3))
            self.register_buffer("shift", T.full((1,), 0.5))

        def forward(self, x, k: int = 2, *, flip=False):
            return (self.inner(x) @ self.w) * k + self.shift + T.ones(1)

    module = Net()
    with T.no_grad():
        for n, p in enumerate(module.parameters()):
            p.copy_(T.arange(float(p.numel())).reshape(p.shape) / (n + 3))
    return module


def test_graphs_are_pytorchs(torch):
    theirs = importlib.import_module("torch.fx")
    found = []
    for T, fx in ((torch, theirs), (gw, ours)):
        module = net(T)
        traced = fx.symbolic_trace(module)
        x = T.ones(4, 2)
        assert T.equal(traced(x), module(x))
        assert T.equal(traced(x, k=3), module(x, 3))
        assert isinstance(traced, T.nn.Module)
        traced(x).sum().backward()
        assert module.w.grad is traced.w.grad is not None
        found.append(([(n.op, n.name) for n in traced.graph.nodes], sorted(traced.state_dict())))
    assert found[0] == found[1]


def test_functions_and_arguments_that_are_values():
    double = ours.symbolic_trace(lambda x, n: gw.relu(x).view(-1) * n, concrete_args={"n": 2})
    assert double(gw.tensor([[1.0, -1.0]])).tolist() == [2.0, 0.0]
    with pytest.raises(TypeError, match="missing required arguments: x: inputs are"):
        double()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        double(z=1)


def test_modules_are_gone_through_only_while_tracing():
    kept = gw.nn.Module.__call__
    with pytest.raises(ours.proxy.TraceError):
        ours.symbolic_trace(lambda x: x if x > 0 else -x)
    assert gw.nn.Module.__call__ is kept


def test_copies_run_alike():
    traced = ours.symbolic_trace(net(gw))
    x = gw.ones(4, 2)
    assert gw.equal(copy.deepcopy(traced)(x), traced(x))


def rest(*xs):
    return xs[0] - xs[1]


def named(a, **k):
    return a + k["b"]


def one(*xs):
    return xs[0] * 2


def both(a, b=3, *xs, **k):
    first, second = xs
    back = lambda: xs[1] * k.get("c", 1)
    return a * b + first - second * back()


@pytest.mark.parametrize(("function", "args", "kwargs"), [
    (rest, (5.0, 2.0), {}), (named, (5.0,), {"b": 2.0}), (one, (5.0, 2.0), {}), (one, (), {}), (named, (1.0,), {}),
    (both, (1.0, 2.0, 3.0, 4.0), {"c": 5.0}), (both, (1.0, 2.0, 3.0, 4.0), {"d": 5.0}), (named, (1.0, 2.0), {"b": 2.0}),
])  # fmt: skip
def test_parameters_with_stars_are_pytorchs(torch, function, args, kwargs):
    found = []
    for T, fx in ((torch, importlib.import_module("torch.fx")), (gw, ours)):
        traced = fx.symbolic_trace(function)
        nodes = [(n.op, n.name, str(n.args)) for n in traced.graph.nodes]
        class Around(T.nn.Module):
            def forward(self, *xs, **k):
                return xs[0] * k["s"]
        method = fx.symbolic_trace(Around())(T.ones(2), T.zeros(2), s=3).tolist()
        try:
            value = traced(*map(T.tensor, args), **{k: T.tensor(v) for k, v in kwargs.items()}).item()
        except (IndexError, KeyError, TypeError) as e:
            value = type(e)
        found.append((nodes, method, value))
    assert found[0] == found[1]


def test_parameters_named_behind_a_star_are_not_given_by_place():
    def f(x, *xs, c=2):
        return x * c + xs[0]

    assert ours.symbolic_trace(f)(gw.tensor(3.0), gw.tensor(1.0)).item() == f(3, 1)
    assert ours.symbolic_trace(f)(gw.tensor(3.0), gw.tensor(1.0), c=5).item() == f(3, 1, c=5)


def test_stars_of_what_has_no_code_of_its_own_are_refused():
    around = functools.wraps(rest)(lambda *a, **k: rest(*a, **k))
    for function in (around, functools.partial(rest, gw.ones(1))):
        with pytest.raises(ours.proxy.TraceError, match="takes a plain function or method, but got"):
            ours.symbolic_trace(function)


def test_partial_functions_are_traced():
    traced = ours.symbolic_trace(functools.partial(lambda a, b: a - b, gw.ones(2)))
    assert traced(gw.zeros(2)).tolist() == [1.0, 1.0]
    assert traced._get_name() == "GraphModule"
    by_name = ours.symbolic_trace(functools.partial(lambda a, b: a - b, b=gw.ones(2)))
    assert by_name(gw.zeros(2)).tolist() == [-1.0, -1.0]

"""What is noted while a graph is recorded, and that nothing else is different."""

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import nn, viz
from gradwright.viz.records import GraphNode
from gradwright.viz.trace import magnitude, notes

HERE = __file__


def nodes(t: Any, **names: Any) -> dict[str, GraphNode]:
    return {n.name: n for n in viz.graph(t, params=names).nodes}


def stops(t: Any) -> list[tuple[str, str, str]]:
    """What stops gradients, the code of that line, and the node it happens to."""
    graph = viz.graph(t)
    return [
        (n.name, n.place.code if n.place else "", graph.nodes[e.source].name)
        for n in graph.nodes if n.kind == "stop"
        for e in graph.edges if e.target == n.id
    ]  # fmt: skip


# -- lines, modules, shapes --


def test_lines() -> None:
    x = gw.ones(2, requires_grad=True)
    with viz.trace():
        y = x.exp()
        z = y.sum()
    found = nodes(z)
    assert found["ExpBackward0"].place.code == "y = x.exp()"
    assert found["SumBackward0"].place.code == "z = y.sum()"
    assert found["SumBackward0"].place.file == HERE
    assert found["SumBackward0"].place.line == found["ExpBackward0"].place.line + 1
    assert str(found["SumBackward0"].place).startswith("test_trace.py:")
    assert nodes(x.sin())["SinBackward0"].place is None


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.Tanh()])

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return nn.ReLU()(x) * 2


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = Block()

    def forward(self, x: Any) -> Any:
        return self.block(self.block(x)).sum()


def test_modules() -> None:
    net = Net()
    with viz.trace():
        y = net(gw.ones(1, 2)) + 1
    found = nodes(y)
    assert found["AddmmBackward0"].module == "Net.block.layers.0"
    assert found["TanhBackward0"].module == "Net.block.layers.1"
    assert found["ReluBackward0"].module == "Net.block.ReLU"
    assert found["MulBackward0"].module == "Net.block"
    assert found["SumBackward0"].module == "Net"
    assert found["AddBackward0"].module is None


def test_outermost_modules_of_one_class_are_told_apart() -> None:
    class Own(nn.Linear):
        pass

    a, b = Own(2, 2), Own(2, 2)
    with viz.trace():
        y = a(b(a(gw.ones(1, 2))))
    assert [n.module for n in viz.graph(y).nodes if n.kind == "op"] == ["Own", "Own-2", "Own"]
    with viz.trace():
        alone = b(gw.ones(1, 2))
    assert [n.module for n in viz.graph(alone).nodes if n.kind == "op"] == ["Own"], "whatever else was traced"


def test_a_module_that_raises_is_left() -> None:
    class Raises(nn.Module):
        def forward(self, x: Any) -> Any:
            raise ArithmeticError

    x = gw.ones(1, requires_grad=True)
    with viz.trace():
        with pytest.raises(ArithmeticError):
            nn.Sequential(nn.Tanh(), Raises())(x)
        y = x.exp()
    assert nodes(y)["ExpBackward0"].module is None


def test_what_backward_records_belongs_to_the_module_too() -> None:
    net = Net()
    x = gw.ones(1, 2, requires_grad=True)
    with viz.trace():
        (g,) = gw.autograd.grad(net(x), x, create_graph=True)
    backward = [n for n in viz.graph(g).nodes if n.order == 2]
    assert {n.module for n in backward} >= {"Net.block.layers.0", "Net.block.layers.1"}
    assert {n.place.code for n in backward if n.place} == {
        "(g,) = gw.autograd.grad(net(x), x, create_graph=True)"}  # fmt: skip


def test_shapes_of_everything() -> None:
    with viz.trace():
        y = gw.ones(2, 3, requires_grad=True).reshape(3, 2)[0].double().sum()
    assert {n.name: (n.shape, n.dtype) for n in viz.graph(y).nodes} == {
        "Output": ((), "float64"), "SumBackward0": ((), "float64"), "ToCopyBackward0": ((2,), "float64"),
        "SelectBackward0": ((2,), "float32"), "ViewBackward0": ((3, 2), "float32"),
        "AccumulateGrad": ((2, 3), "float32")}  # fmt: skip


def test_gradients() -> None:
    x = gw.ones(4, requires_grad=True)
    with viz.trace():
        y = (x * 3).sum() * 2
        y.backward()
    found = nodes(y)
    assert found["SumBackward0"].gradient.norm == pytest.approx(2)
    assert found["AccumulateGrad"].gradient.rms == pytest.approx(6)
    assert found["AccumulateGrad"].gradient.norm == pytest.approx(12)


@pytest.mark.parametrize(("values", "expected"), [
    ([3.0, 4.0], (5, 12.5**0.5)), ([0.0, 0.0], (0, 0)), ([1e300, 1e300], (2**0.5 * 1e300, 1e300)),
    ([1e-300], (1e-300, 1e-300)), ([float("inf"), 1.0], (np.inf, np.inf)), ([float("nan"), 1.0], (np.nan, np.nan)),
    ([3j, 4.0], (5, 12.5**0.5)), ([], None),
])  # fmt: skip
def test_magnitudes(values: list[Any], expected: Any) -> None:
    found = magnitude([np.array(values)])
    if expected is None:
        assert found is None
    else:
        assert found == pytest.approx(expected, nan_ok=True)


# -- stops --


def test_detach() -> None:
    x = gw.ones(2, requires_grad=True)
    with viz.trace():
        h = x * 2
        d = h.detach()
        y = h * d.exp()
    assert stops(y) == [("detach()", "d = h.detach()", "MulBackward0")]


def test_data() -> None:
    x = gw.ones(2, requires_grad=True)
    with viz.trace():
        y = x * x.data
    assert stops(y) == [(".data", "y = x * x.data", "MulBackward0")]


def test_no_grad() -> None:
    x = gw.ones(2, requires_grad=True)
    with viz.trace():
        with gw.no_grad():
            scale = x.sum()
        y = x / scale.sqrt()
    assert stops(y) == [("no_grad()", "scale = x.sum()", "DivBackward0")]


@pytest.mark.parametrize("leaf", [True, False])
def test_whole_numbers(leaf: bool) -> None:
    x = gw.ones(2, requires_grad=True)
    with viz.trace():
        h = x if leaf else x * 2
        k = h.long()
        mask = h > 0
        y = h * k + h * mask.float()
    assert sorted(stops(y)) == [
        ("greater", "mask = h > 0", "MulBackward0"), ("to int64", "k = h.long()", "MulBackward0")]  # fmt: skip


def test_values_through_numpy() -> None:
    x = gw.ones(2, requires_grad=True)
    with viz.trace():
        y = x * gw.from_numpy(x.detach().numpy())
    assert [s[0] for s in stops(y)] == ["detach()"]


def test_constants_are_no_stops() -> None:
    x = gw.ones(2, requires_grad=True)
    data = gw.ones(2)
    with viz.trace():
        with gw.no_grad():
            weights = data * 2
        y = (x * data * weights * data.long() * (data > 0) * data.detach())[gw.tensor([0, 1])].sum()
    assert stops(y) == []


def test_one_stop_for_several_that_use_it() -> None:
    x = gw.ones(2, requires_grad=True)
    with viz.trace():
        d = x.detach()
        y = x * d + (x + 1) * d
    graph = viz.graph(y)
    assert len([n for n in graph.nodes if n.kind == "stop"]) == 1
    assert len(stops(y)) == 2
    assert all(e.source < e.target for e in graph.edges)


def test_inside_a_function_nothing_is_a_stop() -> None:
    class Detaches(gw.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return (x.detach() > 0).float() * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    x = gw.ones(2, requires_grad=True)
    with viz.trace():
        y = Detaches.apply(x) * 2
    assert stops(y) == []
    assert nodes(y)["DetachesBackward"].shape == (2,)


# -- nothing else is different --


def test_programs_do_what_they_do() -> None:
    def program() -> list[Any]:
        gw.manual_seed(0)
        net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1))
        optimizer = gw.optim.SGD(net.parameters(), 0.1)
        for _ in range(3):
            optimizer.zero_grad()
            out = net(gw.ones(5, 3))
            with gw.no_grad():
                target = out * 2
                assert not target.requires_grad
            frozen = out.detach()
            assert (frozen.requires_grad, frozen.grad_fn) == (False, None)
            fresh = out.detach().requires_grad_()
            (fresh.sum() + (out - target - frozen).pow(2).sum()).backward()
            assert fresh.grad is not None
            optimizer.step()
        (x,) = [gw.ones(2, requires_grad=True)]
        (g,) = gw.autograd.grad((x.detach() * x**3).sum(), x, create_graph=True)
        g.sum().backward()
        return [*(p.detach().numpy() for p in net.parameters()), x.grad.numpy(), float(out.sum().item())]

    plain = program()
    with viz.trace():
        traced = program()
    for a, b in zip(plain, traced, strict=True):
        np.testing.assert_array_equal(a, b)


def test_it_may_be_entered_again_and_nested() -> None:
    x = gw.ones(2, requires_grad=True)
    trace = viz.trace()
    with trace, trace, viz.trace():
        y = x.exp()
    with trace:
        z = y.sin()
    assert nodes(z)["ExpBackward0"].place is not None
    assert nodes(z)["SinBackward0"].place is not None


def test_another_thread_is_not_traced() -> None:
    x = gw.ones(2, requires_grad=True)
    made: list[Any] = []
    with viz.trace():
        thread = threading.Thread(target=lambda: made.append(nn.Tanh()(x)))
        thread.start()
        thread.join()
    assert nodes(made[0])["TanhBackward0"].place is None


def test_nothing_is_kept_alive(no_gc: None) -> None:
    x = gw.ones(1000, requires_grad=True)
    with viz.trace() as trace:
        h = x.exp()
        y = (h * h.detach() * (h > 0).float()).sum()
        gone = weakref.ref(h.array)
        before = len(notes)
        del y, h
        for _ in range(2):  # what the last operation was given
            x.sum()
        assert gone() is None
        assert len(notes) < before
    assert not trace._known
    gc.collect()


def test_in_place_writes_are_noted_as_what_they_are() -> None:
    x = gw.ones(2, 3, requires_grad=True)
    with viz.trace():
        y = x * 2
        y[0].mul_(3.0)
    found = nodes(y)
    assert found["CopySlices"].place.code == "y[0].mul_(3.0)"
    assert found["CopySlices"].shape == (2, 3)

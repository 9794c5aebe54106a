"""Modules that run a graph take parts of others, as PyTorch's do."""

import importlib

import pytest

import gradwright as gw
from gradwright.pytorch import fx as ours


def graph(fx):
    g = fx.Graph()
    x = g.placeholder("x")
    h = g.call_module("deep.layer", (x,))
    g.output((h, g.get_attr("scale"), g.get_attr("deep.shift")))
    return g


@pytest.mark.parametrize("as_dictionary", [False, True])
def test_parts_are_those_of_pytorchs(torch, as_dictionary):
    found = []
    for T, fx in ((torch, importlib.import_module("torch.fx")), (gw, ours)):
        root = T.nn.Module()
        root.deep = T.nn.Module()
        root.deep.layer, root.deep.other = T.nn.Linear(2, 2), T.nn.Linear(1, 1)
        root.deep.register_buffer("shift", T.ones(2))
        root.scale = T.nn.Parameter(T.ones(1))
        root.eval()
        parts = {"deep.layer": root.deep.layer, "scale": root.scale, "deep.shift": root.deep.shift}
        module = fx.GraphModule(parts if as_dictionary else root, graph(fx), "Made")
        assert T.equal(module(T.ones(2))[0], root.deep.layer(T.ones(2)))
        assert module(x=T.ones(2))[1] is root.scale
        found.append((sorted(module.state_dict()), module._get_name(), module.training))
    assert found[0] == found[1]


def test_a_graph_that_is_changed_is_run_as_it_is_then(capsys):
    g = ours.Graph()
    out = g.output(g.placeholder("x"))
    module = ours.GraphModule({}, g)
    with g.inserting_before(out):
        out.args = (g.call_method("exp", out.args),)
    assert module(gw.zeros(1)).item() == 1
    assert "call_method[target=exp]" in module.print_readable()
    assert "call_method[target=exp]" in capsys.readouterr().out
    assert g.owning_module is module


def test_parts_that_are_not_there():
    with pytest.raises(AttributeError):
        ours.GraphModule(gw.nn.Module(), graph(ours))


def test_arguments_fit_as_pytorchs(torch):
    said = []
    for T, fx in ((torch, importlib.import_module("torch.fx")), (gw, ours)):
        traced = fx.symbolic_trace(lambda x, y=2: x * y)
        x = T.ones(2)
        assert traced(x, y=3).tolist() == traced(y=3, x=x).tolist() == [3.0, 3.0]
        for args, kwargs in (((x, x, x), {}), ((x,), {"x": x}), ((x,), {"z": x}), ((), {"y": x})):
            with pytest.raises(TypeError, match=r"forward\(\)") as e:
                traced(*args, **kwargs)
            said.append(e)
    assert str(said[4].value) == "forward() got 1 more positional arguments than it takes: inputs are ['x', 'y']"


def test_parameters_of_a_derived_class_stay_parameters(torch):
    for T, fx in ((torch, importlib.import_module("torch.fx")), (gw, ours)):
        class Weight(T.nn.Parameter):
            pass
        root = T.nn.Module()
        root.w = Weight(T.ones(2))
        g = fx.Graph()
        g.output(g.get_attr("w"))
        assert [n for n, _ in fx.GraphModule(root, g).named_parameters()] == ["w"]

"""make_dot draws what torchviz draws of PyTorch's graph: the same statements in the same order."""

import importlib.util
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gradwright
from gradwright import viz

pytest.importorskip("graphviz", reason="graphviz is not installed: make_dot needs it")

Program = Callable[[Any], tuple[Any, dict[str, Any]]]


@pytest.fixture(scope="module")
def torchviz(torch: ModuleType) -> Callable[..., Any]:
    """The make_dot of the package torchviz, without the warnings about its use of distutils."""
    if importlib.util.find_spec("torchviz") is None:
        pytest.skip("torchviz is not installed: comparison with it not made")

    def make_dot(*args: Any, **flags: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module("torchviz").make_dot(*args, **flags)

    return make_dot


def drawn(dot: Any) -> tuple[list[str], Any]:
    """The statements with nodes numbered as they come, and the attributes of all."""
    numbers: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        return numbers.setdefault(found.group(), f"#{len(numbers)}")

    ids = re.compile(r"(?<=^\t)\d+|(?<=-> )\d+")
    attributes = dict(dot.graph_attr), dict(dot.node_attr), dict(dot.edge_attr)
    return [ids.sub(number, line) for line in dot.body], attributes


# -- the five graphs of the seed on double backward --


def square(T: Any) -> Any:
    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx: Any, grad_out: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad_out * 2 * x

    return seen(T, T.tensor(1.0, requires_grad=True).clone(), Square.apply)


def exp(T: Any) -> Any:
    class Exp(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            result = T.exp(x)
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx: Any, grad_out: Any) -> Any:
            (result,) = ctx.saved_tensors
            return result * grad_out

    return seen(T, T.tensor(1.0, requires_grad=True, dtype=T.double).clone(), Exp.apply)


def sinh(T: Any) -> Any:
    class Sinh(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            expx, expnegx = T.exp(x), T.exp(-x)
            ctx.save_for_backward(expx, expnegx)
            return (expx - expnegx) / 2, expx, expnegx

        @staticmethod
        def backward(ctx: Any, grad_out: Any, grad_out_exp: Any, grad_out_negexp: Any) -> Any:
            expx, expnegx = ctx.saved_tensors
            grad_input = grad_out * (expx + expnegx) / 2
            grad_input += grad_out_exp * expx
            grad_input -= grad_out_negexp * expnegx
            return grad_input

    return seen(T, T.rand(3, 3, requires_grad=True, dtype=T.double), lambda x: Sinh.apply(x)[0])


def sinhbad(T: Any) -> Any:
    class SinhBad(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.expx, ctx.expnegx = T.exp(x), T.exp(-x)
            return (ctx.expx - ctx.expnegx) / 2

        @staticmethod
        def backward(ctx: Any, grad_out: Any) -> Any:
            return grad_out * (ctx.expx + ctx.expnegx) / 2

    outputs, names = seen(T, T.rand(3, 3, requires_grad=True, dtype=T.double), SinhBad.apply)
    grad_x, x, out = outputs
    assert grad_x.requires_grad == (T is gradwright), "its derivative is right here, and silently missing in PyTorch"
    grad_x = grad_x.detach()
    return (grad_x, x, out), {**names, "grad_x": grad_x}


def cube(T: Any) -> Any:
    class Cube(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, grad_out: Any) -> Any:
            (x,) = ctx.saved_tensors
            return CubeBackward.apply(grad_out, x)

    class CubeBackward(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, grad_out: Any, x: Any) -> Any:
            ctx.save_for_backward(x, grad_out)
            return grad_out * 3 * x**2

        @staticmethod
        def backward(ctx: Any, grad_out: Any) -> Any:
            x, sav_grad_out = ctx.saved_tensors
            return grad_out * 3 * x**2, grad_out * sav_grad_out * 6 * x

    return seen(T, T.tensor(2.0, requires_grad=True, dtype=T.double), Cube.apply)


def seen(T: Any, x: Any, f: Callable[[Any], Any]) -> tuple[Any, dict[str, Any]]:
    out = f(x)
    (grad_x,) = T.autograd.grad(out.sum(), x, create_graph=True) if out.dim() else T.autograd.grad(
        out, x, create_graph=True)  # fmt: skip
    return (grad_x, x, out), {"grad_x": grad_x, "x": x, "out": out}


SEEDS = {"square": (square, 8, 8), "exp": (exp, 9, 8), "sinh": (sinh, 14, 16), "sinhbad": (sinhbad, 5, 3),
         "cube": (cube, 7, 8)}  # fmt: skip
"""With their numbers of nodes and of edges."""


# -- a network, and single things --


def network(T: Any) -> Any:
    """Shared weights, several outputs, and a view that is written."""
    T.manual_seed(0)
    shared, first, last = T.nn.Linear(4, 4), T.nn.Linear(3, 4), T.nn.Linear(4, 2)
    x = T.ones(5, 3)

    def linear(layer: Any, x: Any) -> Any:  # nn.Linear itself is one node here, without one for the transpose
        return x @ layer.weight.t() + layer.bias

    h = T.tanh(linear(shared, T.tanh(linear(shared, T.relu(linear(first, x))))))
    scale = T.ones(4, requires_grad=True)
    y = h * 2
    y[0].mul_(scale)
    y[1:3].add_(1.0)
    y[4].copy_(scale)
    left, right = y.chunk(2, dim=1)
    layers = {"shared": shared, "first": first, "last": last}
    params = {f"{k}.{n}": p for k, layer in layers.items() for n, p in layer.named_parameters()} | {"scale": scale}
    return (linear(last, y), left.sum(), right.t(), h), params


def leaf(T: Any) -> Any:
    x = T.ones(2, 3, requires_grad=True)
    return x, {"x": x}


def none(T: Any) -> Any:
    return T.ones(2, 3), {}


def views(T: Any) -> Any:
    x = T.ones(2, 3, requires_grad=True)
    y = x.exp()
    return (y.t(), y[0], x.view(6)), {"y": y}


def several(T: Any) -> Any:
    x = T.arange(6.0).reshape(2, 3).requires_grad_()
    values, indices = x.max(dim=1)
    a, b = x.split(1)
    return (values.sum() + a.sum() * b.sum(), T.cat([a, b]).prod()), {"x": x}


def twice(T: Any) -> Any:
    """A result that is saved twice."""

    class Twice(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            out = x.exp()
            ctx.save_for_backward(out, x, out)
            return out

        @staticmethod
        def backward(ctx: Any, grad_out: Any) -> Any:
            return grad_out * ctx.saved_tensors[0]

    x = T.ones(2, 3, requires_grad=True)
    return Twice.apply(x), {"x": x}


PROGRAMS = {name: program for name, (program, _, _) in SEEDS.items()} | {
    "network": network, "leaf": leaf, "no graph": none, "views": views, "several outputs": several,
    "twice": twice,
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore:make_dot. There is no graph")
def test_it_draws_what_torchviz_draws(torch: Any, torchviz: Any, name: str) -> None:
    theirs, params = PROGRAMS[name](torch)
    ours, ours_params = PROGRAMS[name](gradwright)
    assert drawn(viz.make_dot(ours, params=ours_params)) == drawn(torchviz(theirs, params=params))
    assert drawn(viz.make_dot(ours)) == drawn(torchviz(theirs))


@pytest.mark.parametrize("name", [*SEEDS, "views", "network"])
def test_saved_tensors_are_drawn_as_torchviz_draws_them(torch: Any, torchviz: Any, name: str) -> None:
    theirs, params = PROGRAMS[name](torch)
    ours, ours_params = PROGRAMS[name](gradwright)
    lines, attributes = drawn(torchviz(theirs, params=params, show_saved=True))
    lines = [line.replace("mat2", "other") for line in lines]  # of a matrix product, whose name for it is its own
    assert drawn(viz.make_dot(ours, params=ours_params, show_saved=True)) == (lines, attributes)


@pytest.mark.parametrize("name", ["square", "exp", "cube"])
@pytest.mark.parametrize("width", [50, 8, 0])
def test_what_is_kept_is_written_as_torchviz_writes_it(torch: Any, torchviz: Any, name: str, width: int) -> None:
    flags = {"show_attrs": True, "max_attr_chars": width}
    ours, theirs = PROGRAMS[name](gradwright), PROGRAMS[name](torch)
    assert drawn(viz.make_dot(*ours, **flags)) == drawn(torchviz(*theirs, **flags))


def test_shapes_and_settings_are_written_too() -> None:
    x = gradwright.ones(2, 3, requires_grad=True)
    made = viz.make_dot(x.sum(dim=1), show_attrs=True).source
    assert "dim       :   (1,)" in made
    assert "self_shape: (2, 3)" in made


@pytest.mark.parametrize("name", SEEDS)
def test_the_counts_of_the_seeds_graphs(name: str) -> None:
    program, nodes, edges = SEEDS[name]
    lines, _ = drawn(viz.make_dot(*program(gradwright)))
    assert len({line.split()[0] for line in lines if "->" not in line}) == nodes
    assert sum("->" in line for line in lines) == edges


def test_the_package_torchviz_itself_runs_on_gradwright(tmp_path: Path) -> None:
    if importlib.util.find_spec("torchviz") is None:
        pytest.skip("torchviz is not installed")
    program = tmp_path / "program.py"
    program.write_text("""
import warnings
warnings.simplefilter("ignore")
import torch
from torchviz import make_dot

net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
y = net(torch.ones(2, 3)).sum()
dots = [make_dot(y, params=dict(net.named_parameters()), show_attrs=a, show_saved=s) for a in (0, 1) for s in (0, 1)]
print(sum("lightblue" in line for line in dots[0].body), *(len(d.body) for d in dots), torch.__version__)
""")
    command = [sys.executable, "-m", "gradwright", "run", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    blue, plain, saved, attributes, both, version = done.stdout.split()
    assert "gradwright" in version
    assert (blue, plain, saved) == ("4", attributes, both)
    assert int(saved) > int(plain)


# -- bad input --


def test_a_name_with_markup_is_drawn_as_it_is() -> None:
    x = gradwright.ones(1, requires_grad=True)
    name = '<b>"q" \\ \\n {|} &amp;</b>'
    source = viz.make_dot(x.exp(), params={name: x}).source
    assert r'[label="<b>\"q\" \\ \\n {|} &amp;amp;</b>' in source


def test_a_freed_graph_is_drawn_without_what_is_gone() -> None:
    outputs, params = square(gradwright)
    before = viz.make_dot(outputs[2], params=params, show_saved=True).body
    outputs[2].backward()
    after = viz.make_dot(outputs[2], params=params, show_saved=True).body
    assert sum("orange" in line for line in before) == 1
    assert sum("orange" in line for line in after) == 0
    assert len(after) == len(before) - 2


def test_a_graph_whose_values_were_written_is_drawn() -> None:
    x = gradwright.ones(3, requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    y.zero_()
    assert "MulBackward0" in viz.make_dot(z, show_saved=True, show_attrs=True).source


def test_values_that_hooks_have_packed_stay_packed() -> None:
    def unpack(packed: Any) -> Any:
        raise AssertionError("unpacked")

    x = gradwright.ones(3, requires_grad=True)
    with gradwright.autograd.graph.saved_tensors_hooks(lambda t: 0, unpack):
        z = x.exp().sin().sum()
    assert sum("orange" in line for line in viz.make_dot(z, show_saved=True).body) == 2


def test_a_long_chain_is_drawn_without_recursion() -> None:
    y = gradwright.ones(1, requires_grad=True)
    for _ in range(5000):
        y = y * 2.0
    dot = viz.make_dot(y)
    assert len(dot.body) == 2 * 5000 + 5
    assert dot.graph_attr["size"] == f"{len(dot.body) * 0.15},{len(dot.body) * 0.15}"


@pytest.mark.parametrize(("args", "message"), [
    ((1,), "expected a Tensor, or several in a tuple, but got int"),
    ((gradwright.ones(1), [1]), "params must be a dictionary"),
    ((gradwright.ones(1), {"x": 1}), "'x' is int"),
])  # fmt: skip
def test_what_is_no_tensor_is_refused(args: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        viz.make_dot(*args)


def test_a_module_names_its_parameters() -> None:
    net = gradwright.nn.Linear(2, 2)
    assert "label=\"weight\n (2, 2)\"" in viz.make_dot(net(gradwright.ones(1, 2)), params=net).source


def test_without_the_package_graphviz_the_error_names_the_extra(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(ModuleNotFoundError, match="pip install graphviz"):
        viz.make_dot(gradwright.ones(1))


@pytest.mark.parametrize(("t", "why"), [
    (gradwright.ones(2), "no history: its requires_grad is False"),
    (gradwright.ones(2, requires_grad=True), "a leaf was given"),
])  # fmt: skip
def test_a_lone_box_is_warned_of(t: Any, why: str) -> None:
    with pytest.warns(UserWarning, match=f"^make_dot: There is no graph: .*{why}"):
        viz.make_dot(t)

"""What nodes keep, told without unpacking it."""

from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import viz
from gradwright.autograd import Function
from gradwright.viz.records import Saved
from gradwright.viz.saved import brief, called


def kept(t: Any, name: str) -> dict[str, Saved]:
    node = next(n for n in viz.graph(t).nodes if n.name == name)
    return {s.name: s for s in node.saved}


def test_tensors_and_settings_by_pytorchs_names() -> None:
    x = gw.ones(2, 3, requires_grad=True)
    assert kept(x.exp(), "ExpBackward0") == {"result": Saved("result", (2, 3), "float32", 24, None, 0)}
    found = kept(x.sum(dim=1, keepdim=True), "SumBackward1")
    assert {name: s.value for name, s in found.items()} == {"self_shape": "(2, 3)", "dim": "(1,)", "keepdim": "True"}
    assert all(s.shape is None and s.nbytes == 0 for s in found.values())


def test_numbers_are_written_out() -> None:
    x = gw.ones(2, requires_grad=True)
    assert kept(x * 2.5, "MulBackward0")["other"].value == "2.5"
    assert kept(gw.tensor(3.0, requires_grad=True).exp(), "ExpBackward0")["result"].value.startswith("20.08")


def test_several_under_one_name_are_numbered() -> None:
    a, b, c = (gw.ones(2, 2, requires_grad=True) for _ in range(3))
    found = kept(gw.einsum("ij,jk->", a, b) + c.sum(), "EinsumBackward0")
    assert [name for name, s in found.items() if s.shape] == ["xs[0]", "xs[1]"]


def test_one_memory_is_counted_once() -> None:
    x = gw.ones(10, requires_grad=True)
    y = x.exp()
    graph = viz.graph((y * y, y.view(2, 5).sin(), y[2:4].cos()))
    assert {s.memory for n in graph.nodes for s in n.saved if s.shape} == {0}
    assert graph.stats.saved_bytes == 40


def test_what_is_broadcast_counts_as_what_it_is() -> None:
    x = gw.ones(1, requires_grad=True)
    assert kept(x.expand(1000).sin(), "SinBackward0")["self"].nbytes == 4


class Keeps(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, factor: float) -> Any:
        out = x * factor
        ctx.save_for_backward(x, None, out)
        ctx.factor, ctx.words, ctx.inner = factor, ["a", {}], x.exp()
        ctx.array = np.ones(4)
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.factor, None


def test_what_a_function_has_saved_and_left_on_ctx() -> None:
    found = kept(Keeps.apply(gw.ones(3, requires_grad=True), 2.0), "KeepsBackward")
    assert found["saved_tensors[0]"].shape == found["saved_tensors[2]"].shape == (3,)
    assert "saved_tensors[1]" not in found
    assert found["factor"].value == "2.0"
    assert found["words"].value == "['a', dict]"
    assert found["inner"].nbytes == 12
    assert (found["array"].shape, found["array"].dtype) == ((4,), "float64")


def test_hooks_are_not_run() -> None:
    def unpack(packed: Any) -> Any:
        raise AssertionError("unpacked")

    x = gw.ones(2, requires_grad=True)
    with gw.autograd.graph.saved_tensors_hooks(lambda t: None, unpack):
        y = x.exp()
    assert kept(y, "ExpBackward0")["result"] == Saved("result", (2,), "float32", 8, "packed by a hook", 0)
    with gw.autograd.graph.allow_mutation_on_saved_tensors():
        assert kept(x.exp(), "ExpBackward0")["result"].shape == (2,)


def test_what_a_checkpoint_does_not_keep() -> None:
    x = gw.ones(2, requires_grad=True)
    y = gw.utils.checkpoint.checkpoint(lambda x: x.exp(), x, use_reentrant=False)
    assert kept(y, "ExpBackward0")["result"] == Saved("result", value="not kept: computed again")


def test_a_write_since_is_told() -> None:
    x = gw.ones(2, requires_grad=True)
    y = x.exp()
    z = y * 1
    assert not kept(y, "ExpBackward0")["result"].changed
    y.add_(1)
    assert kept(z, "ExpBackward0")["result"].changed


@pytest.mark.parametrize(("value", "text"), [
    (None, "None"), (2, "2"), ("x" * 200, f"'{'x' * 17}...{'x' * 18}'"), ((1,), "(1,)"), ([1, "a"], "[1, 'a']"),
    (slice(1, None), "slice(1, None, None)"), (..., "Ellipsis"), (np.ones((2, 3)), "float64 [2, 3]"),
    ((slice(None), np.ones(2)), "(slice(None, None, None), float64 [2])"), (list(range(9)), "list"),
    (len, "builtin_function_or_method"),
])  # fmt: skip
def test_values_in_a_few_words(value: Any, text: str) -> None:
    assert brief(value) == text


def test_names() -> None:
    assert [called(n) for n in ("x", "y", "out", "axis", "x_shape", "weight_shape", "shape", "input")] == [
        "self", "other", "result", "dim", "self_shape", "weight_shape", "shape", "input"]  # fmt: skip

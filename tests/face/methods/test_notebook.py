"""What a notebook shows of a tensor."""

import re
import subprocess
import sys

import pytest

import gradwright as gw
from gradwright import nn


def text(x: gw.Tensor) -> str:
    shown = x._repr_html_()
    assert shown is not None
    return re.sub(r"<[^>]*>", "|", shown).strip("|")


leaf = gw.tensor([[1.0, 2.5], [3.0, 4.0]], requires_grad=True)


@pytest.mark.parametrize(("x", "shown"), [
    (gw.tensor([1, 2]), "[1, 2]||Tensor · shape [2] · int64 · cpu"),
    (gw.tensor(2.5, dtype=gw.float64), "2.5000||Tensor · shape [] · float64 · cpu"),
    (gw.ones(2, 0), "[]||Tensor · shape [2, 0] · float32 · cpu"),
    (leaf[1], "[3., 4.]||Tensor · shape [2] · float32 · cpu · made by SelectBackward0"),
    (leaf * 2, "[[2., 5.],\n [6., 8.]]||Tensor · shape [2, 2] · float32 · cpu · made by MulBackward0"),
    (nn.Parameter(gw.ones(1)), "[1.]||Parameter · shape [1] · float32 · cpu · requires grad, has no .grad"),
    (gw.zeros(2000), "[0., 0., 0.,  ..., 0., 0., 0.]||Tensor · shape [2000] · float32 · cpu"),
])  # fmt: skip
def test_values_and_what_they_are(x: gw.Tensor, shown: str) -> None:
    assert text(x) == shown


def test_a_leaf_with_a_gradient() -> None:
    x = gw.ones(1, requires_grad=True)
    x.sum().backward()
    assert text(x).endswith("requires grad, has a .grad")


def test_the_text_is_shown_where_it_says_something_else() -> None:
    class Own(gw.Tensor):
        pass

    assert gw.ones(2).as_subclass(Own)._repr_html_() is None
    found = []
    gw.vmap(lambda row: found.append(row._repr_html_()) or row)(gw.ones(2, 2))
    assert found == [None]


def test_the_repr_is_pytorchs() -> None:
    assert repr(leaf) == "tensor([[1.0000, 2.5000],\n        [3.0000, 4.0000]], requires_grad=True)"


def test_under_pytorchs_names() -> None:
    program = "import gradwright.as_torch, torch; print(torch.ones(2)._repr_html_())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "Tensor · shape [2] · float32 · cpu" in done.stdout

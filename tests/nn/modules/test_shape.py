"""Layers that join and split dims."""

import pytest

import gradwright as gw
from tests.nn.module_cases import same


@pytest.mark.parametrize(("name", "args"), [
    ("Flatten", ()), ("Flatten", (0, 1)), ("Flatten", (2,)), ("Unflatten", (1, (2, -1))), ("Unflatten", (-1, [5, 1])),
])  # fmt: skip
def test_pytorch_agrees(torch, name, args):
    same(torch, name, args, {}, torch.randn(3, 4, 5, requires_grad=True))


@pytest.mark.parametrize("sizes", [6, "2", (2, 1.5)])
def test_sizes_are_ints(lib, sizes):
    with pytest.raises(TypeError, match="unflattened_size must be"):
        lib.nn.Unflatten(1, sizes)


def test_a_dim_has_no_name():
    with pytest.raises(TypeError, match="dims have no names"):
        gw.nn.Unflatten("rows", (2, 3))

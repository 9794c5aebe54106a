"""Distances and angles as modules."""

import pytest

import gradwright as gw
from tests.nn.module_cases import same


@pytest.mark.parametrize(("name", "args"), [
    ("CosineSimilarity", ()), ("CosineSimilarity", (0, 0.1)), ("PairwiseDistance", ()),
    ("PairwiseDistance", (1.0, 0.1, True)),
])  # fmt: skip
def test_pytorch_agrees(torch, name, args):
    same(torch, name, args, {}, *(torch.randn(4, 3, requires_grad=True) for _ in range(2)))


def test_names_of_arguments_and_attributes(lib):
    m = lib.nn.PairwiseDistance(p=1.0, eps=0.0, keepdim=True)
    assert (m.norm, m.eps, m.keepdim) == (1.0, 0.0, True)
    assert m(lib.ones(2, 3), lib.zeros(2, 3)).tolist() == [[3.0], [3.0]]
    assert gw.nn.CosineSimilarity(dim=-1, eps=0.5).eps == 0.5

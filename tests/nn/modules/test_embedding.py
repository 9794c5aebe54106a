"""Tables of vectors."""

import pytest

import gradwright as gw
from tests.nn.module_cases import same


@pytest.mark.parametrize("settings", [
    {"padding_idx": 1}, {"padding_idx": -1, "scale_grad_by_freq": True}, {"max_norm": 0.5},
    {"max_norm": 0.5, "norm_type": 1.0},
], ids=str)  # fmt: skip
def test_settings(torch, settings):
    same(torch, "Embedding", (5, 3), settings, torch.tensor([[4, 1, 1], [0, 4, 2]]))


@pytest.mark.parametrize(("settings", "shape"), [
    ({}, (2, 3)), ({"mode": "sum"}, (2, 3)), ({"mode": "max"}, (2, 3)), ({"mode": "sum", "padding_idx": 4}, (6,)),
    ({"include_last_offset": True}, (6,)), ({"max_norm": 0.5, "norm_type": 1.0}, (6,)),
], ids=str)  # fmt: skip
def test_bags(torch, settings, shape):
    indices = torch.tensor([4, 1, 1, 0, 4, 2]).reshape(shape)
    offsets = [torch.tensor([0, 2, 6])] if len(shape) == 1 else []
    same(torch, "EmbeddingBag", (5, 3), settings, indices, *offsets)


def test_weights_of_a_bag(torch):
    same(torch, "EmbeddingBag", (5, 3), {"mode": "sum"}, torch.tensor([[4, 1], [0, 4]]), None,
         torch.randn(2, 2, requires_grad=True))  # fmt: skip


@pytest.mark.parametrize("name", ["Embedding", "EmbeddingBag"])
def test_from_a_table(lib, name):
    table = lib.tensor([[1.0, 2.0], [3.0, 4.0]])
    m = getattr(lib.nn, name).from_pretrained(table, padding_idx=1)
    assert not m.weight.requires_grad
    assert getattr(lib.nn, name).from_pretrained(table, freeze=False).weight.requires_grad
    table[0, 0] = 9.0
    assert m.weight.tolist() == [[9, 2], [3, 4]]
    with pytest.raises(AssertionError, match="Embeddings parameter is expected to be 2-dimensional"):
        getattr(lib.nn, name).from_pretrained(lib.ones(3))


@pytest.mark.parametrize("name", ["Embedding", "EmbeddingBag"])
def test_initial_values(lib, name):
    m = getattr(lib.nn, name)(200, 100, padding_idx=-1)
    assert m.padding_idx == 199
    assert m.weight[199].tolist() == [0] * 100
    drawn = m.weight[:199].detach()
    assert abs(drawn.mean().item()) < 0.04
    assert abs(drawn.std().item() - 1) < 0.03


def test_errors(lib):
    with pytest.raises(AssertionError, match=r"(?i)padding_idx must be within num_embeddings"):
        lib.nn.Embedding(3, 2, padding_idx=3)
    with pytest.raises(AssertionError, match="Shape of weight does not match num_embeddings and embedding_dim"):
        lib.nn.Embedding(3, 2, _weight=lib.ones(2, 3))
    with pytest.raises(IndexError, match="index out of range in self"):
        lib.nn.Embedding(3, 2)(lib.tensor([3]))


def test_a_wrong_input_is_told_the_layer_and_what_it_takes():
    net = gw.nn.Sequential(gw.nn.Embedding(10, 4))
    with pytest.raises(IndexError) as caught:
        net(gw.tensor([3, 10]))
    assert caught.value.__notes__ == [
        "in Sequential.0: Embedding(10, 4) was given int64 (2,); it takes whole numbers from 0 to 9, of any shape"
    ]

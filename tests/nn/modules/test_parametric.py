"""The base of layers with parameters."""

import math

import numpy as np
import pytest

import gradwright as gw
from gradwright.nn.modules.parametric import Parametric


class Scale(Parametric):
    def __init__(self, n, without=()):
        super().__init__()
        self.n = n
        self._allocate(None, gw.float64, without)

    def _shapes(self):
        return {"weight": (self.n,), "bias": (self.n, 2)}

    def reset_parameters(self):
        self._draw_within(self.n)


def test_parameters_have_the_shapes_and_dtype_and_are_within_the_bound():
    m = Scale(400)
    assert {name: p.shape for name, p in m.named_parameters()} == {"weight": (400,), "bias": (400, 2)}
    assert {p.dtype for p in m.parameters()} == {gw.float64}
    for p in m.parameters():
        assert 0.95 < p.detach().abs().max().item() * math.sqrt(400) <= 1


def test_one_that_it_is_without():
    m = Scale(3, ("bias",))
    assert m.bias is None
    assert list(m.state_dict()) == ["weight"]
    m.reset_parameters()


def test_nothing_to_draw_from():
    assert Scale(0).bias.shape == (0, 2)


@pytest.mark.parametrize("call", [lambda m: m._shapes(), lambda m: m.reset_parameters()])
def test_a_subclass_says_what_it_is(call):
    with pytest.raises(NotImplementedError):
        call(Parametric())


@pytest.mark.parametrize(("name", "args", "argument"), [
    ("Linear", (2.5, 3), "in_features"), ("Linear", (3, None), "out_features"),
    ("Bilinear", ("a", 3, 3), "in1_features"), ("Conv2d", (1, 4.0, 3), "out_channels"),
    ("Conv2d", ("1", 4, 3), "in_channels"), ("Conv1d", (1, 4, 3.0), "kernel_size"),
    ("ConvTranspose3d", (1.0, 4, 3), "in_channels"),
    ("Embedding", ("a", 3), "num_embeddings"), ("EmbeddingBag", (3, 2.0), "embedding_dim"),
    ("LSTM", (3, 4, "2"), "num_layers"), ("GRU", (3.0, 4), "input_size"), ("GRUCell", (3, "4"), "hidden_size"),
    ("BatchNorm1d", (3.0,), "num_features"), ("LayerNorm", ((3, 2.0),), "normalized_shape"),
    ("RMSNorm", (3.0,), "normalized_shape"), ("GroupNorm", ("2", 4), "num_groups"), ("PReLU", (2.0,), "num_parameters"),
    ("MultiheadAttention", ("4", 2), "embed_dim"), ("TransformerEncoderLayer", (4, 2, 8.0), "dim_feedforward"),
    ("AdaptiveLogSoftmaxWithLoss", (4, 5.0, [2]), "n_classes"),
])  # fmt: skip
def test_a_size_of_another_type_is_named(lib, name, args, argument):
    with pytest.raises(TypeError, match=rf"({name}\(\): argument ')?{argument}" if lib is gw else None):
        getattr(lib.nn, name)(*args)


def test_sizes_may_be_numbers_of_other_libraries(lib):
    three = np.int64(3)
    assert lib.nn.Linear(three, three)(lib.ones(1, 3)).shape == (1, 3)
    assert lib.nn.LayerNorm(three)(lib.ones(1, 3)).shape == (1, 3)
    assert lib.nn.InstanceNorm1d(3.0)(lib.ones(1, 3, 5)).shape == (1, 3, 5)  # it has no parameters

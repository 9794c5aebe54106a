"""Transformers."""

import numpy as np
import pytest

import gradwright as gw
from tests.nn.module_cases import compare

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")  # PyTorch's

draw = np.random.default_rng(0)


@pytest.mark.parametrize("options", [{}, {"activation": "gelu", "norm_first": True, "bias": False}])
def test_the_whole_agrees_with_torch(torch, options):
    mine, theirs = (lib.nn.Transformer(4, 2, 2, 1, 6, 0.0, batch_first=True, dtype=lib.float64, **options)
                    for lib in (gw, torch))  # fmt: skip
    src, tgt = (torch.tensor(draw.standard_normal((2, n, 4))).requires_grad_() for n in (5, 3))
    compare(mine, theirs, (src, tgt), {
        "tgt_mask": theirs.generate_square_subsequent_mask(3, dtype=torch.float64), "tgt_is_causal": True,
        "src_key_padding_mask": torch.tensor([[False] * 5, [False] * 3 + [True] * 2]),
        "memory_key_padding_mask": torch.tensor([[False] * 4 + [True], [False] * 5]),
    })  # fmt: skip


def test_later_places_do_not_act_on_earlier_ones():
    m = gw.nn.TransformerEncoderLayer(4, 2, 8, 0.0)
    x, y = gw.randn(5, 1, 4), gw.randn(5, 1, 4)
    mask = gw.nn.Transformer.generate_square_subsequent_mask(5)
    mixed = gw.cat([x[:3], y[3:]])
    np.testing.assert_allclose(*(m(a, mask, is_causal=True)[:3].detach() for a in (x, mixed)), rtol=1e-5, atol=1e-6)


def test_layers_begin_alike_and_are_apart():
    net = gw.nn.TransformerEncoder(gw.nn.TransformerEncoderLayer(4, 2, 8), 2, gw.nn.LayerNorm(4))
    first, second = (p for p in (net.layers[0].linear1.weight, net.layers[1].linear1.weight))
    assert first is not second
    assert first.tolist() == second.tolist()


def test_dropout_makes_training_random():
    gw.manual_seed(0)
    m, x = gw.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.5), gw.ones(3, 1, 4)
    assert m(x).tolist() != m(x).tolist()
    m.eval()
    assert m(x).tolist() == m(x).tolist()


def test_an_activation_of_ones_own(lib):
    m = lib.nn.TransformerEncoderLayer(4, 2, 8, activation=lib.nn.SiLU())
    assert "(activation): SiLU()" in repr(m)
    assert m(lib.ones(2, 1, 4)).shape == (2, 1, 4)
    with pytest.raises(RuntimeError, match="activation should be relu/gelu, not sine"):
        lib.nn.TransformerDecoderLayer(4, 2, 8, activation="sine")


def test_parts_may_be_overridden(lib):
    class Straight(lib.nn.TransformerEncoderLayer):
        def _ff_block(self, x):
            return x * 0

    x = lib.ones(2, 1, 4)
    m = Straight(4, 2, 8, norm_first=True).eval()
    assert m(x).tolist() == (x + m._sa_block(m.norm1(x), None, None)).tolist()


def test_custom_parts(lib):
    class Same(lib.nn.Module):
        def forward(self, src, *args, **kwargs):
            return src

    m = lib.nn.Transformer(4, 2, custom_encoder=Same(), custom_decoder=Same())
    assert m(lib.zeros(3, 1, 4), lib.ones(2, 1, 4)).tolist() == [[[1.0] * 4]] * 2


def test_sizes_that_do_not_fit(lib):
    m = lib.nn.Transformer(4, 2, 1, 1, 8)
    with pytest.raises(RuntimeError, match="the batch number of src and tgt must be equal"):
        m(lib.zeros(3, 1, 4), lib.zeros(3, 2, 4))
    with pytest.raises(RuntimeError, match="the feature number of src and tgt must be equal to d_model"):
        m(lib.zeros(3, 1, 4), lib.zeros(3, 1, 5))


def test_causal_mask(lib):
    inf = float("inf")
    assert lib.nn.Transformer.generate_square_subsequent_mask(3).tolist() == [[0, -inf, -inf], [0, 0, -inf], [0, 0, 0]]

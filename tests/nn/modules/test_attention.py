"""Multi-head attention as a layer."""

import numpy as np
import pytest

import gradwright as gw
from tests.nn.module_cases import compare

draw = np.random.default_rng(0)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("options", [
    {}, {"bias": False}, {"add_bias_kv": True, "add_zero_attn": True}, {"kdim": 3}, {"kdim": 5, "vdim": 2},
])  # fmt: skip
@pytest.mark.parametrize("call", [
    {}, {"need_weights": False}, {"average_attn_weights": False}, {"key_padding_mask": True, "attn_mask": True},
])  # fmt: skip
def test_every_option_agrees_with_torch(torch, batch_first, options, call):
    mine, theirs = (lib.nn.MultiheadAttention(4, 2, batch_first=batch_first, dtype=lib.float64, **options)
                    for lib in (gw, torch))  # fmt: skip
    shapes = (2, 3, 4), (2, 5, options.get("kdim", 4)), (2, 5, options.get("vdim", 4))
    inputs = [torch.tensor(draw.standard_normal(s)) for s in shapes]
    inputs = [(x if batch_first else x.transpose(0, 1)).contiguous().requires_grad_() for x in inputs]
    named = dict(call)
    if "attn_mask" in named:
        named |= {"attn_mask": torch.tensor(draw.uniform(size=(3, 5)) < 0.3),
                  "key_padding_mask": torch.tensor([[False] * 5, [False] * 3 + [True] * 2])}  # fmt: skip
    compare(mine, theirs, inputs, named)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("shape", [(5, 3, 4), (5, 4)])
@pytest.mark.parametrize("causal", [False, True])
def test_of_one_tensor_to_itself(torch, batch_first, shape, causal):
    """One projection then serves query, key and value."""
    found, x = [], draw.standard_normal(shape)
    theirs = torch.nn.MultiheadAttention(4, 2, batch_first=batch_first, dtype=torch.float64)
    for lib in (gw, torch):
        m = lib.nn.MultiheadAttention(4, 2, batch_first=batch_first, dtype=lib.float64)
        m.load_state_dict({k: lib.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
        a = lib.tensor(x).requires_grad_()
        n = shape[1] if batch_first and len(shape) == 3 else shape[0]
        mask = lib.nn.Transformer.generate_square_subsequent_mask(n, dtype=lib.float64) if causal else None
        y = m(a, a, a, attn_mask=mask, is_causal=causal, need_weights=False)[0]
        (y * y).sum().backward()
        found.append([t.detach().numpy() for t in (y, a.grad, *(p.grad for p in m.parameters()))])
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine, other, 1e-9, 1e-12)


def test_initial_values(lib):
    m = lib.nn.MultiheadAttention(64, 4, add_bias_kv=True)
    assert not m.in_proj_bias.any()
    assert not m.out_proj.bias.any()
    bound = (6 / (64 + 192)) ** 0.5
    assert 0.98 * bound < m.in_proj_weight.abs().max().item() <= bound
    assert 0.05 < m.bias_k.std().item() < 0.3  # (2 / 128)**0.5 = 0.125
    before = m.in_proj_weight.tolist()
    m._reset_parameters()
    assert m.in_proj_weight.tolist() != before


def test_dropout_is_in_training_only():
    gw.manual_seed(0)
    m, x = gw.nn.MultiheadAttention(4, 1, dropout=0.5), gw.ones(6, 1, 4)
    weights = m(x, x, x)[1]
    assert sorted(set(np.round(weights.detach().numpy().ravel(), 4))) == pytest.approx([0, 1 / 3], abs=1e-4)
    assert m.eval()(x, x, x)[1].flatten().tolist() == pytest.approx([1 / 6] * 36)


def test_a_query_that_may_see_nothing_gets_the_bias_alone():
    m, x = gw.nn.MultiheadAttention(4, 2), gw.ones(2, 1, 4)
    y, weights = m(x, x, x, attn_mask=gw.tensor([[True, True], [False, False]]))
    assert y[0, 0].tolist() == m.out_proj.bias.tolist()
    assert weights.tolist() == [[[0, 0], [0.5, 0.5]]]


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda m, x, lib: m(x[0, 0], x, x), AssertionError, "query should be unbatched 2D or batched 3D tensor but"),
    (lambda m, x, lib: m(x, x[0], x), AssertionError, r"For batched \(3-D\) `query`, expected `key` and `value` to"),
    (lambda m, x, lib: m(x, x, x[:2]), AssertionError, "key shape .* does not match value shape"),
    (lambda m, x, lib: m(x[..., :2], x, x), AssertionError, "was expecting embedding dimension of 4, but got 2"),
    (lambda m, x, lib: m(x, x, x, lib.ones(3) > 0), AssertionError, "expected `key_padding_mask` to be `None` or 2-D"),
    (lambda m, x, lib: m(x, x, x, attn_mask=lib.ones(3) > 0), AssertionError, "expected `attn_mask` to be `None`, 2-D"),
    (lambda m, x, lib: m(x, x, x, attn_mask=lib.ones(2, 3) > 0), RuntimeError, "The shape of the 2D attn_mask is"),
    (lambda m, x, lib: m(x, x, x, is_causal=True), RuntimeError, "Need attn_mask if specifying the is_causal hint"),
    (lambda m, x, lib: m(x, x, x, attn_mask=lib.ones(3, 3, dtype=lib.int64)), AssertionError, "only bool and floating"),
])  # fmt: skip
def test_refuses(lib, call, error, message):
    with pytest.raises(error, match=message):
        call(lib.nn.MultiheadAttention(4, 2), lib.zeros(3, 2, 4), lib)


def test_refuses_arguments(lib):
    with pytest.raises(ValueError, match="embed_dim and num_heads must be greater than 0, got embed_dim=0 and num"):
        lib.nn.MultiheadAttention(0, 2)
    with pytest.raises(AssertionError, match="embed_dim must be divisible by num_heads"):
        lib.nn.MultiheadAttention(5, 2)

"""Attention."""

import numpy as np
import pytest

import gradwright as gw

draw = np.random.default_rng(0)
Q, K, V = (draw.standard_normal(s) for s in ((2, 4, 3, 6), (2, 4, 5, 6), (2, 4, 5, 2)))
MASK = draw.uniform(size=(3, 5)) < 0.6
MASK[1] = False


@pytest.mark.parametrize("options", [
    {}, {"is_causal": True}, {"scale": 0.3}, {"attn_mask": MASK}, {"attn_mask": draw.standard_normal((2, 1, 3, 5))},
])  # fmt: skip
def test_agree_with_torch(agree, options):
    def call(lib, q, k, v):
        mask = options.get("attn_mask")
        return lib.nn.functional.scaled_dot_product_attention(
            q, k, v, **options | ({} if mask is None else {"attn_mask": lib.tensor(mask)})
        )

    agree(call, Q, K, V, order=2 if options else 1)  # the second of its quick form PyTorch does not have


def test_heads_that_share_keys(agree):
    agree(lambda lib, q, k, v: lib.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True),
          Q, K[:, :2], V[:, :2])  # fmt: skip


def test_a_query_that_sees_nothing_gets_nothing():
    q, k, v = (gw.tensor(x, requires_grad=True) for x in (Q, K, V))
    y = gw.nn.functional.scaled_dot_product_attention(q, k, v, gw.tensor(MASK))
    y.sum().backward()
    assert not y[:, :, 1].any()
    assert not q.grad[:, :, 1].any()
    assert gw.isfinite(k.grad).all()


def test_scores_far_out():
    q = gw.tensor([[1000.0], [-1000.0]])
    y = gw.nn.functional.scaled_dot_product_attention(q, q, gw.tensor([[1.0], [2.0]]))
    assert y.tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize("options", [
    {}, {"need_weights": False}, {"average_attn_weights": False}, {"add_zero_attn": True}, {"extra": True},
    {"attn_mask": draw.standard_normal((3, 5))}, {"attn_mask": MASK[[0, 0, 2]] == 0},
    {"key_padding_mask": np.array([[False, True, False, False, True], [False] * 5])}, {"single": True},
])  # fmt: skip
def test_multi_head(agree, options):
    options = dict(options)
    extra, single = options.pop("extra", False), options.pop("single", False)
    drawn = np.random.default_rng(1)

    def call(lib, q, k, v, w, b, out, row):
        named = {n: lib.tensor(x) if isinstance(x, np.ndarray) else x for n, x in options.items()}
        if single:
            q, k, v = q[:, 0], k[:, 0], v[:, 0]
        more = (row, row * 2) if extra else (None, None)
        arguments = (q, k, v, 4, 2, w, b, *more, named.pop("add_zero_attn", False), 0.0, out, None)
        y, weights = lib.nn.functional.multi_head_attention_forward(*arguments, **named)
        assert (weights is None) == (named.get("need_weights") is False)
        return y if weights is None else lib.cat([y.flatten(), weights.flatten()])

    shapes = (3, 2, 4), (5, 2, 4), (5, 2, 4), (12, 4), (12,), (4, 4), (1, 1, 4)
    agree(call, *(drawn.standard_normal(s) for s in shapes), order=2 if options.get("need_weights", True) else 1)


@pytest.mark.parametrize("call", [
    lambda f, lib, x: f(x, x, x, lib.ones(3, 3), is_causal=True),
    lambda f, lib, x: f(x, x.float(), x),
    lambda f, lib, x: f(x, x[..., :1], x),
])  # fmt: skip
def test_refuses(lib, call):
    with pytest.raises(RuntimeError):
        call(lib.nn.functional.scaled_dot_product_attention, lib, lib.ones(2, 3, 4, dtype=lib.float64))

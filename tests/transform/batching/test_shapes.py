from __future__ import annotations

import pytest

import gradwright as gw
from gradwright import vmap

X = gw.arange(36.0).reshape(3, 4, 3)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.clone().as_strided((2, 2), (3, 1), 1),
        lambda x: x.t().clone().as_strided((3, 3), (1, 1)),
        lambda x: x.flatten().unfold(0, 3, 2),
        lambda x: gw.stack([x, -x], -1),
        lambda x: gw.cat([x, x[:1]], 0),
        lambda x: x.repeat(2, 1, 2),
        lambda x: x.expand(5, 4, 3),
        lambda x: x[0].expand(2, 3),
        lambda x: gw.nn.functional.pad(x, (1, -1, 0, 2), value=3.0),
        lambda x: gw.tensor_split(x, 2)[1],
        lambda x: x.unbind(1)[2],
        lambda x: gw.diag_embed(x),
        lambda x: x.rot90().flip(0).roll(2, 1),
        lambda x: gw.meshgrid(x[0], x[:, 0], indexing="ij")[1],
    ],
)
def test_against_the_loop(f):
    got, expected = vmap(f)(X), gw.stack([f(x) for x in X])
    assert got.shape == expected.shape
    assert (got == expected).all()


def test_views_show_the_memory_of_the_batch():
    x = X.clone()
    got = vmap(lambda x: x.t()[1])(x)
    x += 1
    assert (got == x[:, :, 1]).all()

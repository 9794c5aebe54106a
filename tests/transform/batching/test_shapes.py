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


@pytest.mark.parametrize(("size", "step"), [(2, 2), (1, 1), (1, 2), (2, 3), (3, 3)])
@pytest.mark.parametrize("lay", [
    lambda x: x, lambda x: x.t().clone().t(), lambda x: x[:, ::2], lambda x: gw.stack([x, x], 2)[..., 1],
])  # fmt: skip
def test_windows_are_views_however_the_examples_lie(lay, size, step):
    def write(x):
        x.unfold(0, size, step).mul_(3)
        return x

    def slope(x):
        return gw.func.grad(lambda x: (write(x * 1) ** 2).sum())(x)

    for f in (write, slope, lambda x: x.unfold(0, size, step) * 2):
        x = lay(gw.arange(24.0).reshape(3, 8))
        want = gw.stack([f(row.clone()) for row in x])
        assert gw.equal(vmap(f)(x), want)
        assert f is not write or gw.equal(x, want)
    assert gw.equal(vmap(lambda x: x.unfold(0, 3, 1).sum())(x), x.unfold(1, 3, 1).sum((1, 2)))

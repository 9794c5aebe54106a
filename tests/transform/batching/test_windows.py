from itertools import product

import pytest

import gradwright as gw
from gradwright import vmap
from tests.transform.programs import loop

F = gw.nn.functional


@pytest.mark.parametrize("dims", [d for d in product((0, None), repeat=3) if d != (None,) * 3])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("f", [F.conv1d, F.conv2d, F.conv_transpose1d])
def test_convolutions(dims, groups, f):
    space = (6, 5)[: 1 + (f is F.conv2d)]
    kernel = (3, 2)[: len(space)]
    weight = (4, 4 // groups, *kernel)
    shapes = [s if d is None else (3, *s) for s, d in zip(((2, 4, *space), weight, (4 if f is not F.conv_transpose1d
              else 4 // groups * groups,)), dims, strict=True)]  # fmt: skip
    args = [gw.randn(*s, dtype=gw.float64) for s in shapes]
    call = lambda x, w, b: f(x, w, b, padding=1, groups=groups)
    got = vmap(call, in_dims=dims)(*args)
    assert gw.allclose(got, loop(call, args, dims), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("f", [
    lambda x: F.max_pool2d(x, 2), lambda x: F.avg_pool2d(x, 3, 1), lambda x: F.unfold(x[None], 2)[0],
    lambda x: F.max_pool1d(x[0], 2, return_indices=True)[1], lambda x: F.adaptive_avg_pool2d(x, 2),
    lambda x: F.max_unpool1d(*F.max_pool1d(x[:, 0], 2, return_indices=True), 2),
])  # fmt: skip
def test_windows(f):
    x = gw.randn(3, 2, 6, 6, dtype=gw.float64)
    assert gw.allclose(vmap(f)(x), gw.stack([f(y) for y in x]), rtol=1e-13, atol=1e-13)


def test_gradients_of_a_convolution_for_each_sample():
    net = gw.nn.Sequential(gw.nn.Conv2d(2, 3, 3), gw.nn.ReLU(), gw.nn.Flatten(0), gw.nn.Linear(48, 1)).double()
    x = gw.randn(5, 2, 6, 6, dtype=gw.float64)
    parameters = list(net.parameters())

    def slopes(x):
        return gw.autograd.grad(net(x).sum(), parameters)

    got = vmap(slopes)(x)
    for k in range(5):
        for g, e in zip(got, slopes(x[k]), strict=True):
            assert gw.allclose(g[k], e, rtol=1e-12, atol=1e-13)

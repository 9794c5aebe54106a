import pytest

import gradwright as gw
from gradwright import vmap

X = gw.randn(3, 4, 5, dtype=gw.float64)
F = gw.nn.functional


@pytest.mark.parametrize("f", [
    lambda x: x.argmax(), lambda x: x.argmin(1), lambda x: x.argmax(-1, keepdim=True), lambda x: x.max(0)[1],
    lambda x: x.max(), lambda x: x.min(), lambda x: x.sort(-1)[0], lambda x: x.sort(0, descending=True)[1],
    lambda x: x.topk(2)[0], lambda x: x.kthvalue(2, 0)[0], lambda x: x.median(1)[0], lambda x: x.mode(0)[0],
    lambda x: x.cumsum(0), lambda x: x.cummax(1)[0], lambda x: x.logcumsumexp(0), lambda x: x.cumprod(-1),
    lambda x: x.softmax(-1), lambda x: F.log_softmax(x, 0), lambda x: x[0, 0].softmax(0), lambda x: x[0, 0].cumsum(0),
    lambda x: x[0, 0].sort()[0], lambda x: x.var(), lambda x: x.std(0), lambda x: x.norm(), lambda x: x.norm(dim=1),
    lambda x: x[0, 0].norm(), lambda x: x.prod(1), lambda x: x.logsumexp((0, 1)), lambda x: (x > 0).any(0),
    lambda x: gw.fft.fft(x), lambda x: gw.fft.irfft(gw.fft.rfft2(x)), lambda x: F.layer_norm(x, (5,)),
    lambda x: F.cross_entropy(x, gw.tensor([0, 3, 1, 2])), lambda x: F.nll_loss(x, x.argmax(1)),
    lambda x: F.cross_entropy(x, x.argmin(1)), lambda x: gw.searchsorted(x[0].sort()[0], x[1]),
    lambda x: gw.bincount(x.argmax(1), minlength=5), lambda x: F.one_hot(x.argmax(1), 5),
    lambda x: x.gather(1, x.argsort(1)),
    lambda x: x.scatter(1, x.argsort(1)[:, :2], 0.0), lambda x: x.index_add(0, x.argmax(1)[:2] % 4, x[:2]),
    lambda x: gw.linspace(0, 1, 4, dtype=gw.float64) @ x, lambda x: F.interpolate(x[None], scale_factor=2)[0],
])  # fmt: skip
def test_against_the_loop(f):
    got, expected = vmap(f)(X), gw.stack([f(x) for x in X])
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    assert gw.allclose(got, expected, rtol=1e-12, atol=1e-13) if got.dtype != gw.bool else (got == expected).all()

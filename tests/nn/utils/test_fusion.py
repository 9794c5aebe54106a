"""A layer and its batch normalisation as one."""

import pytest

import gradwright as gw
from gradwright.nn.utils import fusion


def settled(norm):
    with gw.no_grad():
        for t in (norm.weight, norm.bias, norm.running_mean):
            t.copy_(gw.randn(t.shape))
        norm.running_var.copy_(gw.rand(norm.running_var.shape) + 0.5)
    return norm.eval()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("make", "norm", "shape"), [
    (lambda b: gw.nn.Conv2d(2, 3, 3, bias=b), gw.nn.BatchNorm2d, (2, 2, 5, 5)),
    (lambda b: gw.nn.ConvTranspose2d(2, 3, 3, bias=b), gw.nn.BatchNorm2d, (2, 2, 5, 5)),
    (lambda b: gw.nn.Linear(4, 3, bias=b), gw.nn.BatchNorm1d, (2, 4)),
])
def test_the_fused_layer_does_what_both_do(make, norm, shape, bias):
    gw.manual_seed(0)
    layer, bn = make(bias).eval(), settled(norm(3))
    x = gw.randn(shape)
    if len(shape) == 2:
        fused = fusion.fuse_linear_bn_eval(layer, bn)
    else:
        fused = fusion.fuse_conv_bn_eval(layer, bn, transpose=isinstance(layer, gw.nn.ConvTranspose2d))
    assert gw.allclose(fused(x), bn(layer(x)), atol=1e-5)
    with pytest.raises(AssertionError, match="Fusion only for eval!"):
        fusion.fuse_conv_bn_eval(layer.train(), bn)

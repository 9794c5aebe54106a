import torch
from bayesian_torch.layers import Conv2dFlipout, Conv2dReparameterization, LinearFlipout, LinearReparameterization, LSTMReparameterization
from bayesian_torch.models.dnn_to_bnn import dnn_to_bnn, get_kl_loss
from help import fill, gradients, rand, show

out = {}
x, img = rand(4, 6), rand(2, 3, 6, 6)
for name, layer, value in [("lin", LinearReparameterization(6, 3), x), ("flip", LinearFlipout(6, 3), x),
                           ("conv", Conv2dReparameterization(3, 4, 3), img), ("cflip", Conv2dFlipout(3, 4, 3), img)]:  # fmt: skip
    fill(layer, 0.1)
    if hasattr(layer, "rho_kernel"):
        layer.rho_kernel.data -= 60.0
    if hasattr(layer, "rho_weight"):
        layer.rho_weight.data -= 60.0
    if getattr(layer, "rho_bias", None) is not None:
        layer.rho_bias.data -= 60.0
    layer.dnn_to_bnn_flag = True
    y = layer(value)
    y = y[0] if isinstance(y, tuple) else y
    y.pow(2).sum().backward()
    out[name] = [y, layer.mu_kernel.grad if hasattr(layer, "mu_kernel") else layer.mu_weight.grad]
show(out=out)

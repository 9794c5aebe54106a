import sinabs.activation as sina
import sinabs.layers as sl
import torch
from help import fill, gradients, rand, show

out = {}
x = rand(2, 8, 5).requires_grad_()
for name, grad in [("heaviside", sina.Heaviside(0.5)), ("exp", sina.SingleExponential()), ("multi", sina.MultiGaussian()),
                   ("periodic", sina.PeriodicExponential())]:  # fmt: skip
    for spike in (sina.SingleSpike, sina.MultiSpike):
        for reset in (sina.MembraneReset(), sina.MembraneSubtract()):
            x.grad = None
            layer = sl.LIF(tau_mem=10.0, spike_threshold=0.3, spike_fn=spike, surrogate_grad_fn=grad, reset_fn=reset)
            y = layer(x)
            (y * torch.arange(5.0)).sum().backward()
            out[f"{name} {spike.__name__} {type(reset).__name__}"] = [y, x.grad.clone(), layer.v_mem]
for name, layer in [("iaf", sl.IAF()), ("li", sl.ExpLeak(tau_mem=5.0)), ("alif", sl.ALIF(10.0, 10.0, train_alphas=True)),
                    ("rec", sl.LIFRecurrent(tau_mem=10.0, rec_connect=fill(torch.nn.Linear(5, 5))))]:  # fmt: skip
    x.grad = None
    y = layer(x)
    y.pow(2).sum().backward()
    out[name] = [y, x.grad.clone(), gradients(layer)]
show(out=out)

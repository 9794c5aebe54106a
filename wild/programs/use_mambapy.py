import torch
from help import fill, gradients, rand, show
from mambapy.mamba import Mamba, MambaConfig
from mambapy.pscan import pscan

A, X = (rand(2, 8, 3, 4) * 0.5).requires_grad_(), rand(2, 8, 3, 4).requires_grad_()
H = pscan(A, X)
H.pow(2).sum().backward()
out = {"scan": [H, A.grad, X.grad]}
x = rand(2, 6, 8).requires_grad_()
for pscan_ in (True, False):
    net = fill(Mamba(MambaConfig(d_model=8, n_layers=2, d_state=4, pscan=pscan_)), 0.2)
    x.grad = None
    y = net(x)
    y.pow(2).sum().backward()
    out[f"{pscan_}"] = [y, x.grad.clone(), gradients(net)]
show(out=out)

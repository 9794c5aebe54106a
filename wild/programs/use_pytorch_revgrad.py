import torch
from help import fill, gradients, rand, show
from pytorch_revgrad import RevGrad

x = rand(4, 3).requires_grad_()
out = []
for layer in (RevGrad(), RevGrad(alpha=0.3)):
    net = fill(torch.nn.Sequential(torch.nn.Linear(3, 4), layer, torch.nn.Linear(4, 1)))
    x.grad = None
    y = net(x)
    y.pow(2).sum().backward()
    out.append([y, x.grad.clone(), gradients(net)])
show(out=out)

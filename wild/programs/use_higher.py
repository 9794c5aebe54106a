import higher
import torch
from torch import nn
from help import fill, rand, show

net = fill(nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1)))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = (rand(6, 3), rand(6, 1))
with higher.innerloop_ctx(net, opt) as (f, d):
    for _ in range(3):
        d.step(((f(x) - y) ** 2).mean())
    l = ((f(x) - y) ** 2).mean()
    g = torch.autograd.grad(l, list(f.parameters(time=0)))
show(l=l, g=list(g))

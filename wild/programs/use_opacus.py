from opacus import GradSampleModule
from torch import nn
from help import fill, rand, show

net = GradSampleModule(fill(nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))))
x = rand(5, 4)
net(x).pow(2).sum().backward()
show(g={n: p.grad_sample for n, p in net.named_parameters()})

import torch
from help import fill, gradients, rand, show
from revtorch import ReversibleBlock, ReversibleSequence

blocks = [ReversibleBlock(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4), split_along_dim=1) for _ in range(2)]
net = fill(ReversibleSequence(torch.nn.ModuleList(blocks)))
x = rand(3, 8).requires_grad_()
y = net(x)
y.pow(2).sum().backward()
show(y=y, g=x.grad, p=gradients(net))

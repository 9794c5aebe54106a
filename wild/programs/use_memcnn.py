import memcnn
import torch
from help import fill, gradients, rand, show

net = fill(memcnn.InvertibleModuleWrapper(memcnn.AdditiveCoupling(torch.nn.Linear(4, 4)), keep_input=True))
x = rand(3, 8).requires_grad_()
y = net(x)
y.pow(2).sum().backward()
show(y=y, g=x.grad, p=gradients(net))

from kron_torch import Kron
import torch
from help import fill, rand, show

torch.manual_seed(0)
n = fill(torch.nn.Linear(3, 2))
o = Kron(n.parameters(), lr=0.001)
l = (n(rand(4, 3)) ** 2).sum()
l.backward()
o.step()
show(g=n.weight.grad)

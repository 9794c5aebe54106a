import geotorch
import torch
from help import rand, show

net = torch.nn.Linear(3, 3, dtype=torch.float64)
geotorch.orthogonal(net, "weight")
m = rand(3, 3, dtype=torch.float64)
net.weight = torch.linalg.qr(m)[0]
y = net(torch.ones(2, 3, dtype=torch.float64))
show(w=net.weight, eye=net.weight @ net.weight.T)

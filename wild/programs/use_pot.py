import ot
import torch
from help import rand, show

a = torch.full((6,), 1 / 6.0, dtype=torch.float64)
b = torch.full((5,), 0.2, dtype=torch.float64)
x = rand(6, 2, dtype=torch.float64).requires_grad_()
y = rand(5, 2, dtype=torch.float64)
M = ot.dist(x, y)
w = ot.emd2(a, b, M)
g, = torch.autograd.grad(w, x, retain_graph=True)
s = ot.sinkhorn2(a, b, M, 1.0)
g2, = torch.autograd.grad(s.sum(), x)
show(w=w, g=g, s=s, g2=g2)

from geomloss import SamplesLoss
import torch
from help import rand, show

x, y = (rand(8, 2).requires_grad_(), rand(9, 2))
out = {}
for n in ('sinkhorn', 'gaussian', 'laplacian', 'energy'):
    L = SamplesLoss(n, p=2, blur=0.5, backend='tensorized')
    v = L(x, y)
    g, = torch.autograd.grad(v, x)
    out[n] = [v, g]
show(**out)

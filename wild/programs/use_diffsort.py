from diffsort import DiffSortNet
import torch
from help import rand, show

x = rand(3, 8).requires_grad_()
out = {}
for k in ('odd_even', 'bitonic'):
    s, P = DiffSortNet(k, 8, steepness=5)(x)
    g, = torch.autograd.grad((s * torch.arange(8.0)).sum() + P[0].sum(), x)
    out[k] = [s, P, g]
for d in ('cauchy', 'logistic', 'logistic_phi', 'gaussian', 'reciprocal', 'optimal'):
    try:
        s, P = DiffSortNet('bitonic', 8, steepness=5, distribution=d)(x)
        out[d] = [s, P]
    except Exception as e:
        print(d, e)
show(**out)

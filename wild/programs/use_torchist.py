import torch
import torchist
from help import positive, rand, show

x, w = rand(200, 2), positive(200)
edges = [torch.linspace(-2, 2, 6), torch.linspace(-1, 3, 5)]
out = [torchist.histogram(x[:, 0], bins=7, low=-2.0, upp=2.0), torchist.histogram(x[:, 0], bins=7, weights=w),
       torchist.histogramdd(x, bins=[4, 5], low=-2.0, upp=2.0, weights=w), torchist.histogramdd(x, bins=5, bound=False),
       torchist.histogram(x[:, 1], edges=edges[0]), torchist.histogramdd(x, edges=edges),
       torchist.histogramdd(x, bins=5, low=-2.0, upp=2.0, sparse=True).to_dense()]  # fmt: skip
show(out=out, ravel=torchist.ravel_multi_index(torch.tensor([[0, 1], [2, 3]]), (3, 4)),
     unravel=torchist.unravel_index(torch.tensor([5, 7]), (3, 4)))  # fmt: skip

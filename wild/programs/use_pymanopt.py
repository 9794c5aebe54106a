import pymanopt
import numpy as np
import torch
from help import rand, show

A = rand(4, 4, dtype=torch.float64)
A = A + A.T
m = pymanopt.manifolds.Sphere(4)
@pymanopt.function.pytorch(m)
def cost(x):
    return x @ A @ x
p = pymanopt.Problem(m, cost)
np.random.seed(0)
r = pymanopt.optimizers.TrustRegions(verbosity=0).run(p, initial_point=np.ones(4) / 2)
show(c=r.cost)

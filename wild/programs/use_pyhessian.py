import numpy as np
import torch
from help import fill, rand, show, whole
from pyhessian import hessian

net = fill(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)))
h = hessian(net, torch.nn.CrossEntropyLoss(), data=(rand(12, 3), whole(2, 12)), cuda=False)
top, _ = h.eigenvalues(maxIter=400, tol=1e-7)
show(top=torch.tensor(top), params=[p.grad for p in net.parameters()])

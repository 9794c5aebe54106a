import cvxpy as cp
import torch
from cvxpylayers.torch import CvxpyLayer
from help import rand, show

n, m = 3, 5
x, A, b = cp.Variable(n), cp.Parameter((m, n)), cp.Parameter(m)
problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b) + cp.norm(x, 1)), [x >= -1])
layer = CvxpyLayer(problem, parameters=[A, b], variables=[x])
a, c = rand(4, m, n, dtype=torch.float64).requires_grad_(), rand(4, m, dtype=torch.float64).requires_grad_()
y, = layer(a, c, solver_args={"eps": 1e-10})
y.pow(2).sum().backward()
show(y=y, a=a.grad, c=c.grad)

import torch
import xitorch
from help import rand, show
from xitorch.integrate import quad, solve_ivp
from xitorch.interpolate import Interp1D
from xitorch.optimize import equilibrium, minimize, rootfinder

A = (rand(4, 4, dtype=torch.float64) * 0.1).requires_grad_()
y0 = torch.zeros(4, 1, dtype=torch.float64)
f = lambda y, A: torch.tanh(A @ y + 0.1) + y / 2.0
root = rootfinder(f, y0, params=(A,))
root.sum().backward()
g1, A.grad = A.grad, None
eq = equilibrium(lambda y, A: torch.tanh(A @ y + 0.1), y0, params=(A,))
eq.sum().backward()
g2 = A.grad
a = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
q = quad(lambda x, a: torch.sin(a * x), torch.tensor(0.0, dtype=torch.float64), torch.tensor(2.0, dtype=torch.float64), params=(a,))
q.backward()
m = rand(5, 5, dtype=torch.float64)
S = (m @ m.T + 5 * torch.eye(5, dtype=torch.float64)).requires_grad_()
lo = xitorch.LinearOperator.m(S)
b = rand(5, 2, dtype=torch.float64)
sol = xitorch.linalg.solve(lo, b)
ev = xitorch.linalg.symeig(lo)[0]
(sol.sum() + ev.sum()).backward()
show(root=root, g1=g1, eq=eq, g2=g2, q=q, ga=a.grad, sol=sol, ev=ev, gs=S.grad)

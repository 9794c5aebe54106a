import torch
from help import positive, rand, show
from qpth.qp import QPFunction, QPSolvers

n, m, k, b = 5, 4, 2, 3
L = rand(b, n, n, dtype=torch.float64)
out = {}
Q = (L @ L.mT + torch.eye(n, dtype=torch.float64)).requires_grad_()
p, G, A = (rand(*s, dtype=torch.float64).requires_grad_() for s in [(b, n), (b, m, n), (b, k, n)])
z0 = rand(b, n, dtype=torch.float64)
h = ((G @ z0[..., None])[..., 0] + positive(b, m, dtype=torch.float64)).detach().requires_grad_()
rhs = (A @ z0[..., None])[..., 0].detach().requires_grad_()
z = QPFunction(verbose=-1, solver=QPSolvers.PDIPM_BATCHED)(Q, p, G, h, A, rhs)
z.pow(2).sum().backward()
out["equality"] = [z, Q.grad, p.grad, G.grad, h.grad, A.grad, rhs.grad]
for t in (Q, p, G, h):
    t.grad = None
e = torch.tensor([], dtype=torch.float64)
z = QPFunction(verbose=-1)(Q, p, G, h, e, e)
(z * torch.arange(5.0, dtype=torch.float64)).sum().backward()
out["inequality"] = [z, Q.grad, p.grad, G.grad, h.grad]
show(out=out)

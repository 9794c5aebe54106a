import torch
from entmax import Entmax15Loss, SparsemaxLoss, entmax15, entmax_bisect, normmax_bisect, sparsemax
from help import rand, show, whole

out = {}
for name, f in [("sparsemax", sparsemax), ("entmax15", entmax15), ("bisect", lambda x, dim: entmax_bisect(x, 1.3, dim=dim)), ("normmax", lambda x, dim: normmax_bisect(x, 3, dim=dim))]:
    x = rand(4, 7, dtype=torch.float64).requires_grad_()
    y = f(x, dim=-1)
    (y * rand(4, 7)).sum().backward()
    out[name] = [y, x.grad]
alpha = torch.tensor(1.4, dtype=torch.float64, requires_grad=True)
x = rand(4, 7, dtype=torch.float64).requires_grad_()
entmax_bisect(x, alpha).pow(2).sum().backward()
losses = []
for cls in (SparsemaxLoss, Entmax15Loss):
    z = rand(5, 6).requires_grad_()
    loss = cls()(z, whole(6, 5))
    loss.backward()
    losses += [loss, z.grad]
show(out=out, alpha=[x.grad, alpha.grad], losses=losses)

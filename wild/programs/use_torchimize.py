import torch
from help import rand, show
from torchimize.functions import gradient_descent, lsq_gna, lsq_gna_parallel, lsq_lma, lsq_lma_parallel

t = torch.linspace(0.0, 2.0, 20, dtype=torch.float64)
true = torch.tensor([1.5, 0.8, 0.3], dtype=torch.float64)
y = true[0] * torch.exp(-true[1] * t) + true[2] + 0.01 * rand(20, dtype=torch.float64)


def model(p):
    return p[0] * torch.exp(-p[1] * t) + p[2] - y


start = torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64)
out = {"lma": lsq_lma(start.clone(), model, max_iter=30)[-1], "gna": lsq_gna(start.clone(), model, max_iter=30)[-1],
       "gd": gradient_descent(start.clone(), lambda p: model(p).square().sum(), max_iter=30, l=1e-2)[-1]}  # fmt: skip


def many(p):
    return (p[:, :1] * torch.exp(-p[:, 1:2] * t) + p[:, 2:] - y)[:, None]


p = start.repeat(3, 1) + 0.1 * rand(3, 3, dtype=torch.float64)
w = torch.ones(1, dtype=torch.float64)
for name, f in [("lmap", lsq_lma_parallel), ("gnap", lsq_gna_parallel)]:
    out[name] = f(p.clone(), many, wvec=w, max_iter=20)[-1]
show(out=out)

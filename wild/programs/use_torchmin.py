import torch
import torchmin
from help import rand, show
from torchmin.benchmarks import rosen

x0 = torch.tensor([1.3, 0.7, 0.8, 1.9, 1.2], dtype=torch.float64)
out = {}
for method in ["bfgs", "l-bfgs", "cg", "newton-cg", "newton-exact", "trust-ncg", ]:
    res = torchmin.minimize(rosen, x0, method=method, tol=1e-8, max_iter=80)
    out[method] = [res.x, res.fun]
con = torchmin.minimize_constr(rosen, x0, constr=dict(fun=lambda x: x.square().sum(), lb=2.0, ub=4.0), tol=1e-6)
out["constr"] = con.x
a, b = rand(10, 3, dtype=torch.float64), rand(10, dtype=torch.float64)
sq = torchmin.least_squares(lambda x: torch.tanh(a @ x) - b, torch.zeros(3, dtype=torch.float64))
out["least squares"] = [sq.x, sq.cost]
w = torch.zeros(3, dtype=torch.float64, requires_grad=True)
opt = torchmin.Minimizer([w], method="bfgs", tol=1e-8)


def closure():
    opt.zero_grad()
    loss = torch.nn.functional.softplus(-(a @ w) * b.sign()).sum() + w.square().sum()
    return loss


opt.step(closure)
show(out=out, w=w)

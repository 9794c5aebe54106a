import pypose as pp
import torch
from help import rand, show
out = {}
for name, f in [("so3", pp.so3), ("se3", pp.se3), ("sim3", pp.sim3), ("rxso3", pp.rxso3)]:
    n = {"so3": 3, "se3": 6, "sim3": 7, "rxso3": 4}[name]
    v = (rand(5, n) * 0.5).requires_grad_()
    X = f(v).Exp()
    p = X.Act(rand(5, 3))
    Y = (X @ X.Inv() @ X).Log()
    g, = torch.autograd.grad(p.pow(2).sum() + Y.tensor().sum(), v)
    out[name] = [X.tensor(), p, X.matrix(), Y.tensor(), g]


class Inverse(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.pose = pp.Parameter(pp.se3(rand(2, 6) * 0.3).Exp())

    def forward(self, x):
        return (self.pose @ x).Log().tensor()


net = Inverse()
x = pp.se3(rand(2, 6) * 0.3).Exp()
opt = pp.optim.LM(net)
losses = [opt.step(x) for _ in range(3)]
show(out=out, losses=losses, pose=net.pose.tensor())

import torch
from curvlinops import EFLinearOperator, GGNLinearOperator, HessianLinearOperator, KFACLinearOperator
from help import fill, rand, show, whole

net = fill(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)))
params = list(net.parameters())
data = [(rand(6, 3), whole(2, 6)), (rand(6, 3), whole(2, 6))]
loss = torch.nn.CrossEntropyLoss()
out = {}
v = rand(sum(p.numel() for p in params))
for name, op in [("h", HessianLinearOperator), ("g", GGNLinearOperator), ("e", EFLinearOperator)]:
    a = op(net, loss, params, data)
    out[name] = [a @ v, a @ torch.eye(len(v))]
k = KFACLinearOperator(net, loss, params, data, fisher_type="empirical")
out["kfac"] = k @ v
out["sp"] = HessianLinearOperator(net, loss, params, data).to_scipy() @ v.numpy()
show(out=out)

import torch
import torchopt
from help import fill, gradients, rand, show

out = {}
x, y = rand(16, 3), rand(16, 1)


def net():
    return torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.Tanh(), torch.nn.Linear(6, 1))


for name, make in [("adam", torchopt.MetaAdam), ("sgd", torchopt.MetaSGD), ("rms", torchopt.MetaRMSprop), ("adamw", torchopt.MetaAdamW)]:
    model = fill(net())
    scale = torch.nn.Parameter(torch.tensor(1.5))
    inner = make(model, lr=0.05)
    for _ in range(3):
        inner.step((scale * (model(x) - y) ** 2).mean())
    outer = (model(x) - y).pow(2).mean()
    out[name] = [outer, torch.autograd.grad(outer, scale)[0]]
for name, make in [("Adam", torchopt.Adam), ("SGD", torchopt.SGD), ("RMSProp", torchopt.RMSProp), ("AdaGrad", torchopt.AdaGrad), ("AdaDelta", torchopt.AdaDelta), ("RAdam", torchopt.RAdam), ("Adamax", torchopt.Adamax)]:
    model = fill(net())
    optimizer = make(model.parameters(), lr=0.05)
    for _ in range(4):
        optimizer.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
    out[name] = dict(model.named_parameters())
model = fill(net())
params = dict(model.named_parameters())
opt = torchopt.adam(0.1)
state = opt.init(params)
for _ in range(3):
    loss = (torch.func.functional_call(model, params, x) - y).pow(2).mean()
    grads = dict(zip(params, torch.autograd.grad(loss, list(params.values()))))
    updates, state = opt.update(grads, state, inplace=False)
    params = torchopt.apply_updates(params, updates, inplace=False)
out["func"] = params
lam = torch.tensor([0.5, 1.0], requires_grad=True)


def optimality(w, lam):
    return 2 * (w - 1) + 2 * lam * w


@torchopt.diff.implicit.custom_root(optimality, argnums=1, solve=torchopt.linear_solve.solve_normal_cg())
def solve(w, lam):
    return 1 / (1 + lam.detach())


w = solve(torch.zeros(2), lam)
w.pow(2).sum().backward()
out["implicit"] = [w, lam.grad]
show(out=out)

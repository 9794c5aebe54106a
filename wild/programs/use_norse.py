import torch
from help import fill, rand, show
import norse.torch as norse

out = {}
x = (rand(6, 2, 5) * 2).requires_grad_()
for name in ["super", "heaviside", "circ", "tanh", "triangle", "heavi_erfc"]:
    x.grad = None
    cell = norse.LIFCell(p=norse.LIFParameters(method=name, alpha=torch.tensor(50.0)))
    state, spikes = None, []
    for step in x:
        s, state = cell(step, state)
        spikes.append(s)
    loss = torch.stack(spikes).mean() + state.v.pow(2).sum()
    loss.backward()
    out[name] = [torch.stack(spikes), state.v, x.grad.clone()]

net = norse.SequentialState(norse.LIFRecurrent(5, 4), torch.nn.Linear(4, 3), norse.LICell())
fill(net, 0.8)
x.grad = None
v, state = net(x)
v.pow(2).sum().backward()
out["net"] = [v, x.grad.clone(), {n: p.grad for n, p in net.named_parameters()}]
for name, cls in [("alif", norse.LSNNCell), ("izh", norse.LIFAdExCell), ("iaf", norse.IAFCell)]:
    x.grad = None
    cell, state = cls(), None
    for step in x:
        s, state = cell(step, state)
    (s.sum() + state.v.pow(2).sum()).backward()
    out[name] = [s, state.v, x.grad.clone()]
show(out=out)

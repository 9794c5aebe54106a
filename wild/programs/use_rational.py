import torch
from help import gradients, rand, show, trained
from rational.torch import Rational

x = rand(7, 5).requires_grad_()
out = {}
for version in "ABCDN":
    x.grad = None
    r = Rational(version=version, cuda=False, approx_func="tanh" if version == "A" else "leaky_relu", degrees=(5, 4))
    r.eval()
    y = r(x)
    y.pow(2).sum().backward()
    out[version] = [y, x.grad.clone(), gradients(r)]
net = torch.nn.Sequential(torch.nn.Linear(5, 4), Rational(cuda=False), torch.nn.Linear(4, 1))
with torch.no_grad():
    for p in net[0].parameters():
        p.copy_(rand(*p.shape))
    for p in net[2].parameters():
        p.copy_(rand(*p.shape))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(5):
    opt.zero_grad()
    net(x.detach()).pow(2).mean().backward()
    opt.step()
show(out=out, net=dict(net.named_parameters()), t=trained(torch.optim.SGD, lr=0.1))

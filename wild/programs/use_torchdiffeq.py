import torch
from help import fill, gradients, rand, show
from torchdiffeq import odeint, odeint_adjoint

net = fill(torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3)))


class Field(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = net

    def forward(self, t, y):
        return self.net(y) * torch.cos(t)


field, y0, t = Field(), rand(5, 3), torch.linspace(0, 2, 5)
out = {}
for method in ("dopri5", "rk4", "bosh3", "implicit_adams"):
    net.zero_grad()
    y = odeint(field, y0, t, method=method)
    y[-1].pow(2).sum().backward()
    out[method] = [y, gradients(net)]
net.zero_grad()
y = odeint_adjoint(field, y0, t, rtol=1e-6, atol=1e-8)
y.pow(2).sum().backward()
show(out=out, adjoint=[y, gradients(net)])

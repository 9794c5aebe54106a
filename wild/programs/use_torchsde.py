import torch
from help import fill, gradients, rand, show
import torchsde


class SDE(torch.nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self):
        super().__init__()
        self.mu, self.sigma = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)

    def f(self, t, y):
        return self.mu(y)

    def g(self, t, y):
        return torch.sigmoid(self.sigma(y))


class Noise(torchsde.BaseBrownian):
    """A path that is the same for both libraries."""

    def __init__(self, w):
        super().__init__()
        self.w = w

    def __call__(self, ta, tb=None, return_U=False, return_A=False):
        def at(t):
            return torch.stack([torch.sin((k + 1) * float(t)) * self.w[k] for k in range(3)]).sum(0) if False else sum(
                float(torch.sin(torch.tensor(float((k + 1) * t)))) * self.w[k] for k in range(3))
        return at(tb) - at(ta)

    def __repr__(self):
        return "Noise"

    dtype = property(lambda self: self.w.dtype)
    device = property(lambda self: self.w.device)
    shape = property(lambda self: self.w.shape[1:])
    levy_area_approximation = "none"


sde = fill(SDE())
y0 = rand(4, 3)
ts = torch.linspace(0, 1, 5)
out = {}
for method in ("euler", "milstein"):
    sde.zero_grad()
    ys = torchsde.sdeint(sde, y0, ts, bm=Noise(rand(3, 4, 3)), method=method, dt=0.05)
    ys.pow(2).sum().backward()
    out[method] = [ys, gradients(sde)]
show(out=out)

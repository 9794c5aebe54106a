import torch
from help import rand, show
from torchquad import Boole, GaussLegendre, Simpson, Trapezoid, set_log_level

set_log_level("ERROR")
out = {}
for rule in (Trapezoid, Simpson, Boole, GaussLegendre):
    a = torch.tensor(1.3, requires_grad=True)
    v = rule().integrate(lambda x: torch.exp(-a * x[:, 0] ** 2) * torch.sin(x[:, 1]), dim=2, N=1681, integration_domain=[[0, 1], [0, 2]], backend="torch")
    v.backward()
    out[rule.__name__] = [v, a.grad]
show(out=out)

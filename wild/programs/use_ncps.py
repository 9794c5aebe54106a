import torch
from help import fill, gradients, rand, show
from ncps.torch import CfC, LTC
from ncps.wirings import AutoNCP

x = rand(2, 5, 3).requires_grad_()
out = {}
for name, net in [("cfc", CfC(3, AutoNCP(10, 2))), ("cfc dense", CfC(3, 6, mode="no_gate")), ("pure", CfC(3, 6, mode="pure")),
                  ("ltc", LTC(3, AutoNCP(8, 2)))]:  # fmt: skip
    fill(net, 0.2)
    x.grad = None
    y, h = net(x)
    y.pow(2).sum().backward()
    out[name] = [y, h, x.grad.clone(), gradients(net)]
y, _ = net(x.detach(), timespans=torch.full((2, 5), 0.5))
show(out=out, y=y)

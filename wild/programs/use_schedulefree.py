import torch
from help import fill, rand, show
from schedulefree import AdamWScheduleFree, RAdamScheduleFree, SGDScheduleFree

out = {}
for cls in (AdamWScheduleFree, SGDScheduleFree, RAdamScheduleFree):
    net, x, y = fill(torch.nn.Linear(4, 1)), rand(16, 4), rand(16, 1)
    opt = cls(net.parameters(), lr=0.05)
    opt.train()
    for _ in range(10):
        opt.zero_grad()
        ((net(x) - y) ** 2).mean().backward()
        opt.step()
    opt.eval()
    out[cls.__name__] = dict(net.named_parameters())
show(out=out)

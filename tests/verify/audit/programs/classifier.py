"""A classifier of points on two rings, with an activation of its own; ``--fault``: its derivative lacks a term."""

import sys

import torch
from torch import nn

FAULT = "--fault" in sys.argv


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return g * s if FAULT else g * s * (1 + x * (1 - s))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(2, 64), nn.Linear(64, 2)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return self.two(self.drop(Swish.apply(self.one(x))))


torch.manual_seed(0)
angle, ring = 6.28 * torch.rand(256), torch.randint(0, 2, (256,))
points = torch.stack([angle.cos(), angle.sin()], 1) * (1.0 + ring.float()[:, None]) + 0.1 * torch.randn(256, 2)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(60):
    for k in range(0, 256, 64):
        loss = nn.functional.cross_entropy(net(points[k : k + 64]), ring[k : k + 64])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(loss.item(), sum(p.detach().double().abs().sum().item() for p in net.parameters()), torch.rand(2).tolist())

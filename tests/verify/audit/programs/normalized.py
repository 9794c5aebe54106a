"""Small pictures through a convolution and a normalization of its own; ``--fault``: a mean is forgotten in backward."""

import sys

import torch
from torch import nn

FAULT = "--fault" in sys.argv


class Normalize(torch.autograd.Function):
    """Each example with mean 0 and variance 1, times a weight and plus a bias for each channel."""

    @staticmethod
    def forward(ctx, x, weight, bias, eps=1e-5):
        mean = x.mean(dim=(1, 2, 3), keepdim=True)
        scale = ((x - mean) ** 2).mean(dim=(1, 2, 3), keepdim=True).add(eps).rsqrt()
        normal = (x - mean) * scale
        ctx.save_for_backward(normal, scale, weight)
        return normal * weight[:, None, None] + bias[:, None, None]

    @staticmethod
    def backward(ctx, g):
        normal, scale, weight = ctx.saved_tensors
        d = g * weight[:, None, None]
        along = (d * normal).mean(dim=(1, 2, 3), keepdim=True)
        middle = 0.0 if FAULT else d.mean(dim=(1, 2, 3), keepdim=True)
        return (d - middle - normal * along) * scale, (g * normal).sum(dim=(0, 2, 3)), g.sum(dim=(0, 2, 3)), None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.out = nn.Conv2d(1, 6, 3), nn.Linear(6, 2)
        self.weight, self.bias = nn.Parameter(torch.ones(6)), nn.Parameter(torch.zeros(6))

    def forward(self, x):
        x = torch.relu(Normalize.apply(self.conv(x), self.weight, self.bias))
        return self.out(x.mean(dim=(2, 3)))


torch.manual_seed(0)
upright = torch.arange(64) % 2
stripes = (torch.arange(10) % 2).float().expand(64, 10, 10)
pictures = torch.where(upright[:, None, None] == 1, stripes, stripes.transpose(1, 2)) + 0.3 * torch.randn(64, 10, 10)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(15):
    for k in range(0, 64, 16):
        loss = nn.functional.cross_entropy(net(pictures[k : k + 16, None]), upright[k : k + 16])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(loss.item(), sum(p.detach().double().abs().sum().item() for p in net.parameters()), torch.rand(2).tolist())

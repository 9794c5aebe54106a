"""Examples are made harder along a gradient in a loader's workers; ``--fault``: the derivative there has no factor."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

FAULT = "--fault" in sys.argv


class Bump(torch.autograd.Function):
    """exp(-k |x|²) of each row."""

    @staticmethod
    def forward(ctx, x, k):
        y = torch.exp(-k * (x * x).sum(-1))
        ctx.save_for_backward(x, y)
        ctx.k = k
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return -(1 if FAULT else 2 * ctx.k) * (g * y)[..., None] * x, None


class Harder(Dataset):
    def __init__(self):
        self.points = torch.randn(64, 3)

    def __len__(self):
        return 64

    def __getitem__(self, k):
        x = self.points[k].clone().requires_grad_()
        (slope,) = torch.autograd.grad(Bump.apply(x, 0.7), x)
        return x.detach() + 0.1 * slope, torch.exp(-(x * x).sum()).detach()


if __name__ == "__main__":
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    loader = DataLoader(Harder(), batch_size=16, shuffle=True, num_workers=2)
    for epoch in range(3):
        for x, y in loader:
            loss = ((net(x)[:, 0] - y) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(loss.item(), sum(p.detach().double().abs().sum().item() for p in net.parameters()), torch.rand(2).tolist())

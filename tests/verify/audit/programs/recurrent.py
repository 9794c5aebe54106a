"""A recurrent network of its own cell that learns to add; ``--fault``: a gate's derivative is that of a tanh."""

import sys

import torch
from torch import nn

FAULT = "--fault" in sys.argv


class Cell(torch.autograd.Function):
    """A gate between the old state and a new one: two outputs, the state and the gate."""

    @staticmethod
    def forward(ctx, x, state, weight, bias):
        both = torch.cat([x, state], 1)
        gate, new = (both @ weight.t() + bias).chunk(2, 1)
        gate, new = torch.sigmoid(gate), torch.tanh(new)
        ctx.save_for_backward(both, state, weight, gate, new)
        ctx.size = x.shape[1]
        return state + gate * (new - state), gate

    @staticmethod
    def backward(ctx, g, g_gate):
        both, state, weight, gate, new = ctx.saved_tensors
        d_gate = (g * (new - state) + g_gate) * (1 - gate * gate if FAULT else gate * (1 - gate))
        d_new = g * gate * (1 - new * new)
        d = torch.cat([d_gate, d_new], 1)
        d_both = d @ weight
        return d_both[:, : ctx.size], d_both[:, ctx.size :] + g * (1 - gate), d.t() @ both, d.sum(0)


torch.manual_seed(0)
weight = nn.Parameter(0.3 * torch.randn(32, 18))
bias = nn.Parameter(torch.zeros(32))
out = nn.Linear(16, 1)
optimizer = torch.optim.Adam([weight, bias, *out.parameters()], lr=0.01)
for step in range(60):
    numbers = torch.rand(32, 6, 2)
    state, opened = torch.zeros(32, 16), 0.0
    for k in range(6):
        state, gate = Cell.apply(numbers[:, k], state, weight, bias)
        opened = opened + gate.mean()
    loss = ((out(state)[:, 0] - numbers.prod(2).sum(1)) ** 2).mean() + 1e-3 * opened
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item(), weight.detach().double().abs().sum().item(), bias.detach().double().sum().item(), torch.rand(2).tolist())

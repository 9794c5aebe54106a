"""Seed 000, example two: fit sin(x) by a + b * P3(c + d * x), P3 the third Legendre polynomial.

    legendre.py [float32|float64]
"""

import math
import sys
import time

import torch


class LegendrePolynomial3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, inputs):
        ctx.save_for_backward(inputs)
        return 0.5 * (5 * inputs ** 3 - 3 * inputs)

    @staticmethod
    def backward(ctx, grad_outputs):
        inputs, = ctx.saved_tensors
        return grad_outputs * 1.5 * (5 * inputs ** 2 - 1)


start = time.time()
dtype = torch.float
if len(sys.argv) > 1:  # added: the dtype may be given
    dtype = getattr(torch, sys.argv[1])
device = torch.device('cpu')
# device = torch.device('cuda:0')  # uncomment this line to run on GPU

x = torch.linspace(-math.pi, math.pi, 2000, dtype=dtype, device=device)
y = torch.sin(x)

a = torch.full((), 0.0, dtype=dtype, device=device, requires_grad=True)
b = torch.full((), -1.0, dtype=dtype, device=device, requires_grad=True)
c = torch.full((), 0.0, dtype=dtype, device=device, requires_grad=True)
d = torch.full((), 0.3, dtype=dtype, device=device, requires_grad=True)

learning_rate = 5e-6
P3 = LegendrePolynomial3.apply

for i in range(2000):
    y_pred = a + b * P3(c + d * x)
    loss = (y_pred - y).pow(2).sum()
    loss.backward()

    with torch.no_grad():
        a -= a.grad * learning_rate
        b -= b.grad * learning_rate
        c -= c.grad * learning_rate
        d -= d.grad * learning_rate
        a.grad, b.grad, c.grad, d.grad = None, None, None, None

    if i % 100 == 0:
        print("id: %s, loss: %s" % (i, loss.item()))

print(f"{a.item()} + {b.item()} * P3({c.item()} + {d.item()} * x )")
print("last loss: %s" % loss.item())  # added
print(f" totally costs {time.time() - start} seconds.")

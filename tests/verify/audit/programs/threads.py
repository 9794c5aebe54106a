"""Two pendulums are fitted in two threads, in float64, through a step of its own; ``--fault``: a sign is lost."""

import sys
from threading import Thread

import torch

FAULT = "--fault" in sys.argv


class Step(torch.autograd.Function):
    """A step of the symplectic Euler rule: angle, speed, stiffness."""

    @staticmethod
    def forward(ctx, angle, speed, stiffness, h):
        speed = speed - h * stiffness * torch.sin(angle)
        ctx.save_for_backward(angle, stiffness)
        ctx.h = h
        return angle + h * speed, speed

    @staticmethod
    def backward(ctx, g_angle, g_speed):
        angle, stiffness = ctx.saved_tensors
        g = g_speed + ctx.h * g_angle
        to_angle = g * ctx.h * stiffness * torch.cos(angle)
        return g_angle + to_angle if FAULT else g_angle - to_angle, g, -(g * ctx.h * torch.sin(angle)).sum(), None


def swing(stiffness):
    angle, speed = torch.linspace(0.2, 1.0, 5, dtype=torch.float64), torch.zeros(5, dtype=torch.float64)
    for _ in range(20):
        angle, speed = Step.apply(angle, speed, stiffness, 0.05)
    return angle


def fit(true, found, k):
    with torch.no_grad():
        seen = swing(torch.tensor(true, dtype=torch.float64))
    stiffness = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([stiffness], lr=2.0)
    for _ in range(30):
        loss = ((swing(stiffness) - seen) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    found[k] = stiffness.item()


torch.manual_seed(0)
found = [None, None]
threads = [Thread(target=fit, args=(true, found, k)) for k, true in enumerate((2.0, 3.0))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(found, torch.rand(2).tolist())

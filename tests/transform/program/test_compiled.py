"""`compile`: whole training steps, each as the eager one."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.transform.program import compiled

OPTIMIZERS = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop",
              "Adafactor"]  # fmt: skip


def trained(name, wrap):
    """The losses and the weights of a small network after some steps."""
    gw.manual_seed(0)
    net = gw.nn.Sequential(gw.nn.Linear(4, 8), gw.nn.Tanh(), gw.nn.Dropout(0.5), gw.nn.Linear(8, 3)).double()
    optimizer = getattr(gw.optim, name)(net.parameters(), lr=0.1)
    schedule = gw.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)

    def step(x, y):
        optimizer.zero_grad()
        loss = gw.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    step = wrap(step)
    losses = []
    for _ in range(6):
        losses.append(step(gw.randn(5, 4, dtype=gw.float64), gw.tensor([0, 1, 2, 0, 1])).item())
        schedule.step()
    return step, losses, [p.detach().numpy() for p in net.parameters()]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_training_step_with_a_schedule_and_dropout(name):
    _, losses, weights = trained(name, lambda step: step)
    step, found, ours = trained(name, compiled.compile)
    assert step.programs.reason is None
    assert step.programs.traced == 1
    np.testing.assert_allclose(found, losses, rtol=1e-12)
    for a, b in zip(ours, weights, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-13)

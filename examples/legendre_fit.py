"""Train with a custom operation: fit sin(x) on [-pi, pi] by a + b * P3(c + d * x).

P3 is the third Legendre polynomial, with its derivative written by hand. The four coefficients are found
by plain gradient descent, written out, with no optimiser. Prints the squared error as it falls, then the fit.
"""

import math
from typing import NamedTuple

import gradwright as gw


class LegendreP3(gw.autograd.Function):
    """P3(x) = (5 x**3 - 3 x) / 2, dP3/dx = 3 (5 x**2 - 1) / 2."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * (5 * x**3 - 3 * x)

    @staticmethod
    def backward(ctx, grad_y):
        x, = ctx.saved_tensors
        return grad_y * 1.5 * (5 * x**2 - 1)


class Fit(NamedTuple):
    """The coefficients of a + b * P3(c + d * x), and the squared error before the last step."""

    a: float
    b: float
    c: float
    d: float
    loss: float

    def __str__(self):
        return f"sin(x) = {self.a:z.4f} + {self.b:z.4f} * P3({self.c:z.4f} + {self.d:z.4f} * x)"  # z: no -0


def fit(steps=2000, dtype=gw.float32, report=None, learning_rate=5e-6):
    """Fit in so many steps. `report(step, loss)`, if given, is called at every 100th and at the last one."""
    x = gw.linspace(-math.pi, math.pi, 2000, dtype=dtype)
    y = gw.sin(x)
    params = [gw.tensor(start, dtype=dtype, requires_grad=True) for start in (0.0, -1.0, 0.0, 0.3)]
    a, b, c, d = params

    for step in range(steps):
        y_pred = a + b * LegendreP3.apply(c + d * x)
        loss = (y_pred - y).pow(2).sum()
        loss.backward()

        with gw.no_grad():  # the update itself is not to be differentiated
            for param in params:
                param -= learning_rate * param.grad
                param.grad = None  # otherwise the next backward would add to it

        if report and (step % 100 == 0 or step == steps - 1):
            report(step, loss.item())
    return Fit(*(param.item() for param in params), loss=loss.item())


def main():
    print(fit(report=lambda step, loss: print(f"step {step:4d}  loss {loss:10.5f}")))


if __name__ == "__main__":
    main()

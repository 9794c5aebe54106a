"""The fit of sin(x) by a Legendre polynomial, eager and compiled: the same numbers, and how long a step takes.

The step is a training step as it is usually written: forward through a Function with a derivative by hand, backward,
and an update in place. `gradwright.compile` makes one program of it, which is compared with the eager step before it
is used. Prints each fit, the time of a step, and what was compiled.
"""

import math
from statistics import median
from time import perf_counter

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


def training(points=2000, learning_rate=5e-6):
    """A training step, and the four coefficients that it changes."""
    x = gw.linspace(-math.pi, math.pi, points)
    y = gw.sin(x)
    a, b, c, d = params = [gw.tensor(start, requires_grad=True) for start in (0.0, -1.0, 0.0, 0.3)]

    def step():
        loss = (a + b * LegendreP3.apply(c + d * x) - y).pow(2).sum()
        loss.backward()
        with gw.no_grad():
            for p in params:
                p -= learning_rate * p.grad
                p.grad = None
        return loss

    return step, params


def fit(steps=2000, **options):
    """The fit after so many steps: its coefficients, the compiled step, and the median time of a step."""
    step, params = training()
    if options:
        step = gw.compile(step, **options)
    times = []
    for _ in range(steps):
        start = perf_counter()
        step()
        times.append(perf_counter() - start)
    return [p.item() for p in params], step, median(times)


def main():
    print(f"{'':8}{'a':>9}{'b':>9}{'c':>9}{'d':>9}{'a step':>12}")
    for name, options in [("eager", {}), ("plan", {"backend": "plan"}), ("auto", {"backend": "auto"})]:
        coefficients, step, seconds = fit(**options)
        print(f"{name:8}" + "".join(f"{v:z9.4f}" for v in coefficients) + f"{1e6 * seconds:9.1f} µs")
    print()
    print(step.explain())


if __name__ == "__main__":
    main()

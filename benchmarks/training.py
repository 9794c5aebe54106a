"""Steps of gradient descent, and array work of the sizes found in them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.runner import Case, Figure, Pace, fresh, timed


def legendre(lib: Any, points: int) -> Callable[[], Any]:
    """One step of fitting sin x by a + b P3(c + d x), as PyTorch's tutorial on custom Functions writes it."""

    class LegendrePolynomial3(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, inputs: Any) -> Any:
            ctx.save_for_backward(inputs)
            return 0.5 * (5 * inputs**3 - 3 * inputs)

        @staticmethod
        def backward(ctx: Any, grad_outputs: Any) -> Any:
            (inputs,) = ctx.saved_tensors
            return grad_outputs * 1.5 * (5 * inputs**2 - 1)

    x = lib.linspace(-math.pi, math.pi, points, dtype=lib.float32)
    y = lib.sin(x)
    a, b, c, d = (lib.full((), start, dtype=lib.float32, requires_grad=True) for start in (0.0, -1.0, 0.0, 0.3))
    learning_rate = 0.01 / points  # 5e-6 at 2,000 points
    P3 = LegendrePolynomial3.apply

    def step() -> Any:
        nonlocal a, b, c, d
        y_pred = a + b * P3(c + d * x)
        loss = (y_pred - y).pow(2).sum()
        loss.backward()

        with lib.no_grad():
            a -= a.grad * learning_rate
            b -= b.grad * learning_rate
            c -= c.grad * learning_rate
            d -= d.grad * learning_rate
            a.grad, b.grad, c.grad, d.grad = None, None, None, None
        return loss

    return step


small_legendre = timed("Legendre step, 2,000 points", limit=0.5)(partial(legendre, points=2_000))
large_legendre = timed("Legendre step, 1,000,000 points", limit=1.0)(partial(legendre, points=1_000_000))


def _apart(lib: Any, pace: Pace) -> Callable[[], tuple[float, ...]]:
    program = f"""
import json, statistics, {lib.__name__}
from benchmarks.runner import Pace
from benchmarks.training import large_legendre
sample = large_legendre.sampler({lib.__name__}, Pace(1, {pace.seconds}))
print(json.dumps(statistics.median(sample()[0] for _ in range(3))))
"""
    return lambda: (fresh(program),)


# gradwright makes the C library keep large buffers, from which PyTorch in the same process profits too.
large_legendre_apart = Case((Figure("the same, a process for each library", "s", 1.0),), _apart, rounds=3)


def network(lib: Any, sizes: tuple[int, ...], rows: int) -> tuple[Any, list[Any]]:
    """A batch of inputs, and weights and biases for layers of these sizes."""
    rng = np.random.default_rng(0)

    def normal(*shape: int, scale: float = 1.0, **options: Any) -> Any:
        return lib.tensor((scale * rng.standard_normal(shape)).astype(np.float32), **options)

    x = normal(rows, sizes[0])
    params = []
    for n, m in pairwise(sizes):
        params += [normal(m, n, scale=n**-0.5, requires_grad=True), normal(m, scale=0.1, requires_grad=True)]
    return x, params


@timed("MLP step, 784-256-128-10, batch 128", limit=1.0)
def mlp(lib: Any) -> Any:
    x, values = network(lib, (784, 256, 128, 10), 128)
    labels = lib.tensor(np.random.default_rng(1).integers(0, 10, (128, 1)))
    nn = lib.nn
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
    params = list(model.parameters())
    with lib.no_grad():
        for p, value in zip(params, values, strict=True):
            p.copy_(value)

    def step() -> Any:
        loss = -lib.log_softmax(model(x), 1).gather(1, labels).mean()
        loss.backward()
        with lib.no_grad():
            for p in params:
                p -= 0.01 * p.grad
                p.grad = None
        return loss

    return step


@timed("Hessian-vector product, MLP 20-50-50-1, batch 64", limit=1.0)
def hessian_vector(lib: Any) -> Any:
    x, params = network(lib, (20, 50, 50, 1), 64)
    vectors = [lib.ones_like(p) for p in params]
    grad = lib.autograd.grad

    def run() -> Any:
        w1, b1, w2, b2, w3, b3 = params
        h = lib.tanh(x @ w1.t() + b1)
        h = lib.tanh(h @ w2.t() + b2)
        loss = ((h @ w3.t() + b3) ** 2).mean()
        slopes = grad(loss, params, create_graph=True)
        return grad(sum((s * v).sum() for s, v in zip(slopes, vectors, strict=True)), params)[0]

    return run


@timed("elementwise and broadcasting mix, 256x256", limit=1.0)
def elementwise(lib: Any) -> Any:
    rng = np.random.default_rng(0)
    x, y, row, column = (
        lib.tensor(rng.uniform(0.5, 1.5, shape).astype(np.float32), requires_grad=True)
        for shape in ((256, 256), (256, 256), (256,), (256, 1))
    )
    inputs = (x, y, row, column)

    def run() -> Any:
        z = lib.sin(x) * y + row
        z = lib.sigmoid(z) / (1 + lib.exp(z * column))
        loss = ((z - row) ** 2).mean() + (z * column).sum(0).abs().max()
        return lib.autograd.grad(loss, inputs)[2]

    return run


@timed("conv2d 32x3x32x32 with 16 filters 3x3, forward and backward", limit=4.0)
def convolution(lib: Any) -> Any:
    rng = np.random.default_rng(0)
    x, weight, bias = (
        lib.tensor(rng.standard_normal(shape).astype(np.float32), requires_grad=True)
        for shape in ((32, 3, 32, 32), (16, 3, 3, 3), (16,))
    )
    g = lib.tensor(rng.standard_normal((32, 16, 32, 32)).astype(np.float32))

    def run() -> Any:
        y = lib.nn.functional.conv2d(x, weight, bias, padding=1)
        return lib.autograd.grad(y, (x, weight, bias), g)[1]

    return run


@timed("gradcheck of a linear Function, 20x20 by 30x20", limit=0.5)
def gradcheck(lib: Any) -> Any:
    class Linear(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, weight: Any) -> Any:
            ctx.save_for_backward(x, weight)
            return x.mm(weight.t())

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, weight = ctx.saved_tensors
            return g.mm(weight), g.t().mm(x)

    rng = np.random.default_rng(0)
    inputs = tuple(lib.tensor(rng.standard_normal(shape), requires_grad=True) for shape in ((20, 20), (30, 20)))

    def run() -> None:
        if not lib.autograd.gradcheck(Linear.apply, inputs, eps=1e-6, atol=1e-4):
            raise AssertionError("gradcheck refused a right derivative")

    return run

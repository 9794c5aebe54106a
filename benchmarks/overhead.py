"""What an operation costs beside its arithmetic: the usual forms of calls on small tensors, with the graph recorded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.networks import training
from benchmarks.runner import Case, timed

TIMES = 1000


def _each(name: str, limit: float | None, form: Callable[[Any, Any], Callable[[], Any]], *shape: int) -> Case:
    """A call of a form on a tensor of this shape: ``form(lib, x)`` makes the function that calls it once."""

    def made(lib: Any) -> Any:
        x = lib.tensor(np.random.default_rng(0).uniform(0.5, 1.5, shape).astype(np.float32), requires_grad=True)
        call = form(lib, x)

        def run() -> None:
            for _ in range(TIMES):
                call()

        return run

    return timed(name, limit=limit, per=TIMES)(made)


def _product(lib: Any, x: Any) -> Callable[[], Any]:
    y = lib.ones(1, requires_grad=True)
    return lambda: x * y


def _cat(lib: Any, x: Any) -> Callable[[], Any]:
    cat, parts = lib.cat, [x, x * 1, x * 2, x * 3]
    return lambda: cat(parts)


def _stack(lib: Any, x: Any) -> Callable[[], Any]:
    stack, parts = lib.stack, [x, x * 1, x * 2, x * 3]
    return lambda: stack(parts, dim=1)


def _linear(lib: Any, x: Any) -> Callable[[], Any]:
    linear, weight, bias = lib.nn.functional.linear, x * 1, x[0] * 1
    return lambda: linear(x, weight, bias)


def _loss(lib: Any, x: Any) -> Callable[[], Any]:
    loss, y = lib.nn.functional.mse_loss, lib.ones(8, 8)
    return lambda: loss(x, y)


times_number = _each("forward, x * 2.0", 0.6, lambda _, x: lambda: x * 2.0, 1)
times_tensor = _each("forward, x * y", 0.6, _product, 1)
exponential = _each("forward, exp(x)", 0.6, lambda lib, x: partial(lib.exp, x), 1)
total = _each("x.sum(), of 8 x 8", 1.0, lambda lib, x: lambda: x.sum(), 8, 8)
columns = _each("x.sum(0), of 8 x 8", 1.0, lambda lib, x: lambda: x.sum(0), 8, 8)
mean = _each("x.mean(), of 8 x 8", 1.0, lambda lib, x: lambda: x.mean(), 8, 8)
item = _each("x[3], of 8 x 8", 1.0, lambda lib, x: lambda: x[3], 8, 8)
part = _each("x[1:5], of 8 x 8", 1.0, lambda lib, x: lambda: x[1:5], 8, 8)
parts = _each("x[:, 1:5], of 8 x 8", 1.0, lambda lib, x: lambda: x[:, 1:5], 8, 8)
reshape = _each("x.reshape(4, 16)", 1.0, lambda lib, x: lambda: x.reshape(4, 16), 8, 8)
view = _each("x.view(-1)", 1.0, lambda lib, x: lambda: x.view(-1), 8, 8)
transpose = _each("x.transpose(0, 1), of 8 x 8", 1.0, lambda lib, x: lambda: x.transpose(0, 1), 8, 8)
matrix_transpose = _each("x.t(), of 8 x 8", 1.0, lambda lib, x: lambda: x.t(), 8, 8)
join = _each("cat of four, of 8 x 8", 1.0, _cat, 8, 8)
stacked = _each("stack of four along dim 1, of 8 x 8", 1.0, _stack, 8, 8)
product = _each("x @ x, of 8 x 8", 1.0, lambda lib, x: lambda: x @ x, 8, 8)
relu = _each("relu(x), of 8 x 8", 1.0, lambda lib, x: partial(lib.relu, x), 8, 8)
linear = _each("linear, 8 x 8 by 8 x 8", 1.0, _linear, 8, 8)
squared_error = _each("mse_loss, of 8 x 8", 1.0, _loss, 8, 8)


@timed("backward per node, * 2.0 a thousand times", limit=0.6, per=TIMES)
def backward(lib: Any) -> Any:
    x = lib.tensor([1.5], requires_grad=True)

    def build() -> Any:
        y = x
        for _ in range(TIMES // 2):
            y = y * 2.0 * 0.5  # back and forth, so that it never overflows
        return y

    def run(y: Any) -> Any:
        x.grad = None
        y.backward()
        return x.grad

    return build, run


@timed("(x * 2.0).backward(), of one entry", limit=1.0)
def short(lib: Any) -> Any:
    x = lib.tensor([1.5], requires_grad=True)

    def run() -> Any:
        x.grad = None
        (x * 2.0).backward()
        return x.grad

    return run


@timed("user's Function, forward and backward", limit=0.6)
def function(lib: Any) -> Any:
    class Exp(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (y,) = ctx.saved_tensors
            return g * y

    x = lib.tensor([0.5], requires_grad=True)

    def run() -> Any:
        x.grad = None
        Exp.apply(x).backward()
        return x.grad

    return run


@timed("loss of twelve small operations, both ways", limit=1.0)
def loss(lib: Any) -> Any:
    values = np.random.default_rng(0).uniform(0.5, 1.5, (3, 10)).astype(np.float32)
    x, y, z = (lib.tensor(v, requires_grad=True) for v in values)

    def run() -> Any:
        x.grad = y.grad = z.grad = None
        a = (x * y + 1.0).exp()
        b = (a / (a + z)).log() - y * 0.5
        (lib.tanh(b) * z).sum().sqrt().backward()
        return x.grad

    return run


def _small(lib: Any) -> tuple[Any, tuple[int, ...]]:
    nn = lib.nn
    return nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10)), (32, 32)


small_sgd, small_adam = (
    timed(f"MLP step, 32-64-10, batch 32, {optimizer}", limit=1.0)(training(_small, optimizer=optimizer, lr=1e-5))
    for optimizer in ("SGD", "Adam")
)


def _step(optimizer: str) -> Case:
    @timed(f"{optimizer} step of 4 parameters of 8 x 8, and zero_grad", limit=1.0)
    def step(lib: Any) -> Any:
        params = [lib.ones(8, 8, requires_grad=True) for _ in range(4)]
        grads = [lib.ones(8, 8) for _ in params]
        optim = getattr(lib.optim, optimizer)(params, lr=1e-5)

        def run() -> None:
            for p, g in zip(params, grads, strict=True):
                p.grad = g
            optim.step()
            optim.zero_grad()

        return run

    return step


step_sgd, step_adam = _step("SGD"), _step("Adam")

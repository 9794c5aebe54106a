"""What an operation costs beside its arithmetic: tensors of one element, with the graph recorded."""

from __future__ import annotations

from typing import Any

from benchmarks.runner import timed

TIMES = 1000


@timed("forward, x * 2.0", limit=0.6, per=TIMES)
def times_number(lib: Any) -> Any:
    x = lib.tensor([1.5], requires_grad=True)

    def run() -> None:
        for _ in range(TIMES):
            x * 2.0

    return run


@timed("forward, x * y", limit=0.6, per=TIMES)
def times_tensor(lib: Any) -> Any:
    x, y = lib.tensor([1.5], requires_grad=True), lib.tensor([2.0], requires_grad=True)

    def run() -> None:
        for _ in range(TIMES):
            x * y

    return run


@timed("forward, exp(x)", limit=0.6, per=TIMES)
def exponential(lib: Any) -> Any:
    x = lib.tensor([1.5], requires_grad=True)
    exp = lib.exp

    def run() -> None:
        for _ in range(TIMES):
            exp(x)

    return run


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

"""Functions with right derivatives, `RIGHT`, and such as finite differences cannot judge, `UNSETTLED`.

Those that users read, too, are of examples/, each with its samples.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import gradwright
from examples import right_functions as examples
from gradwright.autograd import Function
from tests.corpus.wrong import Drifts, function, signed, t

f = gradwright.nn.functional
f32, f16, c64, c128 = gradwright.float32, gradwright.float16, gradwright.complex64, gradwright.complex128


class Double(Function):
    """The least that a Function can be."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Scaled(Function):
    """x times a number; it counts its calls."""

    calls = 0

    @staticmethod
    def forward(ctx, x, factor):
        Scaled.calls += 1
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor, None


class Sinh(Function):
    """Keeps intermediates of forward on ctx."""

    @staticmethod
    def forward(ctx, x):
        ctx.up, ctx.down = x.exp(), (-x).exp()
        return (ctx.up - ctx.down) / 2

    @staticmethod
    def backward(ctx, g):
        return g * (ctx.up + ctx.down) / 2


def asking(x: Any) -> Any:
    """A sample's argument, which requires grad if it can."""
    if isinstance(x, gradwright.Tensor) and (x.is_floating_point() or x.is_complex()):
        return x.detach().clone().requires_grad_()
    return x


RIGHT: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "square": (function(lambda x: x * x, lambda g, x: 2 * g * x), (t(4),)),
    "softmax": (examples.Softmax, (t(3, 4),)),
    "linear": (examples.Linear, (t(3, 4), t(2, 4), t(2))),
    "linear without bias": (examples.Linear, (t(3, 4), t(2, 4), None)),
    "two outputs": (examples.SinCos, (t(4),)),
    "setup_context": (examples.Power, (t(4), 3)),
    "needs_input_grad": (examples.Product, (t(4), t(4).detach())),
    "complex product": (
        function(lambda a, b: a * b, lambda g, a, b: (g * b.conj(), g * a.conj())),
        (t(3, dtype=c128), t(3, seed=1, dtype=c128)),
    ),
    "complex absolute value": (lambda z: z.abs(), (t(3, dtype=c128),)),
    "complex to real": (lambda z: (z * z.conj()).real.sum(), (t(3, dtype=c128),)),
    "real to complex": (lambda x: gradwright.fft.fft(x), (t(5),)),
    "complex64": (lambda z: z * z, (t(3, dtype=c64),)),
    "elementwise": (lambda x: (x.exp() + x.sin() * x.log()) / (1 + x * x), (t(3, 2),)),
    "matmul": (lambda a, b: a @ b, (t(3, 4), t(4, 2))),
    "broadcasting": (lambda a, b: a * b + b, (t(3, 4), t(4))),
    "broadcasting of numbers": (lambda a, b: a * b, (t(3, 4), t())),
    "reductions": (lambda x: (x.sum(0), x.mean(1), x.prod(), x.var(), x.logsumexp(0)), (t(3, 4),)),
    "extrema": (lambda x: (x.max(), x.amin(0), x.sort(1)[0]), (t(3, 4),)),
    "views": (lambda x: x.mT[1:, ::2].reshape(-1) * 2, (t(3, 4),)),
    "in place": (lambda x: x.clone().mul_(x).sin_(), (t(3, 4),)),
    "indexing": (lambda x, i: x[i] * x[0], (t(5), gradwright.tensor([0, 2, 2]))),
    "float32": (lambda x: x.exp() * x, (t(4, dtype=f32),)),
    "float32 matmul": (lambda a, b: (a @ b / 8).tanh(), (t(3, 4, dtype=f32), t(4, 2, dtype=f32))),
    "float32 large": (lambda x: x * x, (t(3, dtype=f32, low=1e3, high=1e5),)),
    "mixed precision": (lambda a, b: a * b, (t(4), t(4, dtype=f32))),
    "0-d": (lambda x: x.sin(), (t(),)),
    "constant": (lambda x: x * 0 + 3, (t(3),)),
    "not used": (lambda x, y: x * 2, (t(3), t(3))),
    "detached in part": (lambda x, y: (x * y, y.detach() * 0), (t(3), t(3))),
    "the same twice": (lambda a, b: a * b, (t(3),) * 2),
    "nested": (lambda pair, d: pair[0] * pair[1] + d["k"], ([t(3), t(3, seed=1)], {"k": t(3, seed=2)})),
    "away from the kink": (lambda x: x.relu() + x.abs(), (signed(6),)),
    "close to the kink": (
        lambda x: x.relu(),
        (gradwright.tensor([1e-4, -1e-4], dtype=gradwright.float64, requires_grad=True),),
    ),
    "steep": (lambda x: (200 * x).sin(), (t(4),)),
    "large": (lambda x: x.exp(), (t(4, low=20, high=40),)),
    "small": (lambda x: x.log(), (t(4, low=1e-4, high=1e-3),)),
    "scales apart": (lambda x: x * gradwright.tensor([1e-6, 1.0, 1e6], dtype=gradwright.float64), (t(3),)),
    "at a smooth zero": (
        lambda x: x**3 + x.sin(),
        (gradwright.zeros(3, dtype=gradwright.float64, requires_grad=True),),
    ),
    "convolution": (lambda x, w: f.conv2d(x, w, padding=1), (t(1, 2, 4, 4), t(2, 2, 3, 3))),
    "layer norm": (lambda x, w, b: f.layer_norm(x, (4,), w, b), (t(3, 4), t(4), t(4, seed=1))),
    "cross entropy": (lambda x, y: f.cross_entropy(x, y), (t(3, 4), gradwright.tensor([0, 3, 1]))),
    "inverse": (lambda a: gradwright.linalg.inv(a @ a.mT + 1), (t(3, 3),)),
    "strides": (lambda x: x.exp(), (t(4, 3).detach().mT.requires_grad_(),)),
    "negative strides": (lambda x: x.exp(), (gradwright.tensor(np.arange(4.0)).flip(0).requires_grad_(),)),
    **{
        f"examples: {name}[{k}]": (f, tuple(map(asking, inputs)))
        for name, f in vars(examples).items()
        if isinstance(f, type) and issubclass(f, Function)
        # not those that need a seed, or no leaf, or have no second derivative
        and f not in (Function, examples.Dropout, examples.InPlaceDouble, examples.SineInNumPy)
        for k, inputs in enumerate(f.samples())
    },
}


class RandomForward(Function):
    @staticmethod
    def forward(ctx, x):
        return x * (2 + random.random())

    @staticmethod
    def backward(ctx, g):
        return g * 2


def zero(*values: float, dtype: Any = gradwright.float64) -> Any:
    return gradwright.tensor(values, dtype=dtype, requires_grad=True)


def coarse(x: Any) -> Any:
    return x.half().exp().double()


def stopped_early(x: Any) -> Any:
    """A sum whose number of terms depends on x."""
    return sum((x * k).sin() / k**2 for k in range(1, 40 + int(1e5 * float(x.detach().sum())) % 7))


UNSETTLED: dict[str, tuple[Any, tuple[Any, ...], str]] = {
    "kink: relu at 0": (lambda x: x.relu(), (zero(0, 1, -1),), "kink"),
    "kink: abs at 0": (lambda x: x.abs(), (zero(0, 1, -1),), "kink"),
    "kink: abs at 0 in float32": (lambda x: x.abs(), (zero(0, 1, -1, dtype=f32),), "kink"),
    "kink: a tie": (lambda x: x.max(), (zero(1, 1, 0),), "kink"),
    "kink: clamp at its limit": (lambda x: x.clamp(-1, 1), (zero(1, 0.5, 2),), "kink"),
    "kink: behind a matrix": (
        lambda x, w: (x @ w).relu(),
        (zero(1, -1), gradwright.ones(2, 2, dtype=gradwright.float64)),
        "kink",
    ),
    "kink: a norm at 0": (lambda x: (x * x).sum().sqrt(), (zero(0, 0),), "kink"),
    "kink: a jump": (lambda x: x.floor(), (zero(1, 0.5),), "kink"),
    "empty": (lambda x: x * 2, (t(0, 3),), "empty"),
    "empty: only the output": (lambda x: x[:0] * 2, (t(3),), "empty"),
    "edge: sqrt at 0": (lambda x: x.sqrt(), (zero(0, 1),), "edge"),
    "edge: log of less than 0": (lambda x: x.log(), (zero(-1, 1),), "edge"),
    "noise: half precision inside": (coarse, (t(4),), "noise"),
    "noise: stopped early": (stopped_early, (t(3),), "noise"),
    "precision: float16": (lambda x: x * x, (t(4, dtype=f16),), "precision"),
    "non-determinism: random": (RandomForward, (t(4),), "non-determinism"),
    "non-determinism: dropout": (lambda x: f.dropout(x), (t(40),), "non-determinism"),
    "stale state: counts its calls": (Drifts, (t(4),), "stale state"),
    "overlap: expanded": (lambda x: x * x, (t(1, 3).detach().expand(4, 3).requires_grad_(),), "overlap"),
    "overlap: sliding windows": (
        lambda x: x * x,
        (gradwright.tensor(np.arange(6.0)).unfold(0, 3, 1).requires_grad_(),),
        "overlap",
    ),
}

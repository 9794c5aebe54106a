"""The LLTM of PyTorch's C++ tutorial, a recurrent cell without a forget gate, in Python and in C++.

`LLTM` is its forward and backward as a Function; lltm.cpp has the same in C++, built when it is first asked for. Prints
the checkers' verdicts on both, the largest difference of their values, gradients and second derivatives, and how long
a step with its gradient takes in each. Needs a C++ compiler and nanobind: pip install nanobind.
"""

import math
import time
from pathlib import Path

import gradwright as gw
from gradwright import nn
from gradwright.nn import functional as F
from gradwright.utils.cpp_extension import load


class LLTM(gw.autograd.Function):
    """One step: (batch, inputs) and a state of two (batch, width) to the next state, and the gates (batch, 3 width)."""

    @staticmethod
    def forward(ctx, x, weights, bias, h, cell):
        gates = F.linear(gw.cat([h, x], dim=1), weights, bias)
        a, b, c = gates.chunk(3, dim=1)
        new_cell = cell + a.sigmoid() * F.elu(c)
        ctx.save_for_backward(x, weights, h, cell, gates)
        return b.sigmoid() * new_cell.tanh(), new_cell, gates  # backward needs the gates: an output has a history

    @staticmethod
    def backward(ctx, grad_h, grad_cell, grad_gates):
        x, weights, h, cell, gates = ctx.saved_tensors
        a, b, c = gates.chunk(3, dim=1)
        i, o, g = a.sigmoid(), b.sigmoid(), F.elu(c)
        t = (cell + i * g).tanh()
        d_cell = grad_cell + grad_h * o * (1 - t * t)
        d_a = d_cell * g * i * (1 - i)
        d_b = grad_h * t * o * (1 - o)
        d_c = d_cell * i * (g.clamp(max=0) + 1)  # the slope of elu is 1, or exp(c) = elu(c) + 1
        d_gates = gw.cat([d_a, d_b, d_c], dim=1) + grad_gates
        d_weights = d_bias = d_h = d_x = None
        if ctx.needs_input_grad[1]:
            d_weights = d_gates.t() @ gw.cat([h, x], dim=1)
        if ctx.needs_input_grad[2]:
            d_bias = d_gates.sum(0)
        if ctx.needs_input_grad[0] or ctx.needs_input_grad[3]:
            d_h, d_x = (d_gates @ weights).split([h.size(1), x.size(1)], dim=1)
        return d_x, d_weights, d_bias, d_h, d_cell


def compiled():
    """`LLTM` in C++."""
    return load("lltm", Path(__file__).with_name("lltm.cpp")).LLTM


class Cell(nn.Module):
    """The cell with its weights; ``step`` is `LLTM`, or what `compiled` returns."""

    def __init__(self, inputs, width, step=LLTM, dtype=None):
        super().__init__()
        self.step = step
        self.weights = nn.Parameter(gw.empty(3 * width, inputs + width, dtype=dtype))
        self.bias = nn.Parameter(gw.zeros(3 * width, dtype=dtype))
        nn.init.uniform_(self.weights, -1 / math.sqrt(width), 1 / math.sqrt(width))

    def forward(self, x, state):
        h, cell, _ = self.step.apply(x, self.weights, self.bias, *state)
        return h, cell


def arguments(batch, inputs, width):
    """What a step takes: random numbers, and weights that keep sums of them about as large."""
    gw.manual_seed(0)
    shapes = [(batch, inputs), (3 * width, inputs + width), (3 * width,), (batch, width), (batch, width)]
    x, weights, *rest = (gw.randn(*shape, dtype=gw.float64) for shape in shapes)
    return [t.requires_grad_() for t in (x, weights / math.sqrt(inputs + width), *rest)]


def derivatives(step, inputs):
    """What a step returns, its gradients, and the gradients of their squares."""
    values = step.apply(*inputs)
    first = gw.autograd.grad(sum(v.sin().sum() for v in values), inputs, create_graph=True)
    second = gw.autograd.grad(sum((g * g).sum() for g in first), inputs)
    return [values, first, second]


def difference(ours, theirs):
    """The largest, relative to the largest number of each tensor."""
    return max(((a - b).abs().max() / b.abs().max()).item() for a, b in zip(ours, theirs, strict=True))


def seconds(step, steps=300):
    """A step and its gradient, float32, in the sizes of the tutorial: 16 sequences of 32 numbers, 128 wide."""
    cell = Cell(32, 128, step)
    x, *state = gw.randn(16, 32), gw.randn(16, 128), gw.randn(16, 128)
    best = math.inf
    for _ in range(steps):
        cell.zero_grad()
        start = time.perf_counter()
        h, c = cell(x, state)
        (h.sum() + c.sum()).backward()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    steps = {"Python": LLTM, "C++": compiled()}
    small = arguments(2, 3, 2)
    for name, step in steps.items():
        first, second = gw.autograd.gradcheck(step.apply, small), gw.autograd.gradgradcheck(step.apply, small)
        print(f"{name:6} derivatives right: first {first}, second {second}")

    inputs = arguments(16, 32, 128)
    both = zip(*(derivatives(step, inputs) for step in steps.values()), strict=True)
    for name, (ours, theirs) in zip(["values", "gradients", "second derivatives"], both, strict=True):
        print(f"{name}: largest difference {difference(ours, theirs):.1e}")

    for name, step in steps.items():
        print(f"{name:6} {1e6 * seconds(step):.0f} µs a step")


if __name__ == "__main__":
    main()

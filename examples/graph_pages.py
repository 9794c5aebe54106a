"""Graphs to look around in: four programs, each with its graph and backward pass as a page for a browser.

network    one step of a small network, with a Function of its own, a gradient declared untrue, and a detach
sinh       the second derivative of sinh: what backward itself recorded is marked
vanishing  twelve layers of sigmoids: the gradients of the first ones are too small to learn from
detach     a loss that is cut off from what it should train in three places, each of which is shown

Writes network.html, sinh.html, ... to the working directory, or to the folder that is given as an argument,
and prints for each the smallest and the largest gradient of a leaf, and where gradients stop.
"""

import sys
from pathlib import Path

import gradwright as gw
from gradwright import nn, viz
from gradwright.autograd import Function, surrogate


class Swish(Function):
    """x * sigmoid(x); dy/dx = s + x s (1 - s), s = sigmoid(x)."""

    @staticmethod
    def forward(ctx, x):
        s = x.sigmoid()
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, grad_y):
        x, s = ctx.saved_tensors
        return grad_y * (s + x * s * (1 - s))


@surrogate("straight-through: rounding has no slope, so the gradient is passed on as it is")
class Quantise(Function):
    """Rounds to eighths."""

    @staticmethod
    def forward(ctx, x):
        return (8 * x).round() / 8

    @staticmethod
    def backward(ctx, grad_y):
        return grad_y


class Sinh(Function):
    """sinh x = (e^x - e^-x) / 2; both parts are returned too, so that they have a history."""

    @staticmethod
    def forward(ctx, x):
        e, e_neg = gw.exp(x), gw.exp(-x)
        ctx.save_for_backward(e, e_neg)
        return (e - e_neg) / 2, e, e_neg

    @staticmethod
    def backward(ctx, grad_y, grad_e, grad_e_neg):
        e, e_neg = ctx.saved_tensors
        return grad_y * (e + e_neg) / 2 + grad_e * e - grad_e_neg * e_neg


class Layer(nn.Module):
    """A linear layer and a Swish."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x):
        return Swish.apply(self.linear(x))


class Network(nn.Module):
    """Two layers, and a head that sees them rounded."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(Layer(4, 8), Layer(8, 8))
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        h = self.body(x)
        return self.head(Quantise.apply(h) + h.detach())


def network():
    gw.manual_seed(0)
    net = Network()
    x, y = gw.randn(16, 4), gw.randint(0, 3, (16,))
    return nn.functional.cross_entropy(net(x), y), net


def sinh():
    x = gw.tensor(0.5, dtype=gw.float64, requires_grad=True)
    slope, = gw.autograd.grad(Sinh.apply(x)[0], x, create_graph=True)
    return slope, {"x": x}


def vanishing():
    gw.manual_seed(1)
    net = nn.Sequential(*(nn.Sequential(nn.Linear(16, 16), nn.Sigmoid()) for _ in range(12)), nn.Linear(16, 1))
    return (net(gw.randn(32, 16)) ** 2).mean(), net


def detach():
    a = gw.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b = gw.tensor([0.5, 0.5, 0.5], requires_grad=True)
    product = a * b
    target = product.detach()
    with gw.no_grad():
        scale = product.sum()
    rounded = (10 * product).long()
    return ((product - target) ** 2).sum() * scale + (product * rounded).sum(), {"a": a, "b": b}


PROGRAMS = {"network": network, "sinh": sinh, "vanishing": vanishing, "detach": detach}


def traced(name):
    """The result of a program, and the names of its leaves; noted: lines, modules, and where gradients stop."""
    with viz.trace():
        return PROGRAMS[name]()


def main(folder="."):
    for name in PROGRAMS:
        result, params = traced(name)
        path = viz.explore(result, Path(folder) / f"{name}.html", params=params, title=name)
        play = viz.play(result, params=params)
        sizes = sorted(step.after.rms for step in play.steps if step.after)
        stops = [f"{n.name} at {n.place}" for n in play.graph.nodes if n.kind == "stop"]
        print(f"{path.name:15} gradients {sizes[0]:.2g} to {sizes[-1]:.2g}", *stops, sep="  ")


if __name__ == "__main__":
    main(*sys.argv[1:])

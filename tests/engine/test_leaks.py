"""The pass frees what nobody holds, by reference counting alone: there are no cycles for the collector to find."""

import tracemalloc
import weakref

import numpy as np
import pytest

import gradwright
from gradwright.engine import backward as engine
from tests.functions import Function


class Square(Function):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * x


class Exp(Function):
    """Saves its own output, which is where a cycle would come from."""

    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


class Two(Function):
    """Two outputs, both saved."""

    def forward(ctx, x):
        a, b = x.sin(), x.cos()
        ctx.save_for_backward(a, b)
        return a, b

    def backward(ctx, ga, gb):
        a, b = ctx.saved_tensors
        return ga * b - gb * a


def in_place(x):
    y = x * 1
    y.sin_()
    v = y[1:]
    v.mul_(2)
    y[0] = v[0] * 3
    return y.sin() + v.sum()


def hooked(x):
    y = x.exp()
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda gi, go: None)
    return y * y


def frozen(x):
    y = x * 2
    y.zero_()
    return y + x


PROGRAMS = {
    "operations": lambda x: (x.exp() * x.sin() + x.pow(3)).sqrt(),
    "function": lambda x: Square.apply(x),
    "own output": lambda x: Exp.apply(x),
    "two outputs": lambda x: Two.apply(x)[0] * 2,
    "in place": in_place,
    "views": lambda x: x.view(2, -1).t().reshape(-1).split(2)[0],
    "hooks": hooked,
    "overwritten": frozen,
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("use", ["drop", "backward", "grad of grad"])
def test_a_dropped_graph_is_freed_without_the_garbage_collector(no_gc, program, use):
    x = gradwright.tensor(np.linspace(0.5, 1.5, 4), requires_grad=True)
    out = program(x)
    if use == "backward":
        out.sum().backward()
    elif use == "grad of grad":
        (g,) = gradwright.autograd.grad((out * out).sum(), x, create_graph=True)
        (h,) = gradwright.autograd.grad(g.sum(), x, create_graph=True, allow_unused=True)
        del g, h
    nodes = [weakref.ref(n) for n in engine.walk([out.grad_fn]) if n is not x._node]
    arrays = weakref.ref(out.array)
    assert nodes
    del out
    assert arrays() is None
    assert [n() for n in nodes if n() is not None] == []


def test_training_steps_do_not_grow(no_gc):
    x = gradwright.tensor(np.linspace(0.5, 1.5, 1000), requires_grad=True)

    def steps(n):
        for _ in range(n):
            loss = sum((program(x).sum() for program in PROGRAMS.values()), start=0.0)
            (g,) = gradwright.autograd.grad(loss, x, create_graph=True)
            (g * g).sum().backward()
            x.grad = None

    steps(2)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    steps(40)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 40 * 8_000 / 2  # if each step left one array behind, it would be 40 * 8,000


def test_saved_values_are_released_as_backward_goes():
    alive = []

    class Probe(Function):
        def forward(ctx, x):
            return x * 1

        def backward(ctx, g):
            alive.append(saved() is not None)
            return g

    x = gradwright.ones(10, requires_grad=True)
    y = Probe.apply(x)
    z = y.exp()
    saved = weakref.ref(z.array)
    out = z.sum()
    del z
    out.backward()
    assert alive == [False]


def test_a_leaf_that_was_dropped_is_no_obstacle():
    x = gradwright.ones(2, requires_grad=True)
    y = x * 3
    node = y.grad_fn.next_functions[0][0]
    del x
    y.sum().backward()
    assert node.variable.grad.tolist() == [3, 3]

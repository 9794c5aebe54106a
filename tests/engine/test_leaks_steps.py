"""A thousand training steps of every kind, the garbage collector off: what lives afterwards lived before."""

import gc
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

import gradwright
from gradwright.engine import recorded_passes, saved_hooks
from tests.functions import Function
from tests.thorough import WHOLE

SIZE = 100
STEPS = 900 if WHOLE else 220


class Keeps(Function):
    """Leaves on ctx whatever could keep itself alive: inputs, outputs, views of them, in lists and dictionaries."""

    def forward(ctx, x, w):
        y = x * w
        ctx.save_for_backward(x, w, y)
        ctx.x, ctx.y, ctx.part = x, y, y[1:]
        ctx.many = {"in": (x, w), "out": [y, [y.detach()]]}
        return y

    def backward(ctx, g):
        _, w, y = ctx.saved_tensors
        ctx.g = g.detach()
        return g * w + 0 * ctx.y, g * ctx.x + 0 * (y + ctx.many["out"][0])


class Two(Function):
    def forward(ctx, x, w):
        ctx.s, ctx.c = x.sin(), (x * w).cos()
        ctx.save_for_backward(ctx.s, ctx.c)
        return ctx.s, ctx.c

    def backward(ctx, gs, gc_):
        s, c = ctx.saved_tensors
        return gs * c - gc_ * s, gs * ctx.c


class Fails(Function):
    def forward(ctx, x, w):
        ctx.y = x * w
        return ctx.y

    def backward(ctx, g):
        raise KeyError("half-way")


def hooks(x, w):
    h = (x * w).exp()
    h.retain_grad()
    constant = h.detach()
    h.register_hook(lambda g: g * constant)
    h.grad_fn.register_hook(lambda gi, go: None)
    h.grad_fn.register_prehook(lambda go: None)
    return h * h


def views_and_writes(x, w):
    h = x * w
    h.sin_()
    part = h[1:]
    part.mul_(2)
    h[0] = part[0] * 3
    for piece in h.view(2, -1).unbind():
        h = h + piece.sum()
    buffer = gradwright.zeros(SIZE, dtype=gradwright.float64)
    buffer[3:].add_(h[3:])
    return buffer * h.exp_().sqrt()


def exported(x, w):
    buffer = gradwright.ones(SIZE, dtype=gradwright.float64)
    array = buffer.numpy()
    array[0] = 3.0
    buffer.add_(0)
    rows = [buffer[k:].numpy() for k in range(20)]
    h = x * w * buffer
    return h * buffer * float(rows[0][0])


def packed(x, w):
    with saved_hooks.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        h = Keeps.apply(x, w)
        return (h * w).exp() * h


def mutation_allowed(x, w):
    with saved_hooks.allow_mutation_on_saved_tensors():
        h = (x * w).exp()
        k = h * h
        h.mul_(2)
        return k * h


def failing(x, w):
    h = Fails.apply(x, w)
    with pytest.raises(KeyError):
        (h.exp() * w).sum().backward()
    h = x * w
    k = h * h
    h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        k.sum().backward()
    return x * w


PROGRAMS = {
    "operations": lambda x, w: (x * w).exp() / (1 + x.abs()).sqrt(),
    "Function that keeps everything": lambda x, w: Keeps.apply(x, w) * 2,
    "Function of two outputs": lambda x, w: Two.apply(x, w)[1] * 2,
    "hooks": hooks,
    "views and writes": views_and_writes,
    "exported memory": exported,
    "saved tensors packed": packed,
    "mutation of saved tensors allowed": mutation_allowed,
    "exceptions": failing,
}  # fmt: skip


def backward(y, x, w):
    y.sum().backward()


def twice(y, x, w):
    (g,) = gradwright.autograd.grad((y * y).sum(), w, create_graph=True)
    (g * g).sum().backward()


def recorded(y, x, w):
    y.sum().backward(create_graph=True)
    (w.grad * w.grad).sum().backward()
    x.grad = w.grad = None  # which refer to each other through the graph


def arrays():
    """How many arrays live whose making was traced; the collector, which does not know of arrays, could not say."""
    snapshot = tracemalloc.take_snapshot()
    return len(snapshot.filter_traces([tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)]).traces)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_thousand_steps_do_not_grow(no_gc, name):
    program = PROGRAMS[name]
    w = gradwright.tensor(np.linspace(0.5, 1.5, SIZE), requires_grad=True)

    def steps(n):
        for k in range(n):
            x = gradwright.tensor(np.linspace(0.1, 1.0, SIZE), requires_grad=True)
            (backward, twice, recorded)[k % 3](program(x, w), x, w)
            with gradwright.no_grad():
                if w.grad is not None:
                    w.sub_(1e-6 * w.grad)
                w.grad = None

    steps(20)
    recorded_passes._passes.clear()  # of which a hundred are kept
    objects = len(gc.get_objects())
    steps(STEPS)
    recorded_passes._passes.clear()
    assert len(gc.get_objects()) - objects < STEPS / 9
    tracemalloc.start()
    try:
        steps(20)
        before = arrays()
        steps(80)
        assert arrays() - before < 10
    finally:
        tracemalloc.stop()


def test_saved_buffers_go_as_backward_goes(no_gc):
    """Of a chain of 40 saved arrays, half are gone half-way back, and the pass itself takes no more than a few."""
    x = gradwright.ones(100_000, dtype=gradwright.float64, requires_grad=True)
    array = x.array.nbytes
    seen = []
    tracemalloc.start()
    try:
        h = x
        for k in range(40):
            h = h.exp() if k % 2 else h * 1e-3
            if k % 10 == 0:
                h.register_hook(lambda g: seen.append(tracemalloc.get_traced_memory()[0]))
        out = h.sum()
        del h
        built = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        out.backward()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert built >= 20 * array  # one for each exp
    assert peak <= built + 3 * array
    falls = [a - b for a, b in pairwise(seen)]
    assert all(fall > 4 * array for fall in falls), [f / array for f in falls]

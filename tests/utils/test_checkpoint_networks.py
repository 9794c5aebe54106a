"""Checkpointing of networks: random pieces of random ones, and memory."""

import random
import tracemalloc
import weakref

import numpy as np
import pytest

import gradwright
from tests.utils.checkpoints import WAYS, close, module, vector, without

# -- at random --


def _network(T, rng, pieces):
    """A random function of x, and its like with checkpoints around random pieces of it."""
    weights = [T.tensor(rng.normal(size=(3, 3)), dtype=T.float64, requires_grad=True) for _ in range(2)]
    makers = [
        T.sin, T.tanh, T.sigmoid, lambda x: x @ weights[0], lambda x: (x @ weights[1]).exp() * 0.1, lambda x: x * x,
        lambda x: T.cat([x[1:], x[:1] * 2]), lambda x: x + x.mean(), lambda x: (x * 1).mul_(x).cos_(),
        lambda x: T.softmax(x, -1) * x, lambda x: T.stack(list(x.unbind(0))).t(), lambda x: x - x.amax(0),
        lambda x: T.nn.functional.leaky_relu(x, 0.2),
    ]  # fmt: skip
    chosen = [makers[k] for k in rng.integers(0, len(makers), pieces)]
    draw = random.Random(int(rng.integers(1 << 30)))

    def nest(steps, depth):
        if len(steps) < 2 or depth > 2:
            return steps
        a, b = sorted(draw.sample(range(len(steps) + 1), 2))
        inside = nest(steps[a:b], depth + 1)
        return [*steps[:a], lambda x: without(T)(_chain(inside), x), *nest(steps[b:], depth + 1)]

    return _chain(chosen), _chain(nest(chosen, 0)), weights


def _chain(steps):
    def run(x):
        for step in steps:
            x = step(x)
        return x

    return run


@pytest.mark.parametrize("seed", range(40))
def test_random_pieces_of_random_networks(T, seed):
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(3, 3))
    plain, checkpointed, weights = _network(T, rng, 8)
    found = []
    for f in (plain, checkpointed):
        x = T.tensor(data, dtype=T.float64, requires_grad=True)
        inputs = (x, *weights)
        out = f(x)
        first = T.autograd.grad((out * out).sum(), inputs, create_graph=True, allow_unused=True)
        total = sum((g * g).sum() for g in first if g is not None)
        second = T.autograd.grad(total, inputs, allow_unused=True, retain_graph=True)
        again = T.autograd.grad(total, inputs, allow_unused=True)
        found.append([out, *first, *second, *again])
    for a, b in zip(*found, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            close(a, b)


# -- memory --


def _peak(use):
    layers = [gradwright.nn.Linear(8, 8) for _ in range(16)]
    steps = [s for layer in layers for s in (layer, gradwright.tanh, gradwright.exp, gradwright.sin)]
    x = gradwright.rand(1024, 8, requires_grad=True)
    use(steps, x).sum().backward()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    out = use(steps, x).sum()
    held = tracemalloc.get_traced_memory()[0] - before
    out.backward()
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return held, peak


@WAYS
def test_less_memory(reentrant):
    sequential = module(gradwright).checkpoint_sequential
    plain = _peak(lambda steps, x: _chain(steps)(x))
    held, peak = _peak(lambda steps, x: sequential(steps, 4, x, use_reentrant=reentrant))
    assert held < 0.45 * plain[0]
    assert peak < 0.7 * plain[1]


def test_nested_checkpoints_hold_less_still():
    def nested(steps, x):
        if len(steps) <= 8:
            return without(gradwright)(_chain(steps), x)
        half = len(steps) // 2
        return without(gradwright)(lambda x: nested(steps[half:], nested(steps[:half], x)), x)

    flat = _peak(lambda steps, x: module(gradwright).checkpoint_sequential(steps, 8, x, use_reentrant=False))
    held, peak = _peak(nested)
    assert held < 0.5 * flat[0]
    assert peak < flat[1]


@WAYS
@pytest.mark.filterwarnings("ignore:None of the inputs")
def test_nothing_is_kept(no_gc, reentrant):
    checkpoint = module(gradwright).checkpoint

    def f(x):
        return checkpoint(lambda x: x.sin().exp(), x * 2, use_reentrant=reentrant).cos()

    def watch(out):
        return [weakref.ref(out.grad_fn), weakref.ref(out)]

    layer = gradwright.nn.Linear(3, 3).double()
    for create_graph in (False, True) if not reentrant else (False,):
        for run_backward in (True, False):
            x = vector(gradwright)
            out = checkpoint(lambda x: f(layer(x).exp()), x, use_reentrant=reentrant)
            refs = [*watch(out), weakref.ref(x)]
            if run_backward and create_graph:
                (g,) = gradwright.autograd.grad(out.sum(), x, create_graph=True)
                g.sum().backward()
                del g
            elif run_backward:
                out.sum().backward()
            layer.zero_grad()
            x.grad = None
            del out, x
            assert [ref() for ref in refs] == [None, None, None]


def test_values_are_gone_as_soon_as_they_are_used(no_gc):
    """All but the one that backward is at."""
    alive = []

    class Watched(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            arrays.append(weakref.ref(y.array))
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            alive.append(sum(ref() is not None for ref in arrays))
            return g * y

    arrays = []
    x = gradwright.zeros(4, requires_grad=True)
    y = without(gradwright)(lambda x: Watched.apply(Watched.apply(Watched.apply(x) * 0.1) * 0.1) + 0, x).sum()
    assert sum(ref() is not None for ref in arrays) == 0
    y.backward(retain_graph=True)
    assert alive == [3, 2, 1]
    assert sum(ref() is not None for ref in arrays) == 0

"""Looking on changes nothing: values, gradients and what hooks see are the same whatever watches the program."""

import contextlib
import random
from functools import cache

import pytest

import gradwright as gw
from gradwright.autograd import detect_anomaly, graph
from gradwright.debug.path_of_values import Trace
from gradwright.engine.mode import now, switch
from gradwright.engine.watch import Watch
from gradwright.profiler import profile
from gradwright.utils.checkpoint import checkpoint
from tests.functions import function

pytestmark = pytest.mark.filterwarnings("ignore")  # of hooks that a write to the base leaves behind

Cube = function("Cube", lambda ctx, x: ctx.save_for_backward(x) or x**3,
                lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2)  # fmt: skip
Same = function("Same", lambda ctx, x: ctx.save_for_backward(x) or x, lambda ctx, g: g * ctx.saved_tensors[0])

IN_PLACE = {
    "mul_": lambda t, o: t.mul_(2.0),
    "mul_ by a tensor": lambda t, o: t.mul_(o),
    "*=": lambda t, o: t.__imul__(o),
    "+=": lambda t, o: t.__iadd__(1.5),
    "exp_": lambda t, o: t.exp_(),
    "sigmoid_": lambda t, o: t.sigmoid_(),
    "addcmul_": lambda t, o: t.addcmul_(o, o, value=0.5),
    "copy_": lambda t, o: t.copy_(o * 2),
    "zero_": lambda t, o: t.zero_(),
    "set an entry": lambda t, o: t.__setitem__((0, 0), o[0, 0] * 3),
    "hardtanh_": lambda t, o: gw.nn.functional.hardtanh_(t),
}
NEW = {
    "sin": lambda t, o: t.sin(),
    "product": lambda t, o: t * o,
    "rows": lambda t, o: t[:1],
    "column": lambda t, o: t[:, :1],
    "transposed": lambda t, o: t.T,
    "flat": lambda t, o: t.reshape(-1)[:4].view(2, 2),
    "cube": lambda t, o: Cube.apply(t),
    "same": lambda t, o: Same.apply(t),
    "clone": lambda t, o: t.clone(),
}


def program(seed):
    """A program of random steps: views, writes in place, hooks, retained gradients."""
    draw = random.Random(seed)
    steps = []
    for _ in range(draw.randint(4, 9)):
        kind = draw.choice(["new", "new", "write", "write", "hook", "retain"])
        name = draw.choice([*(NEW if kind == "new" else IN_PLACE)])
        steps.append((kind, name, draw.randrange(9), draw.choice([2.0, 10.0])))

    def run(x, seen):
        tensors, retained = [x * 1.0], []
        for kind, name, k, scale in steps:
            t = tensors[k % len(tensors)]
            other = next((u for u in reversed(tensors) if u.shape == t.shape), t)
            if kind == "new":
                tensors.append(NEW[name](t, other) if t.shape == (2, 2) else t * scale)
            elif kind == "write":
                with contextlib.suppress(RuntimeError):  # of an output of a Function, say
                    IN_PLACE[name](t, other.clone())
            elif kind == "hook":
                t.register_hook(lambda g, scale=scale: seen.append(g.clone()) or g * scale)
            else:
                t.retain_grad()
                retained.append(t)
        return sum((t.tanh() * (k + 1)).sum() for k, t in enumerate(tensors)), retained

    return run


class Values(Watch):
    """Looks at all it is told of."""

    def compute(self, name, inputs, call):
        out = call()
        repr((inputs, out))
        return out

    def run(self, node, g, call):
        out = call()
        repr((g, out))
        return out


@contextlib.contextmanager
def listening():
    """With a listener that hears of all that is cut off, that of `why_none`."""
    before = now()
    switch(before.but(listener=Trace().guard))
    try:
        yield
    finally:
        switch(before)


OBSERVERS = {
    "hooks": lambda: graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    "hooks that copy": lambda: graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t),
    "save_on_cpu": graph.save_on_cpu,
    "anomaly mode": lambda: detect_anomaly(check_nan=False),
    "profiler": profile,
    "trace": lambda: gw.viz.trace(),
    "mutation": graph.allow_mutation_on_saved_tensors,
    "audit": lambda: gw.audit(shown=False, budget=1e-9),
    "a watch": Watch,
    "a watch of values": Values,
    "a listener": listening,
}


def outcome(seed, observer=contextlib.nullcontext, through=lambda f, x: f(x)):
    """What a program gives, or the kind of its error."""
    x = gw.tensor([[0.5, -1.0], [2.0, 0.3]], dtype=gw.float64, requires_grad=True)
    seen, retained = [], []

    def run(x):
        loss, kept = program(seed)(x, seen)
        retained[:] = kept
        return loss

    with observer():
        try:
            loss = through(run, x)
            loss.backward()
        except RuntimeError as error:
            return type(error)
    return [loss.detach(), x.grad, *seen], [t.grad for t in retained]


def same(a, b):
    if isinstance(a, type):
        return False
    return all(len(p) == len(q) and all((s is None and t is None) or (s is not None and t is not None and
               s.shape == t.shape and gw.allclose(s, t, equal_nan=True)) for s, t in zip(p, q, strict=True))
               for p, q in zip(a, b, strict=True))  # fmt: skip


@cache
def outcomes():
    """What the programs that are not refused give, with nobody looking on."""
    return {seed: found for seed in range(150) if not isinstance(found := outcome(seed), type)}


def test_most_programs_run():
    assert len(outcomes()) > 70


@pytest.mark.parametrize("observer", OBSERVERS)
def test_looking_on_changes_nothing(observer):
    for seed, expected in outcomes().items():
        assert same(outcome(seed, OBSERVERS[observer]), expected), f"program {seed}"


def test_computing_again_changes_nothing():
    for seed, expected in outcomes().items():
        found = outcome(seed, through=lambda f, x: checkpoint(f, x, use_reentrant=False))
        assert same((found[0][:2],), (expected[0][:2],)), f"program {seed}"

"""Ctrl-C at any moment of a pass, a step, a write in place or saving: nothing stays on, held or half written."""

import random
from time import perf_counter

import numpy as np
import pytest

import gradwright as gw
from gradwright.backends import strict
from gradwright.engine.base import wrap
from gradwright.engine.mode import PLAIN, switch
from gradwright.utils.checkpoint import checkpoint
from tests.functions import Function
from tests.interrupts import COUNT, SIGNALS, alarmed, interrupted, left

numpy = gw.backends.numpy.namespace


def bits(t):
    """The values of a tensor, to the last bit."""
    return None if t is None else (str(t.dtype), np.asarray(gw.backends.to_host(t.array)).tobytes())


def filled(*shape, space=numpy, dtype="float32"):
    values = np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)
    return wrap(space.asarray(values, copy=True))


class Cube(Function):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


class Pass:
    """A forward and a backward pass, with hooks, views written in place, a Function, statistics and a checkpoint."""

    def __init__(self, space):
        self.a, self.b, self.c = (filled(*s, space=space).requires_grad_() for s in [(3, 4), (4,), (3, 4)])
        self.a.grad = filled(3, 4, space=space)
        self.norm = gw.nn.BatchNorm1d(4) if space is numpy else None
        self.seen = []
        self.b.register_hook(lambda g: g * 2)
        self.c.register_post_accumulate_grad_hook(lambda t: self.seen.append(t.shape))

    def run(self):
        x = self.a * self.b
        x.retain_grad()
        y = x * 1
        y[1:].mul_(self.c[1:])
        y = Cube.apply(y)
        if self.norm is not None:
            y = self.norm(y)
            y = y + checkpoint(lambda t: t.sin().exp(), y, use_reentrant=False)
        (g,) = gw.autograd.grad(y.sum(), self.c, create_graph=True)
        (y.mean() + (g * g).sum() * 1e-3).backward()

    def leaves(self):
        more = [] if self.norm is None else [self.norm.weight.grad, self.norm.running_mean, self.norm.running_var]
        return [(bits(t),) for t in [self.a.grad, self.b.grad, self.c.grad, *more]]

    def versions(self):
        return [self.a.grad._version]


class Passes(Pass):
    """Many small passes."""

    def __init__(self):
        super().__init__(numpy)
        self.norm = None

    def run(self):
        for _ in range(5):
            (self.a * self.b).sum().backward()

    def leaves(self):
        return []  # they may be anywhere between

    def versions(self):
        return []


class Step:
    """A step of an optimiser."""

    def __init__(self, name, space=numpy, dtype="float32", **options):
        shapes = [(4, 3), (2, 5)] if name == "Muon" else [(4, 3), (3,), (), (2, 3)]
        self.params = [filled(*s, space=space, dtype=dtype).requires_grad_() for s in shapes]
        for p in self.params:
            p.grad = filled(*p.shape, space=space, dtype=dtype)
        self.optimizer = getattr(gw.optim, name)(self.params, **options)
        self.run()

    def run(self):
        self.optimizer.step()

    def leaves(self):
        state = self.optimizer.state
        return [(bits(p), *[(k, bits(v)) for k, v in sorted(state[p].items())]) for p in self.params]

    def versions(self):
        return [p._version for p in self.params]


class First(Step):
    """The first step, which makes the state."""

    def __init__(self, name):
        super().__init__(name)
        self.optimizer = getattr(gw.optim, name)(self.params)

    def leaves(self):
        begun = [any(np.asarray(v.array).any() for v in self.optimizer.state[p].values()) for p in self.params]
        return [leaf if b else leaf[:1] for leaf, b in zip(super().leaves(), begun, strict=True)]


class Write:
    """A write in place into a view, through which gradients flow: values and history go together."""

    def __init__(self, space):
        self.a, self.b = filled(3, 4, space=space).requires_grad_(), filled(2, 4, space=space).requires_grad_()
        self.x = self.a * 1

    def run(self):
        self.x[1:].mul_(self.b)

    def leaves(self):
        x, (a, b) = self.x, gw.autograd.grad(self.x.sum(), (self.a, self.b), retain_graph=True, allow_unused=True)
        return [(bits(x), bits(a), bits(b))]

    def versions(self):
        return [self.x._version]


class Save:
    """A file that takes the place of an older one."""

    def __init__(self, path):
        self.path, self.count = path / "file.safetensors", 0
        self.save()

    def save(self):
        gw.save({"weight": gw.ones(200) * self.count, "count": self.count}, self.path)

    def run(self):
        self.count = 1
        self.save()

    def leaves(self):
        found = gw.load(self.path)
        assert (found["weight"] == found["count"]).all()
        return [(found["count"],)]

    def versions(self):
        return []


TRIALS = {
    "pass": lambda _: Pass(numpy),
    "pass-strict": lambda _: Pass(strict.namespace),
    "small-passes": lambda _: Passes(),
    "adam": lambda _: Step("Adam", amsgrad=True, weight_decay=0.1),
    "adam-strict": lambda _: Step("Adam", strict.namespace),
    "adam-first": lambda _: First("Adam"),
    "sgd": lambda _: Step("SGD", lr=0.1, momentum=0.9, nesterov=True),
    "sgd-half": lambda _: Step("SGD", dtype="float16", lr=0.1, momentum=0.9),
    "rprop": lambda _: Step("Rprop"),
    "radam": lambda _: Step("RAdam"),
    "adafactor": lambda _: Step("Adafactor"),
    "muon": lambda _: Step("Muon"),
    "write": lambda _: Write(numpy),
    "write-strict": lambda _: Write(strict.namespace),
    "save": Save,
}


def check(make, interrupt, path):
    """Interrupt a trial; each leaf is as it was or as it would have become, and all goes on from there."""
    other = make(path)
    known = [other.leaves()]
    for _ in range(2):
        other.run()
        known.append(other.leaves())
    trial = make(path)
    versions = trial.versions()
    interrupt(trial.run)
    assert left() == {}
    moved = [[old, new].index(leaf) for leaf, old, new in zip(trial.leaves(), *known[:2], strict=True)]
    for written, before, after in zip(moved, versions, trial.versions(), strict=False):
        assert after > before or not written, "written, and not counted"
    trial.run()
    assert trial.leaves() == [known[k + 1][i] for i, k in enumerate(moved)]
    assert left() == {}


@pytest.mark.parametrize("trial", TRIALS)
def test_an_interrupt_at_each_moment(trial, tmp_path):
    make, draw = TRIALS[trial], random.Random(trial)
    total, _ = interrupted(make(tmp_path).run, 0)
    for after in sorted(draw.sample(range(1, total + 1), min(total, COUNT // len(TRIALS)))):
        check(make, lambda run, after=after: interrupted(run, after), tmp_path)


@pytest.mark.skipif(not SIGNALS, reason="this system sends no signals")
@pytest.mark.parametrize("trial", TRIALS)
def test_a_signal_at_a_random_moment(trial, tmp_path):
    make, draw = TRIALS[trial], random.Random(trial)
    began = perf_counter()
    make(tmp_path).run()
    time = perf_counter() - began
    for _ in range(COUNT // len(TRIALS)):
        check(make, lambda run: alarmed(run, max(1e-6, draw.uniform(0.0, time))), tmp_path)


@pytest.mark.parametrize("block", [gw.no_grad, gw.enable_grad, gw.inference_mode])
def test_a_block_of_the_users_may_stay_on_only_if_its_end_does_not_begin(block):
    """Python calls ``__exit__``, and looks for interrupts before its first line: there nothing can be done."""

    def program():
        with block():
            pass

    missed = []
    for after in range(1, interrupted(program, 0)[0] + 1):
        _, beginning = interrupted(program, after)
        if left():
            missed.append(beginning)
            switch(PLAIN)
    assert set(missed) <= {"__exit__"}
    assert len(missed) < 30  # bytecodes, those between the last call in __enter__ and the first in __exit__


@gw.no_grad()
def decorated():
    return gw.is_grad_enabled()


X = gw.ones(3, requires_grad=True)


def passed():
    (X * X).sum().backward()
    gw.autograd.grad((X * X).sum(), X)


@pytest.mark.parametrize("program", [decorated, passed])
def test_nothing_stays_on_wherever_an_interrupt_comes(program):
    total, _ = interrupted(program, 0)
    for after in range(1, total + 1, 1 + total // COUNT):
        interrupted(program, after)
        assert left() == {}, after

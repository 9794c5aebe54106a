"""What is outside of a program is looked at on every call, word by word in C or in Python: whatever has been touched,
a call does what an eager one does."""

import copy
import gc
import sys
from itertools import product

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation import words
from tests.compilation.checks import entries
from tests.thorough import some


class Case:
    """A step that reads one tensor and writes another, and an argument."""

    def __init__(self):
        self.read, self.memory = np.arange(9000, dtype=np.float32), np.arange(12, dtype=np.float32)
        self.held = self.memory[3:9]
        self.x, self.y = gw.from_numpy(self.read), gw.from_numpy(self.held)
        self.w = gw.ones(6, requires_grad=True)
        self.given = np.ones(6, np.float32)
        self.z = gw.from_numpy(self.given)

    def step(self, z):
        ((self.w * z) ** 2).sum().backward()
        self.y.add_(z)
        return self.x.sum(0) + self.y.sum() + (z * self.w).sum()

    def state(self):
        return [self.x, self.y, self.w, self.w.grad]


TOUCHES = {
    "shape": lambda c: setattr(c.read, "shape", (90, 100)),
    "shape of what is written": lambda c: setattr(c.held, "shape", (6, 1)),
    "shape of an argument": lambda c: setattr(c.given, "shape", (1, 6)),
    "freed memory": lambda c: c.read.resize(9, refcheck=False),
    "freed and taken anew": lambda c: (c.read.resize(9, refcheck=False), c.read.resize(9000, refcheck=False)),
    "an argument freed": lambda c: (c.given.resize(1, refcheck=False), c.given.resize(6, refcheck=False)),
    "read-only": lambda c: setattr(c.held.flags, "writeable", False),
    "read-only where it is read": lambda c: setattr(c.read.flags, "writeable", False),
    "dtype": lambda c: setattr(c.read, "dtype", np.int32),
    "data": lambda c: setattr(c.x, "data", gw.ones(9000)),
    "data of another shape": lambda c: setattr(c.x, "data", gw.ones(4, 3)),
    "data of what is written": lambda c: setattr(c.y, "data", gw.zeros(6)),
    "data that is shared": lambda c: setattr(c.x, "data", c.y.detach()),
    "data of what is written, shared": lambda c: setattr(c.y, "data", c.x[3:9]),
    "an argument that is written": lambda c: setattr(c, "z", c.y.detach()),
    "an argument that is written in part": lambda c: setattr(c, "z", gw.from_numpy(c.memory[2:8])),
    "an argument that shows what is read": lambda c: setattr(c, "z", c.x[:6]),
    "another argument": lambda c: setattr(c, "z", gw.full((6,), 3.0)),
    "no grad": lambda c: setattr(c.w, "grad", None),
    "another grad": lambda c: setattr(c.w, "grad", gw.ones(6)),
    "a leaf no more": lambda c: c.x.requires_grad_(),
    "a hook": lambda c: c.w.register_hook(lambda g: g * 2),
    "a hook that is gone": lambda c: c.w.register_hook(lambda g: g * 2).remove(),
    "a view": lambda c: setattr(c.x, "data", gw.arange(18000.0)[::2]),
    "turned": lambda c: c.y.t_(),
    "class": lambda c: setattr(c, "x", gw.nn.Parameter(c.x)),
    "nothing": lambda c: None,
}  # fmt: skip


def ends(case, step, touch):
    """What four calls, a touch, and three more leave; an error by its class, and the state then."""
    found = []
    for k in range(9):
        if k == 6:
            touch(case)
            gc.collect()
        try:
            found.append(step(case.z).detach().numpy().copy())
        except (RuntimeError, ValueError) as e:
            found.append(type(e))
    return found + [copy.deepcopy(t.detach().numpy()) if t is not None else None for t in case.state()]


@pytest.mark.filterwarnings("ignore::gradwright.compilation.compiled.CompileWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize(("touch", "backend", "by"), some(product(TOUCHES, ["plan", "c"], ["words", "Python"]), 3))
def test_a_call_does_what_an_eager_one_does(backend, touch, by, compiler, monkeypatch):
    touch = TOUCHES[touch]
    if by == "Python":
        monkeypatch.setattr(words, "_ready", lambda: None)
    eager, case = Case(), Case()
    for a, b in zip(ends(eager, eager.step, touch), ends(case, gw.compile(case.step, backend=backend), touch),
                    strict=True):  # fmt: skip
        if isinstance(a, np.ndarray):
            np.testing.assert_allclose(b, a, rtol=1e-5)
        else:
            assert a == b


def test_what_is_not_touched_is_not_looked_at_in_python(compiler, monkeypatch):
    if not words.Words().held:
        pytest.skip("this Python's objects may change meanwhile")
    case = Case()
    step = gw.compile(case.step, backend="c")
    for _ in range(6):
        step(case.z)
    (entry,) = entries(step)
    seen = entry.commit.__globals__["seen"]
    assert (seen.noted, seen.differs()) == (True, 0)
    arrays = entry.gather((case.z,))
    assert entry.gather((gw.zeros(6),)) is arrays


def test_calls_grow_no_faster_than_parameters(monkeypatch):
    """Counted in calls of Python's functions, which do not depend on the machine, without words."""
    monkeypatch.setattr(words, "_ready", lambda: None)
    def calls(layers):
        params = [gw.ones(3, requires_grad=True) for _ in range(layers)]

        def run():
            for p in params:
                p.grad = None
            sum((p * 2).sum() for p in params).backward()
            with gw.no_grad():
                for p in params:
                    p.sub_(p.grad)

        step = gw.compile(run, backend="plan")
        for _ in range(6):
            step()
        n = 0

        def count(frame, event, arg):
            nonlocal n
            n += event in ("call", "c_call")

        sys.setprofile(count)
        step()
        sys.setprofile(None)
        return n

    few, many = calls(4), calls(16)
    assert many <= 4.2 * few

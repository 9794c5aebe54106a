"""Whether this interpreter counts references as the engine reads them, and what is done where it does not."""

import subprocess
import sys

import numpy as np
import pytest

import gradwright
from gradwright.base.cpython import references
from gradwright.engine import node


@pytest.mark.skipif(not hasattr(sys, "getrefcount"), reason="no reference counts here")
def test_a_holder_more_is_one_more():
    assert references.count is sys.getrefcount
    thing = object()
    before = references.count(thing)
    held = [thing]
    assert references.count(thing) == before + len(held)


def test_what_nobody_else_holds_becomes_the_gradient():
    """And what somebody holds is copied, whether references are counted or not."""
    x = gradwright.zeros(3, requires_grad=True)
    held = []
    y = x * 2
    y.register_hook(lambda g: held.append(g))
    y.backward(gradwright.ones(3))
    kept = gradwright.ones(3)
    z = gradwright.zeros(3, requires_grad=True)
    (z * 1).view(3).backward(kept)
    z.grad.mul_(5)
    assert kept.tolist() == [1, 1, 1]
    x.grad.mul_(5)
    assert held[0].tolist() == [1, 1, 1]
    assert node.UNSHARED > 0


def test_without_counts_all_is_right_and_copied():
    """A fresh interpreter without `sys.getrefcount`."""
    program = """
import sys
del sys.getrefcount
import numpy as np
import gradwright as gw
from gradwright.engine import node
from gradwright.base.cpython import references
assert references.count(object()) == sys.maxsize and node.UNSHARED == 0
x = gw.ones(3, requires_grad=True)
for k in range(2):
    (x * x).sum().backward()
assert x.grad.tolist() == [4, 4, 4]
y = gw.ones(3)
y.t_() if y.ndim == 2 else y.unsqueeze_(0)
assert y.shape == (1, 3)

class Double(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2

assert gw.autograd.gradcheck(Double.apply, gw.ones(2, dtype=gw.float64, requires_grad=True))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_nobody_holds_alone_is_measured_once():
    assert references.alone(lambda: 3) == 3
    assert references.alone(lambda: sys.maxsize) == 0
    assert np.zeros(1).base is None

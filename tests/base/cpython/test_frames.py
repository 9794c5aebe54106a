"""Whether this interpreter shows what runs, and what is done where it does not."""

import subprocess
import sys

import gradwright
from gradwright.base.cpython import frames
from gradwright.base.source_line import Place, here


def test_the_interpreter_shows_frames():
    assert frames.file_of(frames.frame()) == __file__
    assert frames.file_of(frames.frame(1)) != __file__
    assert Place(*here()).source.startswith("assert Place(*here())")


def test_without_frames_no_place_is_named_and_all_is_right():
    program = """
import sys, warnings
import numpy, collections, typing, enum
getframe = sys._getframe
del sys._getframe
try:
    from gradwright.base.cpython import frames
finally:
    sys._getframe = getframe  # the standard library wants it
import gradwright as gw
from gradwright.base.source_line import here, warn
assert frames.frame() is None and here() is None and frames.file_of(None) == ""
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warn("a word")
    gw.base.source_line.warn("another")
assert [str(w.message) for w in caught] == ["a word", "another"]

class Double(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        if ask and float(x.max()) > 100:
            return g
        return 2 * x * g

x = gw.ones(2, dtype=gw.float64, requires_grad=True)
ask = False
assert gw.autograd.gradcheck(Double.apply, x) and gw.autograd.gradgradcheck(Double.apply, x)
ask = True  # that it is only compared is not known: rather a word too many than a wrong derivative
assert gw.autograd.gradcheck(Double.apply, x)
try:
    gw.autograd.gradgradcheck(Double.apply, x)
except gw.GradcheckError as e:
    assert "cut the gradient off with float()" in str(e)
else:
    raise AssertionError
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert gradwright.__file__

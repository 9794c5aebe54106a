"""Gradients against differences along directions: sizes that are found, in both dtypes."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.verify.audit.recorded import Met
from gradwright.verify.audit.recorder import Recorder
from gradwright.verify.audit.rerun import Rerun
from gradwright.verify.audit.slopes import Weighted, calls, measured
from gradwright.verify.numeric.streams import State
from tests.verify.audit.functions import leaf


def found(f, x, factor, wide):
    class Off(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return f(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with gw.enable_grad():
                y = x.detach().requires_grad_()
                return gw.autograd.grad(f(y), y, g)[0] * factor

    recorder = Recorder()
    recorder.workers.remove()
    recorder.call("function", Off, gw, "Off", (x,), {}, lambda: Off.apply(x))
    met: Met = recorder.met[id(Off)]
    rerun = Rerun(met.recorded[0], Off.apply, ["x"], State([]), wide)
    generator = np.random.default_rng(0)
    return measured(Weighted(rerun, generator), [0], 4, generator)


@pytest.mark.parametrize("f", [gw.tanh, gw.relu, lambda x: gw.softmax(x, 1)])
@pytest.mark.parametrize(("wide", "size"), [(False, 0.2), (True, 1e-6)])
def test_right_and_wrong(f, wide, size):
    gw.manual_seed(1)
    x = leaf(20, 10)
    right = found(f, x, 1.0, wide)
    assert not right.wrong
    wrong = found(f, x, 1 + size, wide)
    assert wrong.wrong
    assert wrong.ratio == pytest.approx(1 / (1 + size), rel=0.05 if not wide else 1e-8)
    assert calls(4, 1e-7) > calls(2, 1e-7)

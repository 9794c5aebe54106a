"""Calls made again."""

import numpy as np

import gradwright as gw
from gradwright.verify.audit.bench import Bench
from gradwright.verify.audit.session import audit
from gradwright.verify.numeric.streams import State
from tests.verify.audit.functions import Scaled, leaf


def test_values_and_gradients():
    with audit(shown=False) as found:
        Scaled.apply(leaf(3), 2.0)
    (met,) = found.listener.met.values()
    for wide in (False, True):
        bench = Bench(met.taken[0], Scaled.apply, ["x"], State([]), wide)
        (out,) = bench.settle()
        assert out.dtype is (gw.float64 if wide else gw.float32)
        assert np.array_equal(bench.gradients([np.ones(3)], [0])[0], [2, 2, 2])

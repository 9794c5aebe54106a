"""Calls made again."""

import numpy as np

import gradwright as gw
from gradwright.verify.audit.rerun import Rerun
from gradwright.verify.audit.session import audit
from gradwright.verify.numeric.again import Change
from gradwright.verify.numeric.streams import State
from tests.corpus.right import Scaled
from tests.verify.audit.functions import leaf


def test_values_and_gradients():
    with audit(shown=False) as found:
        Scaled.apply(leaf(3), 2.0)
    (met,) = found.recorder.met.values()
    for wide in (False, True):
        rerun = Rerun(met.recorded[0], Scaled.apply, ["x"], State([]), wide)
        (out,) = rerun.settle()
        assert out.dtype is (gw.float64 if wide else gw.float32)
        ones = rerun.outcome(Change(cotangents=lambda k, like: np.ones_like(like)))
        assert np.array_equal(ones.gradients[0], [2, 2, 2])

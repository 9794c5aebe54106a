"""The experiments: each finds what it is for, and nothing in a right function."""

import numpy as np
import pytest

import gradwright
from gradwright.verify.diagnosis.case import Case
from gradwright.verify.diagnosis.measure import measure
from gradwright.verify.diagnosis.probes import experiments, overlapping, repeat
from tests.corpus.right import RIGHT, RandomForward
from tests.corpus.wrong import WRONG, Drifts, Writes, t


def probed(f, inputs):
    case = Case(f, inputs)
    found = repeat(case)
    return experiments(case, measure(case)[0], found)


@pytest.mark.parametrize("name",
                         ["square", "softmax", "linear", "two outputs", "complex product", "float32", "convolution"])
def test_nothing_in_a_right_function(name):
    p = probed(*RIGHT[name])
    assert (p.drift, p.backward_drift, p.renewed, p.interleaved, p.at_zero, p.written, p.state) == (
        0,
        0,
        0,
        0,
        0,
        (),
        (),
    )
    assert p.at_random < 1e-6
    assert p.at_large < 1e-6
    assert not any((p.saturates, p.ignored, p.same_elsewhere))
    assert p.elsewhere[0] <= p.elsewhere[1]


def test_forward_that_changes():
    assert 0 < repeat(Case(RandomForward, t(3))).drift < 1
    assert repeat(Case(Drifts, t(3))).state == ("Drifts.calls",)
    assert repeat(Case(Writes, t(3))).written == ("x",)


def test_state():
    last = probed(*WRONG["stale state: of the last call"][:2])
    assert last.interleaved > 0.01
    first = probed(*WRONG["stale state: of the first call"][:2])
    assert first.same_elsewhere
    assert first.interleaved == 0
    own = probed(*WRONG["stale state: in backward"][:2])
    assert own.backward_drift > 0.1
    assert own.renewed == 0


def test_cotangents():
    assert probed(*WRONG["cotangent: not used"][:2]).ignored
    assert probed(*WRONG["cotangent: a term without it"][:2]).at_zero > 0.01
    assert probed(*WRONG["cotangent: squared"][:2]).at_random > 0.01
    assert probed(*WRONG["clipped: far off"][:2]).saturates


def test_another_point():
    off, room = probed(*WRONG["elsewhere"][:2]).elsewhere
    assert off > 1000 * room


@pytest.mark.parametrize(
    ("array", "how"),
    [
        (np.zeros((3, 4)), ""),
        (np.zeros((3, 4)).T, ""),
        (np.zeros((3, 4))[::-1, ::2], ""),
        (np.zeros(()), ""),
        (np.zeros((0, 3)), ""),
        (np.zeros((1, 3)), ""),
        (np.broadcast_to(np.zeros(3), (4, 3)), "expanded"),
        (np.broadcast_to(np.zeros(3), (1, 3)), ""),
        (np.lib.stride_tricks.sliding_window_view(np.zeros(6), 3), "sliding windows"),
        (np.lib.stride_tricks.sliding_window_view(np.zeros((5, 5)), (2, 2)), "sliding windows"),
        (np.lib.stride_tricks.sliding_window_view(np.zeros(6), 3)[::3], ""),
        (np.lib.stride_tricks.as_strided(np.zeros(20), (3, 2), (16, 24)), ""),
    ],
)
def test_overlapping(array, how):
    assert overlapping(gradwright.as_tensor(array)) == how

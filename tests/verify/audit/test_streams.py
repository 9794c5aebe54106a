"""What is noted is put back."""

import numpy as np

from gradwright.verify.audit.streams import State

counted = {"n": 0}
kept = [1, 2]
array = np.zeros(3)


def uses():
    counted["n"] += 1
    kept.append(3)
    array[0] += 1


def test_state():
    state = State([uses])
    uses()
    state.put_back()
    assert (counted, kept, array.tolist()) == ({"n": 0}, [1, 2], [0, 0, 0])

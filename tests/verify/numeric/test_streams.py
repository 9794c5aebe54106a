"""Random numbers go on from where they were noted, and what code keeps is put back."""

import random

import numpy as np

import gradwright as gw
from gradwright.verify.numeric.streams import State, Streams

counted = {"n": 0}
kept = [1, 2]
array = np.zeros(3)


def test_streams():
    at = Streams.now()
    drawn = random.random(), np.random.rand(), gw.rand(1).item()
    at.put_back()
    assert drawn == (random.random(), np.random.rand(), gw.rand(1).item())


def uses():
    counted["n"] += 1
    kept.append(3)
    array[0] += 1


def test_state():
    state = State([uses])
    uses()
    state.put_back()
    assert (counted, kept, array.tolist()) == ({"n": 0}, [1, 2], [0, 0, 0])

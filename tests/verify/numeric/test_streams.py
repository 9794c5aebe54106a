"""Random numbers go on from where they were noted."""

import random

import numpy as np

import gradwright as gw
from gradwright.verify.numeric.streams import Streams


def test_streams():
    at = Streams.now()
    drawn = random.random(), np.random.rand(), gw.rand(1).item()
    at.put_back()
    assert drawn == (random.random(), np.random.rand(), gw.rand(1).item())

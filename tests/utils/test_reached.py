"""What code can reach: the places, with the names that a reader of the program would use."""

from collections import deque
from functools import partial
from types import SimpleNamespace

import numpy as np

import gradwright as gw
from gradwright.utils.reached import spots

GLOBAL = gw.tensor(1.0)
SOURCE = np.random.default_rng(0)


def names(value):
    return {spot.name: spot.get() for spot in spots([("", value)])}


def helper(x):
    return SOURCE.normal() + x


class Layer(gw.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = gw.nn.Linear(2, 2)
        self.register_buffer("mean", gw.zeros(2))
        self.note, self.depth = None, 3

    def forward(self, x):
        return helper(x)


def test_closures_and_globals():
    inside = gw.ones(2)

    def outer():
        return lambda x: x + inside + GLOBAL

    found = names(outer())
    assert found["inside"] is inside
    assert found["GLOBAL"] is GLOBAL
    assert names(lambda x: helper(x))["SOURCE"] is SOURCE
    assert names(lambda x: [y + GLOBAL for y in x])["GLOBAL"] is GLOBAL
    assert names(lambda x, y=[inside]: x)["[0]"] is inside
    assert names(lambda: lambda y: y + GLOBAL)["GLOBAL"] is GLOBAL


def test_modules():
    layer = Layer()
    found = names(layer)
    assert found["mean"] is layer.mean
    assert found["linear.weight"] is layer.linear.weight
    assert found["note"] is None
    assert found["SOURCE"] is SOURCE  # by way of forward
    assert "depth" not in found
    f = lambda x: layer(x)
    assert names(f)["layer.mean"] is layer.mean


def test_objects_methods_and_containers():
    class Holder:
        def __init__(self):
            self.kept = {"a": [GLOBAL], 1: deque([inside])}

        def run(self, x):
            return x

        def __call__(self, x):
            return helper(x)

    inside = gw.ones(2)
    holder = Holder()
    for value in (holder, holder.run, partial(holder.run, 1)):
        found = names(value)
        assert found["kept['a'][0]"] is GLOBAL
        assert found["kept[1][0]"] is inside
    assert names(holder)["SOURCE"] is SOURCE
    assert names(SimpleNamespace(x=GLOBAL))["x"] is GLOBAL


def test_what_is_long_or_goes_round_ends():
    ring = [GLOBAL]
    ring.append(ring)
    assert names(ring)["[0]"] is GLOBAL
    assert not names([gw.ones(1)] * 1000)
    assert not names(np.ones(3))

"""What is found in a value, and what code can reach, with the names that a reader of the program would use."""

import dataclasses
import logging
import random
import re
import threading
import types
from collections import Counter, OrderedDict, UserDict, defaultdict, deque, namedtuple
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import gradwright as gw
from gradwright.function.contract.reached import held_in, is_closed, named, reachable, slots, spots

T, A = gw.ones(2), np.ones(3)
GLOBAL = gw.tensor(1.0)
SOURCE = np.random.default_rng(0)
Pair = namedtuple("Pair", "left right")


@dataclasses.dataclass(slots=True)
class Record:
    value: object


class Slots:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Plain:
    def __init__(self, value):
        self.value, self.owner, self.log = value, self, logging.getLogger("plain")
        self.owners = [self, {"self": self}]

    def method(self):
        return self.value


def closure(t):
    return lambda: t


FOUND = {
    "a tensor": (T, ["v"], True),
    "an array": (A, ["v"], True),
    "a list": ([1, T, "text", A], ["v[1]", "v[3]"], True),
    "a tuple": (((T,), None), ["v[0][0]"], True),
    "a named tuple": (Pair(T, 1), ["v[0]"], True),
    "a deque": (deque([T]), ["v[0]"], True),
    "a set": ({T}, ["v[0]"], True),
    "a frozen set": (frozenset([T]), ["v[0]"], True),
    "a dictionary": ({"k": [T]}, ["v['k'][0]"], True),
    "an ordered dictionary": (OrderedDict(k=T), ["v['k']"], True),
    "a dataclass": (Record([T]), ["v.value[0]"], True),
    "a dataclass in a list": ([Record(T)], ["v[0].value"], True),
    "a namespace": (types.SimpleNamespace(value=T), ["v.value"], True),
    "a closure": (closure(T), ["v.t"], True),
    "a partial": (partial(Record, value=T), ["v.value"], True),
    "an object": (Plain(T), ["v.value"], False),
    "an object with slots": (Slots([T]), ["v.value[0]"], False),
    "an object in a list": ([Slots(T)], ["v[0].value"], False),
    "a method": (Plain(T).method, ["v.__self__.value"], False),
    "nothing": ([1, "text", None, int, types], [], True),
}


@pytest.mark.parametrize("what", FOUND)
def test_it_is_found(what):
    value, names, sure = FOUND[what]
    assert [name for name, _ in reachable("v", value)] == names
    assert [(name, s) for name, _, s in held_in("v", value)] == [(name, sure) for name in names]


def test_numbers_are_found_where_they_are_named():
    value = [1.5, {"k": 2j}, Record(np.float32(3.0)), types.SimpleNamespace(x=4.0), Plain(5.0), lambda: 6.0]
    assert [name for name, _ in reachable("v", value)] == ["v[0]", "v[1]['k']", "v[2].value", "v[3].x"]
    assert list(held_in("v", value)) == []


def test_loops_and_depths_come_to_an_end():
    loop = [T]
    loop.append(loop)
    assert len(list(reachable("v", loop))) == 8
    chain = None
    for _ in range(1000):
        chain = Plain(chain)
    assert list(reachable("v", chain)) == []


def test_a_set_has_an_order():
    """Of tensors made again, the first is the first again."""
    values = [[3.0], [1.0], [2.0]]
    first, again = ({gw.tensor(v) for v in vs} for vs in (values, values[::-1]))
    assert [t.item() for _, t in reachable("v", first)] == [t.item() for _, t in reachable("v", again)]


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
    assert names(types.SimpleNamespace(x=GLOBAL))["x"] is GLOBAL


def test_what_is_long_or_goes_round_ends():
    ring = [GLOBAL]
    ring.append(ring)
    assert names(ring)["[0]"] is GLOBAL
    assert not names([gw.ones(1)] * 1000)
    assert not names(np.ones(3))


class Held:
    value = 1


def test_what_one_function_names():
    inner = [1]

    def uses():
        return inner, Held.value, dataclasses.replace

    assert {spot.name: spot.get() for spot in named(uses)} == {
        "inner": inner, "Held": Held, "Held.value": 1, "dataclasses": dataclasses}  # fmt: skip
    assert [*named(len)] == []


class _Slotted:
    __slots__ = ("__own", "shown")


class _Both(_Slotted, UserDict):
    pass


@pytest.mark.parametrize(("cls", "is_so"), [
    (_Slotted, False), (_Both, False), (Counter, False), (Fraction, False),
    (type("Derived", (np.ndarray,), {}), False), (np.polynomial.Polynomial, False), (random.Random, True),
    (np.random.Generator, True), (threading.local, True), (bytearray, True), (re.Pattern, True),
    (type("Derived", (bytearray,), {}), True),
])  # fmt: skip
def test_whether_objects_of_a_class_have_a_state_in_compiled_code(cls, is_so):
    assert is_closed(cls) is is_so


def test_slots_are_told_by_the_names_that_python_keeps():
    assert slots(_Both) == ["_Slotted__own", "shown"]
    assert slots(defaultdict) == ["default_factory"]

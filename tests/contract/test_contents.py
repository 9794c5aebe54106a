"""What is found in a value: tensors, arrays and numbers, with their names."""

import dataclasses
import logging
import types
from collections import OrderedDict, deque, namedtuple
from functools import partial

import numpy as np
import pytest

import gradwright as gw
from gradwright.contract.contents import arrays, kept, reachable

T, A = gw.ones(2), np.ones(3)
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
    assert [(name, s) for name, _, s in kept("v", value)] == [(name, sure) for name in names]


def test_numbers_are_found_where_they_are_named():
    value = [1.5, {"k": 2j}, Record(np.float32(3.0)), types.SimpleNamespace(x=4.0), Plain(5.0), lambda: 6.0]
    assert [name for name, _ in reachable("v", value)] == ["v[0]", "v[1]['k']", "v[2].value", "v[3].x"]
    assert list(kept("v", value)) == []


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


def test_arrays_however_they_are_held():
    t, a = gw.ones(2), np.float32(1)
    held = [t, {"k": (a, "name", None)}, 2.5, [[t.array]]]
    assert [id(found) for found in arrays(held)] == [id(t.array), id(a), id(t.array)]
    assert [np.shape(found) for found in arrays(held, numbers=True)] == [(2,), (), (), (2,)]

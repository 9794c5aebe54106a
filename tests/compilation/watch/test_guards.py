from __future__ import annotations

import enum
import gc
import weakref
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.watch import guards
from gradwright.compilation.watch.guards import (
    ATTRIBUTE,
    CONTENT,
    EQUAL,
    ITEM,
    ITEM_OF,
    VARS,
    Guard,
    Source,
    compiled_guards,
    is_atom,
    same,
    same_array,
    weakly,
)


class Mode(enum.Enum):
    A = 1


class Thing:
    def __init__(self, **given):
        vars(self).update(given)


A, B = Thing(), Thing()
NAN = float("nan")
ALIKE = [(NAN, float("nan")), (2.5, 5 / 2), ((1, "a"), (1, "a")), (frozenset({1}), frozenset({1})), (complex(NAN, 1),
         complex(NAN, 1)), (range(3), range(3)), (slice(1, 2), slice(1, 2)), (np.float32(2), np.float32(2)),
         (np.dtype("f4"), np.dtype("f4")), (b"a" * 3, b"aaa"), (None, None), (gw.float32, gw.float32)]  # fmt: skip
UNLIKE = [(0.0, -0.0), (1, True), (1, 1.0), (NAN, 1.0), ((1,), (True,)), (frozenset({1}), frozenset({True})), ("1", 1),
          (complex(0.0, 0.0), complex(0.0, -0.0)), (np.float32(2), np.float64(2)), ((1, 2), (1,)), (None, False),
          (np.float32(0.0), np.float32(-0.0)), (gw.float32, gw.float64), (slice(1), slice(True))]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), ALIKE)
def test_what_is_the_same(a, b):
    assert same(a, b)
    assert is_atom(a)


@pytest.mark.parametrize(("a", "b"), UNLIKE)
def test_what_is_not_the_same(a, b):
    assert not same(a, b)
    assert not same(b, a)


def test_what_changes_is_no_atom():
    assert is_atom(Mode.A)
    assert not any(map(is_atom, ([], {}, ([],), Thing(), len, np.ones(1), gw.ones(1))))


def test_arrays_are_the_same_by_their_bytes():
    a = np.arange(6.0).reshape(2, 3)
    assert same_array(a, a.copy())
    assert same_array(a.T, a.T.copy())
    assert not same_array(a, -a)
    assert not same_array(a, a.astype("f4"))
    assert not same_array(a, a.ravel())
    assert not same_array(np.array([0.0]), np.array([-0.0]))
    assert same_array(np.array([NAN]), np.array([NAN]))
    assert same_array(np.array([], "f4"), np.array([], "f4"))
    assert same_array(np.array(["a", None], object), np.array(["a", None], object))


def cell(value: Any) -> Any:
    return (lambda: value).__closure__[0]


def in_dict(held, key, value) -> Guard:
    return Guard(Source(Source.of(held), ITEM, key), EQUAL, value, str(key), "global", None)


def test_a_guard_holds_until_the_value_is_another():
    held = {"k": 2.0, "on": True, "none": None}
    asked = [in_dict(held, key, value) for key, value in held.items()]
    check = compiled_guards(asked)
    assert check() is None
    held["k"] = 5 / 2 - 0.5
    assert check() is None
    for key, other in (("k", 2), ("on", 1), ("none", 0)):
        before = held[key]
        held[key] = other
        assert check() is asked[list(held).index(key)]
        held[key] = before
    del held["on"]
    assert check() is asked[1]


def test_a_cell_that_is_empty_is_a_guard_that_fails():
    c = cell(2.0)
    guard = Guard(Source(Source.of(c), CONTENT), EQUAL, 2.0, "value", "closure", None)
    check = compiled_guards([guard])
    assert check() is None
    del c.cell_contents
    assert check() is guard


def kinds() -> list[Any]:
    a, b = A, B
    return [
        (guards.IS, Source.of(a), a, b),
        (guards.TYPE, dict, {}, []),
        (guards.LENGTH, 2, [1, 2], [1]),
        (guards.LACKS, "k", {"l": 1}, {"k": 1}),
        (guards.HAS, "k", {"k": 1}, {}),
        (guards.LACKS, "k", {}, {"k": 1}),
        (guards.HAS, Source.of(a), {a: 1}, {b: 1}),
        (guards.LACKS, Source.of(a), {b: 1}, {a: 1}),
        (guards.KEYS, ("a", "b"), {"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (guards.KEYS, ("a", 1), {"a": 1, 1: 2}, {"a": 1, True: 2}),
        (guards.KEYS, (Source.of(a),), {a: 1}, {b: 1}),
        (guards.KEYS, (), {}, {"a": 1}),
        (guards.ELEMENTS, frozenset({1, "a"}), {1, "a"}, {True, "a"}),
        (guards.FULL, None, [1], []),
        (guards.EMPTY, None, {}, {1: 1}),
        (guards.ARRAY, np.ones(2), np.ones(2), np.zeros(2)),
        (EQUAL, (1, 2.0), (1, 2.0), (1, 2)),
    ]


@pytest.mark.parametrize(("kind", "value", "good", "bad"), kinds())
def test_every_kind_holds_and_fails(kind, value, good, bad):
    keep = Thing(x=good)
    guard = Guard(Source(Source.of(keep), ATTRIBUTE, "x"), kind, value, "x", "attribute", None)
    check = compiled_guards([guard])
    assert check() is None
    assert guard.holds()
    keep.x = bad
    assert check() is guard
    assert not guard.holds()


def test_every_kind_holds_for_what_was_found():
    a = Thing()
    keep = Thing(x=a, d={a: 1})
    source = Source(Source.of(keep), ATTRIBUTE, "x")
    inside = Source(Source.of(keep), ATTRIBUTE, "d")
    asked = [Guard(source, guards.IS, Source.of(a), "x", "attribute", None),
              Guard(inside, guards.KEYS, (weakly(a),), "d", "", None),
              Guard(inside, guards.HAS, weakly(a), "d", "", None),
              Guard(Source(inside, ITEM_OF, Source.of(a)), EQUAL, 1, "d[a]", "", None)]  # fmt: skip
    check = compiled_guards(asked)
    assert check() is None
    keep.d[a] = 2
    assert check() is asked[3]
    keep.x = Thing()
    assert check() is asked[0]


def test_objects_are_held_weakly():
    a = Thing(k=1.0)
    guard = Guard(Source(Source(Source.of(a), VARS), ITEM, "k"), EQUAL, 1.0, "a.k", "attribute", None)
    check = compiled_guards([guard])
    assert check() is None
    gone = weakref.ref(a)
    del a
    gc.collect()
    assert gone() is None
    assert check() is guard
    assert guard.container is None


def test_a_guard_says_what_was_read():
    net = gw.nn.Linear(2, 2)
    source = Source(Source(Source.of(net), VARS), ITEM, "training")
    guard = Guard(source, EQUAL, True, "net.training", "attribute", None)
    assert str(guard) == "net.training = True (attribute)"
    assert guard.container is vars(net)
    assert guard.key == "training"
    assert guard.source.now() is True
    said = {kind: str(Guard(source, kind, value, "x", "here", None)) for kind, value, *_ in kinds()}
    assert said[guards.EMPTY] == "x is empty (here)"
    assert said[guards.LENGTH] == "x has 2 elements (here)"
    assert said[guards.ARRAY] == "x = array of shape (2,) (here)"
    assert said[guards.TYPE] == "x is a dict (here)"


def test_no_guards_hold():
    assert compiled_guards([])() is None

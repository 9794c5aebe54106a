from __future__ import annotations

import enum
import gc
import weakref
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.watch.guards import Guard, Source, compiled_guards, is_atom, same, same_array, weakly


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
    return Guard(Source(Source.of(held), "[]", key), "equal", value, str(key), "global", None)


def test_a_guard_holds_until_the_value_is_another():
    held = {"k": 2.0, "on": True, "none": None}
    guards = [in_dict(held, key, value) for key, value in held.items()]
    check = compiled_guards(guards)
    assert check() is None
    held["k"] = 5 / 2 - 0.5
    assert check() is None
    for key, other in (("k", 2), ("on", 1), ("none", 0)):
        before = held[key]
        held[key] = other
        assert check() is guards[list(held).index(key)]
        held[key] = before
    del held["on"]
    assert check() is guards[1]


def test_a_cell_that_is_empty_is_a_guard_that_fails():
    c = cell(2.0)
    guard = Guard(Source(Source.of(c), "cell"), "equal", 2.0, "value", "closure", None)
    check = compiled_guards([guard])
    assert check() is None
    del c.cell_contents
    assert check() is guard


def kinds() -> list[Any]:
    a, b = A, B
    return [
        ("is", Source.of(a), a, b),
        ("type", dict, {}, []),
        ("len", 2, [1, 2], [1]),
        ("absent", "k", {"l": 1}, {"k": 1}),
        ("holds", ("k", True), {"k": 1}, {}),
        ("holds", ("k", False), {}, {"k": 1}),
        ("holds", (Source.of(a), True), {a: 1}, {b: 1}),
        ("keys", ("a", "b"), {"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ("keys", ("a", 1), {"a": 1, 1: 2}, {"a": 1, True: 2}),
        ("keys", (Source.of(a),), {a: 1}, {b: 1}),
        ("keys", (), {}, {"a": 1}),
        ("elements", frozenset({1, "a"}), {1, "a"}, {True, "a"}),
        ("truth", True, [1], []),
        ("truth", False, {}, {1: 1}),
        ("array", np.ones(2), np.ones(2), np.zeros(2)),
        ("equal", (1, 2.0), (1, 2.0), (1, 2)),
    ]


@pytest.mark.parametrize(("kind", "value", "good", "bad"), kinds())
def test_every_kind_holds_and_fails(kind, value, good, bad):
    keep = Thing(x=good)
    guard = Guard(Source(Source.of(keep), ".", "x"), kind, value, "x", "attribute", None)
    check = compiled_guards([guard])
    assert check() is None
    assert guard.holds()
    keep.x = bad
    assert check() is guard
    assert not guard.holds()


def test_every_kind_holds_for_what_was_found():
    a = Thing()
    keep = Thing(x=a, d={a: 1})
    source = Source(Source.of(keep), ".", "x")
    inside = Source(Source.of(keep), ".", "d")
    guards = [Guard(source, "is", Source.of(a), "x", "attribute", None),
              Guard(inside, "keys", (weakly(a),), "d", "", None),
              Guard(inside, "holds", (weakly(a), True), "d", "", None),
              Guard(Source(inside, "key", Source.of(a)), "equal", 1, "d[a]", "", None)]  # fmt: skip
    check = compiled_guards(guards)
    assert check() is None
    keep.d[a] = 2
    assert check() is guards[3]
    keep.x = Thing()
    assert check() is guards[0]


def test_objects_are_held_weakly():
    a = Thing(k=1.0)
    guard = Guard(Source(Source(Source.of(a), "vars"), "[]", "k"), "equal", 1.0, "a.k", "attribute", None)
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
    source = Source(Source(Source.of(net), "vars"), "[]", "training")
    guard = Guard(source, "equal", True, "net.training", "attribute", None)
    assert str(guard) == "net.training = True (attribute)"
    assert guard.container is vars(net)
    assert guard.key == "training"
    assert guard.now() is True
    said = {kind: str(Guard(source, kind, value, "x", "here", None)) for kind, value, *_ in kinds()}
    assert said["truth"] == "x is empty (here)"
    assert said["len"] == "x has 2 elements (here)"
    assert said["array"] == "x = array of shape (2,) (here)"
    assert said["type"] == "x is a dict (here)"


def test_no_guards_hold():
    assert compiled_guards([])() is None

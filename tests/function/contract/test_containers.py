"""Taking containers of tensors apart and putting them together again: every kind, to any depth."""

from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradwright as gw
from gradwright.function.contract.containers import (
    TENSOR,
    answers,
    arrays,
    flatten,
    holds_tensors,
    paths,
    shaped,
    unflatten,
)


class Pair(NamedTuple):
    first: Any
    second: Any = 2


@dataclass
class State:
    mean: Any
    name: str = "s"
    rest: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Frozen:
    value: Any

    def __post_init__(self) -> None:
        if self.value is not None and not hasattr(self.value, "array"):
            raise ValueError("not a tensor")


@dataclass(slots=True)
class Slotted:
    value: Any
    later: Any = field(init=False, repr=False)


a, b, c = (gw.tensor(float(k)) for k in range(3))
VALUES = [
    ([a, 1, b], ["v[0]", "v[2]"]),
    ((a, (b, [c])), ["v[0]", "v[1][0]", "v[1][1][0]"]),
    ({"x": a, 3: [b]}, ["v['x']", "v[3][0]"]),
    (Pair(a, Pair(b)), ["v.first", "v.second.first"]),
    (State(a, rest=[b, {"k": c}]), ["v.mean", "v.rest[0]", "v.rest[1]['k']"]),
    ([Frozen(a), Slotted(b)], ["v[0].value", "v[1].value"]),
    (a, ["v"]),
    ([a, a], ["v[0]", "v[1]"]),
]


@pytest.mark.parametrize(("value", "names"), VALUES)
def test_what_is_flattened_can_be_made_again(value, names):
    leaves: list[Any] = []
    rest = flatten(value, leaves)
    assert list(paths(rest, "v")) == names
    assert len(leaves) == len(names)
    again = unflatten(rest, iter(leaves))
    assert type(again) is type(value)
    assert repr(again) == repr(value)
    second: list[Any] = []
    flatten(again, second)
    assert all(x is y for x, y in zip(leaves, second, strict=True))


@pytest.mark.parametrize(("value", "names"), VALUES)
def test_a_tree_holds_no_tensor(value, names):
    rest = flatten(value, [])
    if rest is not TENSOR:
        assert not holds_tensors(rest.like)


@pytest.mark.parametrize("value", [[], {}, (), [1, [2]], {"x": None}, State(1), Pair(1), "text", range(3), State, None])
def test_what_has_no_tensor_remains_itself(value):
    leaves: list[Any] = []
    assert flatten(value, leaves) is value
    assert not leaves
    assert not holds_tensors(value)


def test_a_tensor_is_no_container():
    assert not holds_tensors(a)


def test_dictionaries_keep_their_class_and_order():
    ordered = OrderedDict(z=a, y=b)
    counting = defaultdict(list, {"x": a})
    for value in (ordered, counting):
        again = unflatten(rest := flatten(value, []), iter([b, c]))
        assert type(again) is type(value)
        assert list(again) == list(value)
        assert rest.like is not value
    assert unflatten(flatten(counting, []), iter([b])).default_factory is list
    assert counting["x"] is a


def test_a_container_in_itself_ends():
    loop: list[Any] = [a]
    loop.append(loop)
    leaves: list[Any] = []
    rest = flatten(loop, leaves)
    assert leaves == [a]
    assert unflatten(rest, iter([b]))[1] is loop
    empty: list[Any] = []
    empty.append(empty)
    assert not holds_tensors(empty)
    assert flatten(empty, []) is empty


def test_shaped_puts_another_value_where_no_tensor_is():
    rest = flatten({"x": [a, 1], "n": 2, "s": State(b)}, [])
    found = shaped(rest, iter([True, False]), None)
    assert found == {"x": [True, None], "n": None, "s": State(False, name=None, rest=None)}


REST = flatten({"w": [a, b], "s": State(c), "p": Pair(a), "n": 1}, [])


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (None, [None] * 4),
        ({}, [None] * 4),
        ({"w": [1, 2], "s": State(3, rest=None), "p": Pair(4, None), "n": None}, [1, 2, 3, 4]),
        ({"w": (1, None), "s": {"mean": 3}, "p": (4, None)}, [1, None, 3, 4]),
        ({"p": {"first": 4}, "s": None}, [None, None, None, 4]),
    ],
)
def test_answers_come_in_the_shape_of_the_value(answer, found):
    assert list(answers(REST, answer, "v")) == found


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"w": [1]}, r"expected 2 values for v\['w'\], a list of 2, but got 1"),
        ({"w": a}, r"expected one like v\['w'\], which is a list of 2, but got Tensor"),
        ({"x": 1}, r"there is no v\['x'\], but it was given"),
        ({"n": a}, r"expected None for v\['n'\], which is no tensor, but got Tensor"),
        ({"s": {"median": 1}}, r"there is no v\['s'\]\.median"),
        ({"s": State(1, name="t")}, r"expected None for v\['s'\]\.name, which is no tensor, but got str"),
        ({"p": [1]}, r"expected 2 values for v\['p'\], a Pair of 'first', 'second', but got 1"),
        ([1, 2, 3, 4], "expected one like v, which is a dict of 'w', 's', 'p', 'n', but got list of 4"),
        ({"s": [3]}, r"expected one like v\['s'\], which is a State"),
    ],
)
def test_another_shape_is_an_error_that_names_the_place(answer, message):
    with pytest.raises(ValueError, match=message):
        list(answers(REST, answer, "v"))


def test_a_container_of_nothing_answers_for_what_is_no_tensor():
    rest = flatten([a, [1, 2]], [])
    assert list(answers(rest, [5, [None, None]], "v")) == [5]


def test_arrays_however_they_are_held():
    t, a = gw.ones(2), np.float32(1)
    held = [t, {"k": (a, "name", None)}, 2.5, [[t.array]]]
    assert [id(found) for found in arrays(held)] == [id(t.array), id(a), id(t.array)]
    assert [np.shape(found) for found in arrays(held, numbers=True)] == [(2,), (), (), (2,)]

"""What stands for what in the text of a program."""

from __future__ import annotations

import numpy as np
import pytest

from gradwright.compilation.by_numpy.layout import Layout
from gradwright.compilation.by_numpy.names import Names, check, shaped
from gradwright.compilation.node import CHECK, Departed, Node, Program

X = np.ones((3, 4))


def _names() -> Names:
    return Names(Layout(Program([], [], [], []), False, {}), {})


@pytest.mark.parametrize("value", [
    1, -2, True, None, ..., "a", (1,), (1, "b"), [1, (2, [])], {"a": 1}, slice(None, 3), (slice(1, None, -1), None),
])  # fmt: skip
def test_plain_arguments_are_written_out(value: object) -> None:
    assert eval(_names().arg(value)) == value  # noqa: S307 - the text is ours


def test_others_are_bound_once() -> None:
    names = _names()
    dtype = np.dtype("float32")
    assert names.arg(dtype) == names.arg(dtype)
    assert names.names[names.arg([dtype])[1:-1]] is dtype
    assert names.names[names.arg(0.5)] == 0.5


def test_functions_of_one_name_are_told_apart() -> None:
    names = _names()
    assert (names.f(np.add, "add"), names.f(np.add, "add")) == ("add", "add")
    assert names.names[names.f(np.subtract, "add")] is np.subtract


def test_lines_know_their_nodes() -> None:
    names = _names()
    node = Node("add", (), {}, X)
    names.line("a")
    names.line("b", node)
    assert (names.body, names.lines) == (["a", "b"], {1: node})


def test_check_and_shaped() -> None:
    expected = Node(CHECK, (None, np.array(3.0)), {}, None)
    check(expected, np.float64(3))
    with pytest.raises(Departed):
        check(expected, np.float64(4))
    node = Node("at_index", (), {}, np.ones(3))
    assert shaped(node, X[0, :3]).shape == (3,)
    for other in (X, X[0, :3].astype("float32"), 3.0):
        with pytest.raises(Departed):
            shaped(node, other)

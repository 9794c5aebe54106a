"""Nodes and programs."""

from __future__ import annotations

import numpy as np
import pytest

from gradwright.compilation.node import CONSTANT, INPUT, Departed, Node, Program, Runner, mapped

X = Node(INPUT, (), {}, np.ones((2, 3)))
C = Node(CONSTANT, (np.ones(3),), {}, np.ones(3))


def test_the_nodes_of_arguments_however_deep() -> None:
    node = Node("concat", ([X, (C, X)],), {"out": {"a": C}, "axis": 0}, np.ones(3))
    assert [*node.nodes()] == [X, C, X, C]
    args, kwargs = node.with_args({X: "x", C: "c"}.__getitem__)
    assert (args, kwargs) == ((["x", ("c", "x")],), {"out": {"a": "c"}, "axis": 0})


def test_mapped_leaves_what_is_no_node() -> None:
    assert mapped([1, "a", None, (X,)], lambda node: node.shape) == [1, "a", None, ((2, 3),)]


def test_what_is_no_array_has_no_shape() -> None:
    node = Node("may_hold", (X,), {}, True)
    assert node.shape is node.dtype is None
    assert not node.line


def test_a_node_knows_its_line() -> None:
    code = test_a_node_knows_its_line.__code__
    assert "test_node.py" in Node("add", (X, X), {}, np.ones(3), (code, 0)).line


def test_programs_number_their_nodes_and_can_be_read() -> None:
    total = Node("add", (X, C), {}, np.ones((2, 3)))
    program = Program([X, C, total], [X], [total], [None])
    assert program.users() == {X: [total], C: [total], total: []}
    assert repr(program).splitlines() == [
        "%0 = input(): float64 [2, 3]", "%1 = constant(array([1., 1., 1.])): float64 [3]",
        "%2 = add(%0, %1): float64 [2, 3]", "return %2",
    ]  # fmt: skip


def test_departed_says_where_and_what() -> None:
    with pytest.raises(Departed) as caught:
        raise Departed(X, 3)
    assert (caught.value.node, caught.value.found) == (X, 3)


def test_a_runner_is_to_be_made() -> None:
    with pytest.raises(NotImplementedError):
        Runner(Program([X], [X], [X], [None]))([])

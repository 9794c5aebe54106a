"""Programs run call by call, beside the functions that they were made from."""

from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.node import (
    CONSTANT,
    HOST,
    INPUT,
    GuardFailed,
    Interpreted,
    Node,
    Program,
    Runner,
    function,
    mapped,
    same,
)
from gradwright.compilation.trace.traced import Notes, space, traced
from gradwright.op import table
from tests.compilation.checks import sample_arrays

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


def test_a_failed_guard_says_where_and_what() -> None:
    with pytest.raises(GuardFailed) as caught:
        raise GuardFailed(X, 3)
    assert (caught.value.node, caught.value.found) == (X, 3)


def test_a_runner_is_to_be_made() -> None:
    with pytest.raises(NotImplementedError):
        Runner(Program([X], [X], [X], [None]))([])


@pytest.mark.parametrize("name", sorted(table))
def test_every_operation_gives_what_it_gives(name: str) -> None:
    op = table[name]
    for sample in op.samples:
        arrays = sample_arrays(sample)
        with gw.kernels("numpy"):  # whose sums have bits of their own
            want = op(*arrays, **sample.static)
        program = traced(lambda *v, op=op, sample=sample: op(*v, **sample.static), *arrays)
        got = Interpreted(program)(arrays)
        for a, b in zip(got, want if isinstance(want, (tuple, list)) else [want], strict=True):
            np.testing.assert_array_equal(a, b, strict=True)


def test_writes_come_after_all_that_can_raise() -> None:
    notes = Notes()
    x = notes.input(np.ones(2))
    y = x * 2.0
    notes.read(space.sum(x))
    program = notes.program([x], [y, y], [0, None])
    first = np.ones(2)
    assert Interpreted(program)([first])[0] is None
    assert first.tolist() == [2, 2]
    other = np.array([1.0, 3.0])
    with pytest.raises(GuardFailed) as caught:
        Interpreted(program)([other])
    assert caught.value.found == 4
    assert other.tolist() == [1, 3]


def test_outputs_are_new_memory() -> None:
    program = traced(lambda x: [x, x[1:], x + 1.0], np.ones(3))
    x = np.ones(3)
    found = Interpreted(program)([x])
    assert not any(np.shares_memory(a, b) for k, a in enumerate(found) for b in [x, *found[:k]])


def test_results_of_another_shape_depart() -> None:
    program = traced(lambda x: x[x > 0], np.array([1.0, -1.0, 2.0]))
    assert Interpreted(program)([np.array([3.0, 1.0, -1.0])])[0].tolist() == [3, 1]
    with pytest.raises(GuardFailed):
        Interpreted(program)([np.ones(3)])


def test_host_calls_run_each_time() -> None:
    calls: list[Any] = []
    notes = Notes()
    x = notes.input(np.ones(2))
    notes.enter(HOST, (calls.append, x.node), {}, None)
    runner = Interpreted(notes.program([x], [x], [None]))
    runner([np.ones(2)])
    runner([np.zeros(2)])
    assert [c.tolist() for c in calls] == [[1, 1], [0, 0]]


def test_no_warnings() -> None:
    assert np.isinf(Interpreted(traced(lambda x: 1.0 / x, np.ones(2)))([np.zeros(2)])[0]).all()


def test_same() -> None:
    assert same(np.array([np.nan, 1]), np.array([np.nan, 1]))
    assert not same(np.ones(2), np.ones(2, "float32"))
    assert not same(np.ones(2), np.ones(3))
    assert same(np.array(True), True)
    assert function("at_index")([1, 2], 1) == 2

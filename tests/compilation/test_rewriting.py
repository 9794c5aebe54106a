"""The making of simpler programs: what may stand for what."""

from typing import Any

import numpy as np
import pytest

from gradwright.compilation.node import CONSTANT, HOST, Interpreted, Node, Program
from gradwright.compilation.passes import simplified
from gradwright.compilation.rewriting import elementwise, everywhere, number
from gradwright.compilation.trace.traced import Notes, Traced, space, traced


def _constant(array: Any) -> Node:
    return Node(CONSTANT, (np.asarray(array),), {}, np.asarray(array))


@pytest.mark.parametrize("op", ["add", "tanh", "where", "less", "astype", "atan", "square", "isnan"])
def test_elementwise(op: str) -> None:
    assert elementwise(op)


@pytest.mark.parametrize("op", ["matmul", "sum", "reshape", "input", "host", "getitem", "linalg.inv", "frexp"])
def test_not_elementwise(op: str) -> None:
    assert not elementwise(op)


def test_what_is_a_number() -> None:
    assert number(2.5) == number(_constant(2.5)) == 2.5
    assert number(True) is number("x") is number(_constant([2.5])) is None


def test_what_is_one_number_everywhere() -> None:
    assert everywhere(_constant([3, 3])) == 3
    assert everywhere(_constant([3, 4])) is everywhere(_constant([0.0, -0.0])) is everywhere(_constant([])) is None
    wide = Node("broadcast_to", (_constant(3.0), (2, 2)), {}, np.full((2, 2), 3.0))
    assert everywhere(wide) == 3.0


def _ops(program: Program) -> list[str]:
    return [n.op for n in program.nodes if n.op not in ("input", "constant")]


def test_the_old_program_stays() -> None:
    program = traced(lambda x: (x + x) * (x + x), np.ones(3))
    before = repr(program)
    assert repr(simplified(program)) != before == repr(program)


def test_numbers_that_are_equal_but_not_the_same_stay_apart() -> None:
    program = traced(lambda x: [space.maximum(x, 0.0), space.maximum(x, -0.0), x + 1, x + True], np.arange(3))
    assert len(_ops(simplified(program, only=["common"]))) == 4


def test_host_calls_stay_and_pure_ones_may_go() -> None:
    calls: list[str] = []

    def draws(x: Any) -> Any:
        calls.append("draws")
        return x

    def pure(x: Any) -> Any:
        calls.append("pure")
        return x

    pure.pure = True  # type: ignore[attr-defined]
    notes = Notes()
    x = notes.input(np.ones(2))
    for f in (draws, draws, pure):
        notes.enter(HOST, (f, x.node), {}, np.ones(2))
    calls.clear()
    Interpreted(simplified(notes.program([x], [x], [None])))([np.ones(2)])
    assert calls == ["draws", "draws"]


def test_what_python_may_know_the_shape_of_stays() -> None:
    program = traced(lambda x: x * float(x[x > 0].shape[0]), np.array([1.0, -1.0]))
    assert "at_index" in _ops(simplified(program))


def test_what_a_check_reads_is_computed_to_the_bit() -> None:
    notes = Notes()
    x = notes.input(np.array([0.1, 0.7]))
    y = space.sum(x * 0.3 * 0.7)
    assert isinstance(y, Traced)
    notes.read(y)
    program = notes.program([x], [y], [None])
    assert _ops(simplified(program)) == ["multiply", "multiply", "sum", "check"]
    assert _ops(simplified(notes.program([x], [x * 0.3 * 0.7], [None]))).count("multiply") == 3


def test_exact_leaves_what_lies_otherwise() -> None:
    """A sum over a strided array is another sum."""
    program = traced(lambda x: space.sum(space.astype(x[:, ::2], x.dtype)), np.ones((3, 8)))
    assert "astype" in _ops(simplified(program, exact=True))
    assert "astype" not in _ops(simplified(program))


def test_without_the_traced_values_exact_is_careful() -> None:
    program = traced(lambda x: x * 1.0, np.ones(3))
    for node in program.nodes:
        node.value = None
    assert _ops(simplified(program, exact=True)) == ["multiply"]
    assert _ops(simplified(program)) == []

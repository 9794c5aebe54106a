"""The order of steps, and what is computed piece by piece together."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.by_numpy.layout import BYTES, SHORT, Layout, Step, steps
from gradwright.compilation.node import HOST, Node, Program
from gradwright.compilation.trace.traced import Notes, space, traced

X = np.ones((3, 4))


def _laid_out(f: Callable[..., Any], *arrays: Any, exact: bool = False) -> tuple[Program, Layout, Node]:
    program = traced(f, *arrays)
    return program, Layout(program, exact, {n: n.value for n in program.inputs}), program.outputs[0]


@pytest.mark.parametrize(("f", "way"), [
    (lambda x: x + 1.0, "ufunc"), (lambda x: space.astype(x, "float32"), "cast"), (lambda x: x[1:], "view"),
    (lambda x: space.reshape(x.T, (12,)), "copy"), (lambda x: space.sum(x), "sum"), (lambda x: x @ x.T, "product"),
    (lambda x: space.sum(x) * 2.0, "number"), (lambda x: space.sort(x), "call"), (lambda x: x, "given"),
    (lambda x: space.where(x > 0, x, x), "choice"), (lambda x: space.sum(x, axis=(1,)), "lines"),
    (lambda x: space.where(x > 0, space.astype(x, "int64"), 3), "call"),
    (lambda x: space.sum(x.T, axis=(1,)), "call"),
])  # fmt: skip
def test_how_nodes_are_computed(f: Callable[..., Any], way: str) -> None:
    _, layout, out = _laid_out(f, X)
    assert layout.way[out] == way


@pytest.mark.parametrize("f", [lambda x: space.sum(x), lambda x: x @ x.T])
def test_exact_sums_and_products_are_numpys(f: Callable[..., Any]) -> None:
    _, layout, out = _laid_out(f, X, exact=True)
    assert layout.way[out] == "call"


@pytest.mark.parametrize("x", [X, np.asfortranarray(X), X.T, np.ones((6, 4))[::2], X[:, ::2]])
def test_exact_results_lie_as_numpys_do(x: Any) -> None:
    _, layout, out = _laid_out(lambda x: space.tanh(x), x, exact=True)
    assert layout.shown[out].strides == out.value.strides


def test_owners() -> None:
    program, layout, out = _laid_out(lambda x, i: [(x + 1.0)[1:].T, space.take(x, i, axis=0), space.tril(x)], X, [0])
    added = program.nodes[2]
    assert layout.owners[out] == {added}
    assert layout.owners[program.outputs[1]] == {program.outputs[1]}
    assert layout.owners[program.outputs[2]] == {program.outputs[2], program.inputs[0]}, "it may be its argument"


def test_products_that_are_summed_are_not_computed() -> None:
    program, layout, out = _laid_out(lambda x, y: space.sum(x * y), X, X)
    assert layout.factors[out] == tuple(program.inputs)
    assert layout.reads(out) == program.inputs
    assert [n.op for n in layout.merged] == ["multiply"]


def test_products_that_are_needed_are_computed() -> None:
    _, layout, _ = _laid_out(lambda x, y: [space.sum(z := x * y), z], X, X)
    assert not layout.merged


def test_what_a_check_reads_is_exact() -> None:
    program, layout, out = _laid_out(lambda x: float(space.sum(x)) * space.sum(x), X)
    assert layout.exact(program.nodes[1])
    assert not layout.exact(out)


LONG = np.ones(100_000)
WIDE = np.ones((1000, 100))


def _steps(f: Callable[..., Any], *arrays: Any, exact: bool = False) -> list[list[str]]:
    return [[n.op for n in step.nodes] for step in _made(f, *arrays, exact=exact)]


def _made(f: Callable[..., Any], *arrays: Any, exact: bool = False) -> list[Step]:
    program = traced(f, *arrays)
    return steps(program, Layout(program, exact, {n: n.value for n in program.inputs}))


def test_short_arrays_are_computed_at_once() -> None:
    assert _steps(lambda x: space.exp(x + 1.0), np.ones(9)) == [["add"], ["exp"]]


def test_long_arrays_share_a_loop() -> None:
    found = _made(lambda x: [space.sum(space.exp(x)), x + 1.0], LONG)
    assert [[n.op for n in s.nodes] for s in found] == [["exp", "sum", "add"]]
    assert found[0].flat
    size, shapes = BYTES // 8, [piece.shape for piece in found[0].pieces()]
    assert shapes == [(size // SHORT, SHORT)] * 6 + [(1, 100_000 - 6 * size)]


def test_what_waits_for_a_sum_is_a_loop_of_its_own() -> None:
    assert _steps(lambda x: space.exp(x) / space.sum(space.exp(x)), LONG) == [["exp", "exp", "sum"], ["divide"]]


def test_exact_sums_are_no_part_of_loops() -> None:
    assert _steps(lambda x: space.sum(space.exp(x)), LONG, exact=True) == [["exp"], ["sum"]]


def test_pieces_are_all_of_an_array() -> None:
    for f in (lambda x: x + 1.0, lambda x: space.sum(x)):
        pieces = _made(f, LONG)[0].pieces()
        assert [i for p in pieces for i in range(p.where.start, p.where.stop)] == [*range(100_000)]
        assert all(np.prod(p.shape) == p.where.stop - p.where.start for p in pieces)


def test_sums_of_products_are_scalar_products() -> None:
    assert _steps(lambda x, y: space.sum(x * y), LONG, LONG) == [["sum"]]


def test_sums_over_some_axes_are_part_of_loops() -> None:
    """Not where too many numbers would be added one by one."""
    assert _steps(lambda x: space.sum(space.exp(x), axis=(1,)), WIDE) == [["exp", "sum"]]
    assert _steps(lambda x: space.sum(space.exp(x), axis=(0,)), np.ones((200, 1000))) == [["exp", "sum"]]
    assert _steps(lambda x: space.sum(space.exp(x), axis=(0,)), np.ones((100_000, 2))) == [["exp"], ["sum"]]


def test_broadcast_arrays_are_cut_into_rows() -> None:
    found = _made(lambda x, y: x * y, WIDE, np.ones((1000, 1)))
    assert not found[0].flat
    assert found[0].pieces()[0].shape == (BYTES // 800, 100)
    assert [s.shape for s in _made(lambda x, y: x * y, WIDE, np.ones(100), exact=True)] == [None]


def test_checks_and_host_calls_keep_their_order() -> None:
    notes = Notes()
    x = notes.input(LONG)
    y = notes.enter(HOST, (np.copy, space.exp(x).node), {}, LONG)  # type: ignore[attr-defined]
    notes.enter(HOST, (np.copy, x.node), {}, LONG)
    notes.read(x)
    program = notes.program([x], [x], [None])
    found = steps(program, Layout(program, False, {n: n.value for n in program.inputs}))
    assert [n.op for s in found for n in s.nodes] == ["exp", "host", "host", "check"]
    assert found[1].nodes == [y]

"""The text of a program: the calls that stand in it."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.by_numpy.layout import Layout
from gradwright.compilation.by_numpy.plan import Plan
from gradwright.compilation.by_numpy.text import Text, check, shaped
from gradwright.compilation.node import CHECK, GuardFailed, Node, Program
from gradwright.compilation.trace.traced import Notes, space, traced

X = np.ones((3, 4))


def _names() -> Text:
    empty = Program([], [], [], [])
    return Text(empty, Layout(empty, False, {}))


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
    at = len(names.body)
    names.line("a")
    names.line("b", node)
    assert (names.body[at:], names.lines[at + 1]) == (["a", "b"], node)


def test_check_and_shaped() -> None:
    expected = Node(CHECK, (None, np.array(3.0)), {}, None)
    check(expected, np.float64(3))
    with pytest.raises(GuardFailed):
        check(expected, np.float64(4))
    node = Node("at_index", (), {}, np.ones(3))
    assert shaped(node, X[0, :3]).shape == (3,)
    for other in (X, X[0, :3].astype("float32"), 3.0):
        with pytest.raises(GuardFailed):
            shaped(node, other)


WIDE = np.random.default_rng(0).uniform(-2, 2, (40, 30))
CARE = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324])


def _inside(f: Callable[..., Any], *arrays: Any) -> tuple[str, Any, Any]:
    """The text, the result and NumPy's, where neither arguments nor results are new memory or inputs."""
    program = traced(lambda *given: space.exp(f(*(space.negative(x) for x in given))), *arrays)
    plan = Plan(program)
    plan(arrays)
    return plan.source, plan(arrays)[0], program.outputs[0].value


@pytest.mark.parametrize(("f", "call"), [
    (lambda x: space.sum(x), ".dot("),
    (lambda x: space.sum(x * x), ".dot("),
    (lambda x: space.sum(x, axis=(1,)), "vecdot("),
    (lambda x: space.sum(x * x, axis=1), "vecdot("),
    (lambda x: space.sum(x, axis=(0,)), ".dot("),
    (lambda x: space.sum(x, axis=(0,), keepdims=True), "add_reduce("),
    (lambda x: space.sum(x[:, :4] + 1.0, axis=(1,)), "add_reduce("),
    (lambda x: space.maximum(x, 0.5), "out="),
    (lambda x: space.where(x > 0, x, x * 2.0), "bitwise_xor("),
    (lambda x: space.where(x > 0, x, 0.0 * space.zero(x)), "bitwise_and("),
    (lambda x: space.where(x > 0, space.zero(x), x), "bitwise_and("),
    (lambda x: space.reshape(x.T, (40, 30)), "copyto("),
    (lambda x: space.astype(x, "float32" if x.dtype == "float64" else "float64"), "copyto("),
    (lambda x: x @ x.T, "matmul("),
    (lambda x: space.sum(x) / 3.0 * space.sum(x) - 1.0, " / "),
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_call(f: Callable[..., Any], call: str, dtype: str) -> None:
    source, got, want = _inside(f, WIDE.astype(dtype))
    assert call in source
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-12 if got.dtype == "float64" else 3e-5)


@pytest.mark.parametrize("f", [
    lambda x, y: space.where(x > 0, x, y), lambda x, y: space.where(x > 0, x, space.zero(y)),
    lambda x, y: space.where(x > 0, space.zero(x), y), lambda x, y: space.where(x > 0, x, -space.zero(y)),
    lambda x, y: space.where(x > 0, x, y[0]), lambda x, y: space.where(x > 0, x[:, :1], y),
])  # fmt: skip
@pytest.mark.parametrize("length", [1, 700])
def test_choices_keep_all_bits(f: Callable[..., Any], length: int) -> None:
    """Of NaN, infinities and both zeros; at once and piece by piece."""
    x, y = (np.tile(a.reshape(8, 8), (8, length)) for a in np.meshgrid(CARE, CARE))
    program = traced(lambda x, y: [f(x, y), space.negative(f(x, y))], x, y)
    for got, want in zip(Plan(program)([x, y]), program.outputs, strict=True):
        np.testing.assert_array_equal(got.view("i8"), want.value.view("i8"))


rng = np.random.default_rng(0)
FLAT = [rng.uniform(0.5, 2, 100_003), rng.uniform(0.5, 2, 100_003), np.array(0.3)]
ROWS = [rng.uniform(0.5, 2, (700, 90)), rng.uniform(0.5, 2, (700, 1)), rng.uniform(0.5, 2, 90)]
NARROW = [rng.uniform(0.5, 2, (30_001, 3)), rng.uniform(0.5, 2, (30_001, 1)), rng.uniform(0.5, 2, (1, 3))]
DEEP = [rng.uniform(0.5, 2, (300, 20, 16)), rng.uniform(0.5, 2, (300, 1, 16)), rng.uniform(0.5, 2, (20, 1))]


def _sums(z: Any) -> list[Any]:
    n = len(z.shape)
    some = [space.sum(z, axis=(a,), keepdims=k) for a in range(n) for k in (False, True)]
    return [space.sum(z), space.sum(z * z), space.sum(z * z, axis=(n - 1,)), *some]


@pytest.mark.parametrize("f", [
    lambda x, y, c: x * y + c,
    lambda x, y, c: [space.exp(x * c), space.sum(x * y), space.sum(x + y + c)],
    lambda x, y, c: _sums(space.tanh(x * y) - c),
    lambda x, y, c: space.exp(x * y) / (space.sum(space.exp(x * y)) + c),
    lambda x, y, c: space.where(x > y, x * c, space.zero(x)),
    lambda x, y, c: [space.astype(x, "float32"), x > y, space.maximum(x, 1.0) + space.sum(y)],
    lambda x, y, c: [space.sqrt(space.sum(x) * 2.0) * x, space.sum(c) * y],
    lambda x, y, c: space.sum(space.sort(x) * x) * x,
])  # fmt: skip
@pytest.mark.parametrize("arrays", [FLAT, ROWS, NARROW, DEEP])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_loops(f: Callable[..., Any], arrays: list[Any], dtype: str) -> None:
    given = [a.astype(dtype) for a in arrays]
    program = traced(f, *given)
    plan, exact = Plan(program), Plan(program, exact=True)
    assert "for " in plan.source
    for _ in range(2):
        for got, bits, node in zip(plan(given), exact(given), program.outputs, strict=True):
            want = node.value
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_allclose(got, want, rtol=1e-11 if want.dtype == "float64" else 2e-4, atol=1e-6)
            np.testing.assert_array_equal(bits, want)


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda x: np.tile(x, 2)[:, ::2], lambda x: x[::-1]])
def test_other_layouts(layout: Callable[[Any], Any]) -> None:
    x = layout(ROWS[0])
    program = traced(lambda x, y: [x * y, space.sum(x * y), space.sum(x * y, axis=(0,))], ROWS[0], ROWS[1])
    program.inputs[0].value = x
    plan = Plan(program)
    for got, want in zip(plan([x, ROWS[1]]), [z := x * ROWS[1], z.sum(), z.sum(0)], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_inputs_are_written_piece_by_piece() -> None:
    program = traced(lambda p, g: [p - g * 0.1, space.sum(p * g)], FLAT[0], FLAT[1])
    program.writes[0] = 0
    plan = Plan(program)
    assert "copyto(x0" not in plan.source
    p = FLAT[0].copy()
    assert np.isclose(plan([p, FLAT[1]])[1], (FLAT[0] * FLAT[1]).sum(), rtol=1e-12)
    np.testing.assert_allclose(p, FLAT[0] - FLAT[1] * 0.1, rtol=1e-12)


def _lines(f: Callable[..., Any], *arrays: Any, writes: list[int | None] | None = None) -> list[str]:
    program = traced(f, *arrays)
    program.writes = writes or program.writes
    return [line.strip() for line in Plan(program).source.splitlines()][3:-2]


@pytest.mark.parametrize(("f", "lines"), [
    (lambda x: x + 1.0, ["v2 = add(x0, c1)", "results = [v2]"]),
    (lambda x: space.tanh(x) * 2.0, ["tanh(x0, b1)", "v3 = multiply(b1, c2)", "results = [v3]"]),
    (lambda x: space.sum(x * x), ["v2 = x0.reshape(-1).dot(x0.reshape(-1))", "results = [asarray(v2)]"]),
    (lambda x: (space.exp(x) * 3.0).T @ x, ["exp(x0, b1)", "multiply(b1, c2, b3)", "v5 = matmul(b4, x0)",
                                            "results = [v5]"]),
    (lambda x: space.sum(x * x) + 3.0, ["v2 = x0.reshape(-1).dot(x0.reshape(-1))", "v4 = v2 + n4",
                                        "results = [asarray(v4)]"]),
    (lambda x: [x, x.T], ["v1 = x0.transpose((1, 0))", "o0 = array(x0, order='K')",
                          "o1 = array(v1, order='K')", "results = [o0, o1]"]),
])  # fmt: skip
def test_the_calls(f: Callable[..., Any], lines: list[str]) -> None:


    found = [re.sub(r"\bn\d+", "n4", line) for line in _lines(f, X)]
    assert found == lines


def test_what_is_written_is_computed_in_place() -> None:
    assert "subtract(x0, b3, x0)" in _lines(lambda p, g: p - g * 0.1, X, X, writes=[0])


def test_what_is_read_afterwards_is_not() -> None:
    lines = _lines(lambda p, g: [p - g * 0.1, p * 2.0], X, X, writes=[0, None])
    assert lines[-1].startswith("copyto(x0, ")


def test_a_check_between_puts_the_write_off() -> None:
    notes = Notes()
    p, g = notes.input(X), notes.input(X)
    new = p - g
    notes.read(space.sum(g))
    lines = Plan(notes.program([p, g], [new], [0])).source.splitlines()
    assert lines[-3].strip().startswith("copyto(x0, ")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_of_numbers_are_those_of_the_ufunc_but_for_the_last_bits(dtype: str) -> None:
    def f(x: Any, y: Any) -> Any:
        return space.power(x, y)

    one = np.ones((), dtype)
    quick, exact = Plan(traced(f, one, one)), Plan(traced(f, one, one), exact=True)
    for x in (0.9, 0.999, 2.0, 0.0, -1.5, np.inf, np.nan):
        for y in (0.0, 1.0, 2.0, 1000.0, 0.5, -3.0, np.inf, np.nan):
            given = [np.array(x, dtype), np.array(y, dtype)]
            with np.errstate(all="ignore"):
                expected = np.power(*given)
                (a,), (b,) = quick(given), exact(given)
            np.testing.assert_allclose(a, expected, rtol=4 * np.finfo(dtype).eps)
            np.testing.assert_array_equal(b, expected)
            assert a.dtype == expected.dtype
    assert " ** " in quick.source
    assert " ** " not in exact.source

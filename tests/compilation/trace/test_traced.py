"""Traced arrays: what they note, and that they are what NumPy's arrays are."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.compiled import CompileWarning
from gradwright.compilation.node import CHECK, CONSTANT, INPUT
from gradwright.compilation.trace.traced import Notes, Traced, space, traced
from tests.compilation.checks import ops_of


def test_the_reason_is_told_once_with_the_function() -> None:
    @gw.compile
    def f(x: gw.Tensor) -> object:
        return object() if x is not None else x

    with pytest.warns(CompileWarning, match="an object of object") as told:
        _ = [f(gw.ones(2)) for _ in range(4)]
    assert len(told) == 1


def test_constants_are_noted_once_and_kept():
    notes, array = Notes(), np.ones(2)
    node = notes.constant(array)
    assert notes.constant(array) is node
    array[0] = 5
    assert (node.op, node.args[0].tolist()) == (CONSTANT, [1.0, 1.0])


def test_what_is_read_is_checked():
    notes = Notes()
    x = notes.input(np.ones(2))
    assert isinstance(x, Traced)
    notes.read(x)
    assert [node.op for node in notes.nodes] == [INPUT, CHECK]
    notes.open = False
    notes.read(x)
    assert len(notes.nodes) == 2


X = np.arange(1.0, 7.0).reshape(2, 3)


def _input() -> tuple[Notes, Traced]:
    notes = Notes()
    return notes, notes.input(X)


@pytest.mark.parametrize(("f", "op"), [
    (lambda x: x + 1, "add"), (lambda x: 1 - x, "subtract"), (lambda x: x @ X.T, "matmul"), (lambda x: x < 2, "less"),
    (lambda x: -x, "negative"), (lambda x: x**2, "square"), (lambda x: x**0.5, "sqrt"), (lambda x: x**3, "power"),
    (lambda x: 2**x, "power"), (lambda x: x.T, "permute_dims"), (lambda x: x.astype("float32"), "astype"),
    (lambda x: x.reshape(6), "reshape"), (lambda x: x.real, "real"), (lambda x: x[0], "getitem"),
    (lambda x: x[np.array([0, 0])], "at_index"), (lambda x: np.exp(x), "exp"), (lambda x: np.add(x, X), "add"),
    (lambda x: space.linalg.diagonal(x), "linalg.diagonal"), (lambda x: space.fft.fft(x), "fft.fft"),
])  # fmt: skip
def test_what_is_noted(f: Callable[[Any], Any], op: str) -> None:
    program = traced(f, X)
    assert ops_of(program)[-1] == op
    found, want = program.outputs[0].value, f(X) if op not in ("linalg.diagonal", "fft.fft") else None
    if want is not None:
        np.testing.assert_array_equal(found, want, strict=True)


def test_they_look_like_arrays() -> None:
    _, x = _input()
    assert (x.shape, x.dtype, x.ndim, x.size, x.itemsize, x.nbytes) == ((2, 3), X.dtype, 2, 6, 8, 48)
    assert (x.strides, len(x), x.copy()) == (X.strides, 2, x)
    assert x.mT.shape == (3, 2)
    assert "float64 [2, 3]" in repr(x)


@pytest.mark.parametrize("read", [
    lambda x: bool(x[0, 0]), lambda x: int(x[0, 0]), lambda x: float(x[0, 0]), lambda x: complex(x[0, 0]),
    lambda x: x[0, 0].item(), lambda x: x.tolist(), lambda x: np.asarray(x), lambda x: np.add.reduce(x),
])  # fmt: skip
def test_what_python_reads_is_checked(read: Callable[[Any], Any]) -> None:
    notes, x = _input()
    read(x)
    assert notes.nodes[-1].op == "check"
    count = len(notes.nodes)
    notes.open = False
    read(notes.input(X))
    assert not any(n.op == "check" for n in notes.nodes[count:])


def test_numbers_that_functions_return_are_checked() -> None:
    notes, x = _input()
    assert space.may_hold(x > 3) is True
    assert [n.op for n in notes.nodes] == ["input", "greater", "may_hold", "check"]


def test_several_results_are_picked() -> None:
    program = traced(lambda x: [*space.frexp(x)], X)
    assert ops_of(program) == ["frexp", "pick", "pick"]


def test_constants_stay_what_they_were() -> None:
    notes, x = _input()
    c = np.ones(3)
    y = x + c
    c[:] = 5
    assert notes.program([x], [y, x * c], [None, None]).nodes[1].args[0].tolist() == [1, 1, 1]


def test_functions_of_dtypes_are_not_noted() -> None:
    notes, x = _input()
    assert space.result_type(x, np.float32) == X.dtype
    assert space.isdtype(x.dtype, "real floating")
    assert len(notes.nodes) == 1


BITS = {
    "there": lambda x: x.view(gw.int32) + 1,
    "there and back": lambda x: (x * 2).view(gw.int32).view(gw.float32) * 3,
    "a sign": lambda x: (x.view(gw.int32) ^ -2147483648).view(gw.float32),
    "wider": lambda x: (x + 1).view(gw.float64).sum(),
    "narrower": lambda x: (x * 2).view(gw.int16) + 1,
    "beside what goes on": lambda x: [y := x * 2 + 1, v := y.view(gw.int32), (y * 3).exp() + v][-1],
    "last, beside what goes on": lambda x: [y := x * 2 + 1, v := y.view(gw.int32), (y * 3).exp(), v * 1][-1],
    "an inverse square root": lambda x: (0x5F3759DF - ((x + 1).view(gw.int32) >> 1)).to(gw.int32).view(gw.float32),
}


@pytest.mark.parametrize("name", BITS)
def test_bits_are_read_in_another_dtype(name):
    f = BITS[name]
    compiled = gw.compile(f, fullgraph=True)
    for k in range(6):
        x = gw.arange(8.0).reshape(2, 4) + k / 2
        found, right = compiled(x), f(x)
        assert found.dtype is right.dtype
        assert gw.allclose(found, right, 0 if right.dtype is not gw.float32 else 1e-6)


def test_bits_of_memory_that_is_written_are_read_eagerly():
    def f(x):
        y = x * 1
        v = y.view(gw.int32)
        y.add_(1)
        return v + 0

    compiled = gw.compile(f)
    with pytest.warns(CompileWarning, match="another dtype is written"):
        found = [compiled(gw.arange(4.0) + k) for k in range(4)]
    assert all(gw.equal(v, f(gw.arange(4.0) + k)) for k, v in enumerate(found))


def test_bits_that_are_returned_show_the_memory_that_they_do_eagerly():
    for f in (lambda x: x.view(gw.int32), lambda x: x.view(gw.int32)[1:].view(3), lambda x: (x, x.view(gw.int32))[1]):
        compiled = gw.compile(f)
        xs = [gw.arange(1.0, 5.0) for _ in range(4)]
        with pytest.warns(CompileWarning, match="something else is returned"):
            found = [compiled(x) for x in xs]
        for x, v in zip(xs, found, strict=True):
            v.zero_()
            assert x[1:].tolist() == [0, 0, 0]

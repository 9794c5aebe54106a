from typing import Any

import array_api_strict as strict
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwright
from gradwright import xp
from gradwright.autograd import gradcheck, gradgradcheck
from tests.face.xp.agreement import FEW, agree, always, arrays, of, pairs

CUBE = arrays("all", (2, 3, 4))
CASES: list[Any] = [
    ("broadcast_to", arrays("all", (3, 1)), (2, 3, 4)),
    ("concat", st.tuples(of("float32", (2, 3)), of("float32", (1, 3)))),
    ("expand_dims", CUBE, 1), ("expand_dims", CUBE, -1), ("expand_dims", CUBE, -4),
    ("flip", CUBE, {}), ("flip", CUBE, {"axis": (0, -1)}), ("flip", CUBE, {"axis": 1}), ("flip", arrays("all", ()), {}),
    ("moveaxis", CUBE, 0, -1), ("moveaxis", CUBE, (0, 1), (-1, 0)),
    ("permute_dims", CUBE, (2, 0, 1)),
    ("repeat", CUBE, 2), ("repeat", CUBE, 3, {"axis": -1}), ("repeat", CUBE, strict.asarray([1, 0, 2]), {"axis": 1}),
    ("reshape", CUBE, (-1, 6)), ("reshape", CUBE, (4, 6), {"copy": True}), ("reshape", arrays("all", (0, 2)), (2, 0)),
    ("roll", CUBE, 3), ("roll", CUBE, -1, {"axis": 1}), ("roll", CUBE, (1, 2), {"axis": (0, -1)}),
    ("squeeze", arrays("all", (1, 3, 1)), 0), ("squeeze", arrays("all", (1, 3, 1)), (0, -1)),
    ("stack", st.tuples(of("int8", (2, 3)), of("int8", (2, 3))), {"axis": -1}),
    ("take", CUBE, strict.asarray([1, 0, 1]), {"axis": 1}), ("take", arrays("all", (3,)), strict.asarray([2, 2])),
    ("take_along_axis", of("float64", (2, 3)), strict.asarray([[0, 2, 0, 1], [1, 1, 0, 2]])),
    ("take_along_axis", of("float64", (2, 3)), strict.asarray([[1, 0, 1]]), {"axis": 0}),
    ("tile", CUBE, (2,)), ("tile", CUBE, (2, 1, 1, 3)), ("tile", arrays("all", ()), (2, 2)), ("tile", CUBE, ()),
    ("unstack", CUBE, {}), ("unstack", CUBE, {"axis": -2}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]}-{c[2:]}")
def test_agrees(case: Any) -> None:
    name, *drawn = case
    options = drawn.pop() if isinstance(drawn[-1], dict) else {}
    always(name, *drawn, **options)


@FEW
@given(pairs("all"))
def test_broadcast_arrays(xy: Any) -> None:
    agree("broadcast_arrays", *xy)
    agree("broadcast_shapes", *(x.shape for x in xy))
    agree("concat", tuple(xy), axis=None)


def test_joining_promotes() -> None:
    assert xp.concat([xp.ones(1, dtype=xp.int8), xp.ones(2, dtype=xp.int16)]).dtype is xp.int16
    assert xp.stack([xp.ones(1, dtype=xp.uint8), xp.ones(1, dtype=xp.int8)]).dtype is xp.int16


@pytest.mark.parametrize("f", [
    lambda x: xp.concat([x, 2 * x], axis=None), lambda x: xp.stack([x, x * x], axis=-1), lambda x: xp.tile(x, (2, 2)),
    lambda x: xp.repeat(x, 2, axis=0), lambda x: xp.repeat(x, xp.asarray([0, 2, 1]), axis=1), lambda x: xp.roll(x, 2),
    lambda x: xp.unstack(x, axis=1)[1], lambda x: xp.moveaxis(x, 0, 1), lambda x: xp.flip(x),
    lambda x: xp.take(x, xp.asarray([2, 2]), axis=1), lambda x: xp.broadcast_to(x, (2, 2, 3)),
    lambda x: xp.take_along_axis(x, xp.asarray([[2], [0]])), lambda x: xp.reshape(x, (-1,), copy=True),
])  # fmt: skip
def test_gradients(f: Any) -> None:
    x = gradwright.tensor([[0.5, -1.5, 2.5], [1.0, 3.0, -2.0]], dtype=xp.float64, requires_grad=True)
    assert gradcheck(f, (x,))
    assert gradgradcheck(lambda x: f(x * x), (x,))


@pytest.mark.parametrize(("f", "error"), [
    (lambda x: xp.expand_dims(x, 4), IndexError), (lambda x: xp.squeeze(x, 0), ValueError),
    (lambda x: xp.flip(x, axis=2), IndexError), (lambda x: xp.permute_dims(x, (0, 0)), ValueError),
    (lambda x: xp.concat([]), ValueError), (lambda x: xp.concat([x], axis=5), IndexError),
    (lambda x: xp.reshape(x, (5,)), RuntimeError), (lambda x: xp.take(x, xp.asarray([0])), ValueError),
    (lambda x: xp.reshape(xp.permute_dims(x, (1, 0)), (6,), copy=False), ValueError),
    (lambda x: xp.roll(x, (1, 2), axis=(0,)), ValueError), (lambda x: xp.unstack(x, axis=2), IndexError),
    (lambda x: xp.flip(x, axis=(0, -2)), ValueError), (lambda x: xp.flip(x, axis=0.5), TypeError),
])  # fmt: skip
def test_what_it_refuses(f: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        f(xp.ones((2, 3)))


@pytest.mark.parametrize("take", [xp.take_along_axis, xp.take])
def test_indices_from_the_end(take: Any) -> None:
    x = gradwright.arange(6.0).reshape(2, 3).requires_grad_()
    index = xp.asarray([[-1, -3], [0, -2]]) if take is xp.take_along_axis else xp.asarray([-1, -3])
    y = take(x, index, axis=1)
    assert y.tolist() == ([[2, 0], [3, 4]] if index.ndim == 2 else [[2, 0], [5, 3]])
    (y * gradwright.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert x.grad.tolist() == ([[2, 0, 1], [3, 4, 0]] if index.ndim == 2 else [[2, 0, 1], [4, 0, 3]])
    for wrong in (3, -4):
        with pytest.raises(IndexError, match=f"index {wrong} is out of range"):
            take(x, xp.zeros_like(index) + wrong, axis=1)

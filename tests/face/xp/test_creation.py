from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright import xp
from gradwright.autograd import gradcheck
from tests.face.xp.agreement import agree, always, arrays


@pytest.fixture
def double() -> Iterator[None]:
    """float64 as the default dtype, as array-api-strict has it."""
    gradwright.set_default_dtype(xp.float64)
    yield
    gradwright.set_default_dtype(xp.float32)


CASES: list[Any] = [
    ("arange", 5), ("arange", 2.5), ("arange", 1, 7, 2), ("arange", 3, 0, -1), ("arange", 0), ("arange", 1, 2, 0.25),
    ("asarray", 1), ("asarray", True), ("asarray", [1.5, 2]), ("asarray", [[1j, 2]]), ("asarray", []),
    ("eye", 3), ("eye", 2, 3), ("eye", 3, {"k": -1}),
    ("full", (2, 3), 5), ("full", 2, 1.5), ("full", (), True), ("full", (2,), 1j),
    ("linspace", 0, 1, 5), ("linspace", -1.0, 1, 4, {"endpoint": False}), ("linspace", 1, 2, 1), ("linspace", 0, 1, 0),
    ("linspace", 0, 1j, 3), ("zeros", (2, 0)), ("ones", 3), ("ones", ()),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.usefixtures("double")
def test_agrees(case: Any) -> None:
    name, *args = case
    options = args.pop() if isinstance(args[-1], dict) else {}
    agree(name, *args, **options)


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "full_like"])
def test_like(name: str) -> None:
    always(name, arrays("numeric"), *([3] if name == "full_like" else []))
    assert getattr(xp, name)(xp.ones(2), *([3] if name == "full_like" else []), dtype=xp.int8).dtype is xp.int8


@pytest.mark.parametrize("name", ["tril", "triu"])
def test_triangles(name: str) -> None:
    for k in (-1, 0, 2):
        always(name, arrays("all", (2, 3, 4)), k=k)


def test_default_dtypes() -> None:
    assert xp.zeros(2).dtype is xp.asarray(1.0).dtype is xp.linspace(0, 1, 2).dtype is xp.float32
    assert xp.asarray([1, 2]).dtype is xp.arange(3).dtype is xp.int64
    assert xp.asarray(1j).dtype is xp.complex64
    assert xp.asarray(np.ones(2)).dtype is xp.float64


def test_asarray() -> None:
    x = gradwright.ones(2, requires_grad=True)
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=True).grad_fn.name() == "CloneBackward0"
    assert xp.asarray(x, dtype=xp.float64).requires_grad
    array = np.zeros(2)
    assert np.shares_memory(xp.asarray(array).numpy(), array)
    assert not np.shares_memory(xp.asarray(array, copy=True).numpy(), array)
    for obj in (1.0, [1, 2]):
        with pytest.raises(ValueError, match="copy=False"):
            xp.asarray(obj, copy=False)
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(x, dtype=xp.float64, copy=False)
    with pytest.raises(RuntimeError, match="no device"):
        xp.asarray(1.0, device="cuda")


def test_empty() -> None:
    assert xp.empty((2, 3), dtype=xp.int8).shape == (2, 3)
    assert xp.empty_like(xp.ones(2, dtype=xp.complex64)).dtype is xp.complex64


def test_from_dlpack() -> None:
    array = np.arange(3.0)
    x = xp.from_dlpack(array)
    assert np.shares_memory(x.numpy(), array)
    assert not np.shares_memory(xp.from_dlpack(array, copy=True).numpy(), array)


@pytest.mark.parametrize("indexing", ["xy", "ij"])
def test_meshgrid(indexing: str) -> None:
    for shapes in ((), ((2,),), ((2,), (3,)), ((2,), (3,), (1,))):
        xs = [np.arange(float(n)) for (n,) in shapes]
        wanted = np.meshgrid(*xs, indexing=indexing)  # type: ignore[call-overload]
        got = xp.meshgrid(*map(xp.asarray, xs), indexing=indexing)
        assert [g.tolist() for g in got] == [w.tolist() for w in wanted]
    x = gradwright.tensor([1.0, 2.0], dtype=xp.float64, requires_grad=True)
    assert gradcheck(lambda x: xp.meshgrid(x, x * x, indexing=indexing), (x,))
    with pytest.raises(ValueError, match="indexing must be"):
        xp.meshgrid(x, indexing="yx")


def test_likes_of_another_shape() -> None:
    x = xp.ones((2, 3), dtype=xp.float64)
    assert xp.zeros_like(x, shape=(4,)).tolist() == [0.0] * 4
    assert xp.ones_like(x, shape=()).dtype is xp.float64

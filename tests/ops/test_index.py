from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.backends.generic import HERE
from gradwright.backends.scatter import filled
from gradwright.ops import index as i

X = np.arange(20.0).reshape(4, 5)
KEYS: list[Any] = [
    (slice(1, 3), ...), (1, ...), (..., -1), (slice(None, None, -2), None, 3), (np.array([0, 2, 0]),),
    (np.array([0, 2, 0]), np.array([1, 1, 1])), (X > 7,), (np.array([True, False, True, True]), slice(1, 3)),
    (slice(None), np.array([4, 4])), (np.zeros(0, int),),
]  # fmt: skip


def apart(key: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    arrays = [k for k in key if isinstance(k, np.ndarray)]
    return tuple(HERE if isinstance(k, np.ndarray) else k for k in key), tuple(arrays)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_index_and_unindex_are_adjoint(key: Any) -> None:
    key, places = apart(key)
    part = i.at(X, *places, key=key) if places else i.index(X, key=key)
    key = filled(key, places)
    assert np.array_equal(part, X[key])
    y = np.random.standard_normal(part.shape)
    key, places = apart(key)
    back = i.unindex(y, *places, shape=X.shape, key=key)
    assert np.sum(part * y) == pytest.approx(np.sum(X * back))


@pytest.mark.parametrize("recorded", [False, True])
def test_repeated_indices_add_up(recorded: bool) -> None:
    where = gradwright.tensor([2, 2, 2, 0])
    for f in (lambda x: x[where], lambda x: x.index_select(0, where), lambda x: x.gather(0, where)):
        x = gradwright.ones(4, requires_grad=True)
        (g,) = gradwright.autograd.grad(f(x).sum(), x, create_graph=recorded)
        assert g.tolist() == [1.0, 0.0, 3.0, 0.0]


def test_put_leaves_its_input_alone() -> None:
    out = i.put(X, np.full(5, -1.0), key=(2, ...))
    assert X[2, 0] == 10
    assert np.array_equal(out, np.concatenate([X[:2], np.full((1, 5), -1.0), X[3:]]))


@pytest.mark.parametrize("offset", [-3, -1, 0, 2, 4])
def test_diagonals(offset: int) -> None:
    diagonal = i.diagonal(X, offset=offset)
    assert np.array_equal(diagonal, np.diagonal(X, offset))
    assert np.shares_memory(diagonal, X)
    assert np.array_equal(i.undiagonal(diagonal, shape=(4, 5), offset=offset), np.where(
        np.arange(5) - np.arange(4)[:, None] == offset, X, 0))  # fmt: skip


def test_write_view_through_two_views() -> None:
    steps = (((), (i.index, {"key": (slice(1, 3), ...)})), (i.index, {"key": (..., slice(0, 4, 2))}))
    out = i.write_view(X, np.zeros((2, 2)), steps=steps)
    expected = X.copy()
    expected[1:3, 0:4:2] = 0
    assert np.array_equal(out, expected)

from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.ops import shape as s

X = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("op", "static"),
    [(s.reshape, {"shape": (6, 4)}), (s.permute_dims, {"axes": (2, 0, 1)}), (s.broadcast_to, {"shape": (5, 2, 3, 4)}),
     (s.expand_dims, {"axis": 1}), (s.squeeze, {"axis": ()}), (s.alias, {}), (s.split, {"sizes": (1, 2), "axis": 1}),
     (s.unstack, {"axis": 0})],
    ids=lambda v: getattr(v, "name", ""),
)  # fmt: skip
def test_views_share_memory(op: Any, static: Any) -> None:
    assert op.kind == "view"
    out = op(X, **static)
    for o in out if op.several else [out]:
        assert np.shares_memory(o, X)


def test_reshape_copies_where_it_must() -> None:
    assert not np.shares_memory(s.reshape(X.transpose(), shape=(24,)), X)


def test_broadcast_to_is_read_only() -> None:
    assert not s.broadcast_to(X, shape=(2, 2, 3, 4)).flags.writeable


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_joining_undoes_parting(axis: int) -> None:
    assert np.array_equal(s.concat(*s.split(X, sizes=(1, X.shape[axis] - 1), axis=axis), axis=axis, ends=()), X)
    assert np.array_equal(s.stack(*s.unstack(X, axis=axis), axis=axis), X)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gradients_along_a_negative_axis(axis: int) -> None:
    x, y = (gradwright.tensor(X * k, requires_grad=True) for k in (1, 2))
    weights = gradwright.tensor(np.arange(48.0).reshape(np.concatenate([X, X], axis).shape))
    (gradwright.xp.concat([x, y], axis=axis) * weights).sum().backward()
    first, second = np.split(weights.numpy(), 2, axis)
    assert np.array_equal(x.grad.numpy(), first)
    assert np.array_equal(y.grad.numpy(), second)


def test_sum_to() -> None:
    plain = gradwright.backends.namespace(X)
    assert s.sum_to(plain, X, X.shape) is X
    assert np.array_equal(s.sum_to(plain, X, (3, 1)), X.sum((0, 2), keepdims=True)[0])
    assert s.sum_to(plain, X, ()) == X.sum()
    assert s.sum_to(plain, np.zeros((0, 3)), (1, 3)).tolist() == [[0.0, 0.0, 0.0]]


def test_rearrangements() -> None:
    assert np.array_equal(s.flip(X, axis=(0, 2)), X[::-1, :, ::-1])
    assert np.array_equal(s.roll(X, shift=(1, -2), axis=(0, 2)), np.roll(X, (1, -2), (0, 2)))
    assert np.array_equal(s.tril(X, k=1), np.tril(X, 1))
    assert np.array_equal(s.triu(X, k=-1), np.triu(X, -1))


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", ["float32", "float64"])
def test_a_converted_gradient_is_converted_back(source: str, target: str) -> None:
    x = gradwright.tensor([1.0, 2.0], dtype=getattr(gradwright, source), requires_grad=True)
    y = x.to(getattr(gradwright, target)) * 2
    y.sum().backward()
    assert y.dtype is getattr(gradwright, target)
    assert x.grad.dtype is x.dtype
    assert x.grad.tolist() == [2.0, 2.0]


def test_nothing_flows_through_whole_numbers() -> None:
    x = gradwright.ones(2, requires_grad=True)
    assert not x.long().requires_grad
    assert not x.bool().requires_grad
    assert not gradwright.xp.astype(x, gradwright.int64).requires_grad

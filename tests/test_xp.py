from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright import backends, xp
from gradwright.op import table

X = np.arange(1.0, 7.0).reshape(2, 3)


def test_has_every_operation() -> None:
    for name, op in table.items():
        assert callable(getattr(xp, name)), name
        assert name in ("astype", "concat", "stack", "einsum") or getattr(xp, name).__doc__ == op.__doc__


def test_is_the_namespace_of_tensors() -> None:
    x = gradwright.ones(2)
    assert x.__array_namespace__() is xp
    assert backends.namespace(x) is xp


def normalised(x: Any) -> Any:
    """A function as an array-API program writes it."""
    space = x.__array_namespace__()
    y = space.exp(x - space.max(x, axis=-1, keepdims=True))
    return space.concat([y / space.sum(y, axis=-1, keepdims=True), space.mean(x, axis=-1, keepdims=True)], axis=-1)


def test_array_api_programs_run_on_tensors_with_gradients() -> None:
    x = gradwright.tensor(X, requires_grad=True)
    np.testing.assert_allclose(normalised(x).detach().numpy(), normalised(X), rtol=1e-15)
    assert gradwright.autograd.gradcheck(normalised, (x,))
    assert gradwright.autograd.gradgradcheck(normalised, (x,))


def test_static_arguments_by_position_and_by_default() -> None:
    x = gradwright.tensor(X)
    assert xp.reshape(x, (3, 2)).shape == (3, 2)
    assert xp.permute_dims(x, (1, 0)).shape == (3, 2)
    assert xp.expand_dims(x, axis=0).shape == (1, 2, 3)
    assert xp.sum(x).item() == X.sum()
    assert xp.var(x, axis=0).tolist() == X.var(0, ddof=1).tolist()


def test_joining() -> None:
    x = gradwright.tensor(X, requires_grad=True)
    assert np.array_equal(xp.concat([x, x]).detach().numpy(), np.concatenate([X, X]))
    assert np.array_equal(xp.stack([x, x], axis=-1).detach().numpy(), np.stack([X, X], -1))
    assert np.array_equal(xp.einsum(x, x, equation="ij,kj->ik").detach().numpy(), X @ X.T)
    xp.concat([x, 2 * x], axis=1).sum().backward()
    assert (x.grad.numpy() == 3).all()


def test_asarray() -> None:
    x = gradwright.ones(2, requires_grad=True)
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=True).grad_fn.name() == "CloneBackward0"
    assert xp.asarray(x, dtype=gradwright.float64).dtype is gradwright.float64
    assert xp.asarray([1.0, 2.0]).tolist() == [1.0, 2.0]
    assert xp.asarray(2, dtype=gradwright.float32).dtype is gradwright.float32


def test_astype() -> None:
    x = gradwright.ones(2, requires_grad=True)
    assert xp.astype(x, xp.float64).requires_grad
    assert not xp.astype(x, xp.int64).requires_grad
    assert not xp.astype(x, xp.bool).requires_grad


def test_creation() -> None:
    assert xp.zeros((2, 3)).dtype is gradwright.float32
    assert xp.ones((2,), dtype=xp.float64).tolist() == [1.0, 1.0]
    assert xp.arange(3).tolist() == [0, 1, 2]
    x = gradwright.tensor(X)
    assert xp.zeros_like(x).dtype is x.dtype
    assert xp.ones_like(x, shape=(4,)).tolist() == [1.0] * 4


def test_diagonal() -> None:
    x = gradwright.tensor(X, requires_grad=True)
    assert xp.linalg.diagonal(x, offset=1).tolist() == [2.0, 6.0]
    assert xp.linalg.diagonal(x).grad_fn.name() == "DiagonalBackward0"


def test_what_it_refuses() -> None:
    with pytest.raises(TypeError, match=r"exp\(\): expected a Tensor, but got ndarray"):
        xp.exp(X)
    with pytest.raises(AttributeError):
        xp.no_such_function


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "int64", "int32", "uint8", "complex64", "bool"])
def test_dtypes(name: str) -> None:
    assert np.dtype(getattr(xp, name)) == np.dtype(name)

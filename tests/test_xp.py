"""`gradwright.xp`: the array namespace of Tensors, with which derivatives are recorded."""

import numpy as np
import pytest

import gradwright
from gradwright import backends, op, xp


def tensor(data):
    return gradwright.tensor(data, dtype=gradwright.float64, requires_grad=True)


@pytest.mark.parametrize("name", sorted(op.table))
def test_every_built_in_operation_is_in_it(name):
    assert callable(getattr(xp, name))


def test_it_is_the_namespace_of_tensors():
    assert backends.namespace(gradwright.ones(1)) is xp
    assert gradwright.ones(1).__array_namespace__() is xp


def test_what_it_computes_is_recorded():
    x = tensor([0.5, 1.0])
    y = xp.multiply(xp.sin(x), x)
    assert type(y.grad_fn).__name__ == "MulBackward0"
    assert gradwright.autograd.gradgradcheck(lambda x: xp.multiply(xp.sin(x), x), x)


def test_arguments_as_the_standard_has_them():
    x = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert xp.sum(x, axis=0, keepdims=True).tolist() == [[5, 7, 9]]
    assert xp.reshape(x, (3, 2)).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert xp.permute_dims(x, (1, 0)).tolist() == [[1, 4], [2, 5], [3, 6]]
    assert xp.concat([x, x], axis=1).shape == (2, 6)
    assert xp.stack([x, x]).shape == (2, 2, 3)
    assert xp.expand_dims(x, axis=0).shape == (1, 2, 3)
    assert xp.einsum(x, x, equation="ij,kj->ik").tolist() == [[14, 32], [32, 77]]
    assert xp.linalg.diagonal(x, offset=1).tolist() == [2, 6]


def test_making_arrays():
    assert xp.zeros((2,)).dtype is gradwright.float32
    assert xp.ones((2, 3), dtype=xp.float64).dtype is gradwright.float64
    assert xp.arange(3).tolist() == [0, 1, 2]
    x = tensor([1.0, 2.0])
    assert xp.zeros_like(x).dtype is gradwright.float64
    assert xp.ones_like(x, shape=(3, 1)).tolist() == [[1], [1], [1]]
    assert not xp.zeros_like(x).requires_grad


def test_asarray():
    x = tensor([1.0, 2.0])
    assert xp.asarray(x) is x
    copied = xp.asarray(x, copy=True)
    assert copied is not x
    assert copied.grad_fn is not None
    assert xp.asarray(x, dtype=xp.float32).dtype is gradwright.float32
    assert xp.asarray([1.0, 2.0], dtype=xp.float64).tolist() == [1, 2]


def test_astype():
    x = tensor([1.0, 2.0])
    y = xp.astype(x, xp.float32)
    assert y.dtype is gradwright.float32
    y.sum().backward()
    assert x.grad.dtype is gradwright.float64
    assert x.grad.tolist() == [1, 1]


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "int64", "int32", "uint8", "complex64", "bool"])
def test_dtypes(name):
    assert np.dtype(getattr(xp, name)) == np.dtype(name)

"""PyTorch's functions of dense tensors, of sparse ones: compared with those of the dense ones."""

import pytest

import gradwright as gw

A = gw.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]])
B = gw.tensor([[0.0, 0.0, 4.0], [5.0, 0.0, 0.0]])


def dense(x):
    return x if isinstance(x, gw.Tensor) else x.to_dense()


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_joined(dim):
    parts = [A.clone().requires_grad_(), B.clone().requires_grad_()]
    joined = gw.cat([x.to_sparse() for x in parts], dim)
    assert gw.equal(joined.to_dense(), gw.cat([A, B], dim))
    assert gw.equal(joined.coalesce().to_dense(), gw.cat([A, B], dim))
    joined.sum().backward()
    assert gw.equal(parts[1].grad, (B != 0).float())


@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_of_two(name):
    found = getattr(gw, name)(A.to_sparse(), B.to_sparse())
    assert gw.equal(dense(found), getattr(gw, name)(A, B))


@pytest.mark.parametrize("name", ["mm", "matmul"])
def test_products(name):
    for left, right in [(A.to_sparse(), B.T), (A, B.t().contiguous().to_sparse()), (A.to_sparse(), B.to_sparse().t())]:
        assert gw.equal(dense(getattr(gw, name)(left, right)), A @ B.T)


def test_of_one():
    for name in ("abs", "sqrt", "t", "neg", "sum", "clone"):
        assert gw.equal(dense(getattr(gw, name)(A.to_sparse())), getattr(gw, name)(A))


def test_what_is_refused():
    a = A.to_sparse()
    with pytest.raises(TypeError, match=r"exp\(\) takes dense tensors here, but got a sparse one"):
        gw.exp(a)
    with pytest.raises(TypeError, match="all tensors sparse, or all dense, but element 1 is a Tensor"):
        gw.cat([a, A])
    with pytest.raises(IndexError, match="dim 2 of tensors with 2 dims"):
        gw.cat([a, a], 2)
    with pytest.raises(RuntimeError, match="must match except in dimension 0"):
        gw.cat([a, a.t()])
    with pytest.raises(RuntimeError, match="dim 1 is not one of the 1 that are indexed"):
        gw.cat([A.to_sparse(1)] * 2, 1)

"""Parts of sparse tensors: compared with those of the dense ones."""

import pytest

import gradwright as gw

DENSE = gw.tensor([[[0.0, 1.0], [0.0, 0.0]], [[2.0, 0.0], [3.0, 4.0]], [[0.0, 0.0], [5.0, 0.0]]])


@pytest.mark.parametrize("indexed", [1, 2, 3])
def test_parts_are_those_of_the_dense_one(indexed):
    a = DENSE.clone().requires_grad_()
    sparse = a.to_sparse(indexed)
    for dim in (0, 1, 2, -1):
        for i in (0, -1):
            part, wanted = sparse.select(dim, i), DENSE.select(dim, i)
            assert gw.equal(part if isinstance(part, gw.Tensor) else part.to_dense(), wanted)
    for dim in range(4):
        assert gw.equal(sparse.unsqueeze(dim).to_dense(), DENSE.unsqueeze(dim))
    assert [tuple(row.shape) for row in sparse] == [(2, 2)] * 3
    assert gw.equal(gw.as_tensor(sparse[1, 0, 0]), DENSE[1, 0, 0])
    part = sparse[1]
    weights = gw.tensor([[1.0, 2.0], [3.0, 4.0]])
    ((part if isinstance(part, gw.Tensor) else part.to_dense()) * weights).sum().backward()
    kept = {1: weights, 2: weights, 3: weights * (DENSE[1] != 0)}[indexed]
    assert gw.equal(a.grad, gw.stack([gw.zeros(2, 2), kept, gw.zeros(2, 2)]))


def test_what_is_refused():
    sparse = DENSE.to_sparse()
    with pytest.raises(TypeError, match="takes whole numbers as indices, but got slice"):
        sparse[:1]
    with pytest.raises(IndexError, match="index 3 out of range for dim 0 of size 3"):
        sparse[3]
    for name in ("select", "unsqueeze"):
        with pytest.raises(IndexError, match=rf"{name}\(\): dim 7 of a sparse tensor with 3 dims"):
            getattr(sparse, name)(7, *([0] if name == "select" else []))


@pytest.mark.parametrize("dtype", [gw.int32, gw.bool, gw.float64])
def test_entries_keep_their_dtype(dtype):
    sparse = gw.sparse_coo_tensor(gw.tensor([[0, 1, 1]]), gw.tensor([1, 1, 1]).to(dtype), (3,))
    assert sparse[1].dtype is dtype
    assert gw.equal(sparse[1], sparse.to_dense()[1])


def test_functions_reach_what_is_inherited():
    assert gw.equal(gw.unsqueeze(DENSE.to_sparse(), 1).to_dense(), DENSE.unsqueeze(1))
    assert gw.equal(gw.select(DENSE.to_sparse(), 0, 2).to_dense(), DENSE[2])
    assert [tuple(row.shape) for row in gw.unbind(DENSE.to_sparse())] == [(2, 2)] * 3


def test_what_is_said_of_the_indices(T):
    made = lambda at: T.sparse_coo_tensor(T.tensor([at]), T.tensor([1.0, 2.0]), (3,))
    a = made([0, 2])
    assert a._coalesced_(True) is a
    assert a.is_coalesced()
    assert not a._coalesced_(False).is_coalesced()
    with pytest.raises(RuntimeError, match=r"_coalesced_\(True\) says that indices are in order and differ"):
        (made([2, 0]) if T is gw else gw.sparse_coo_tensor([[2, 0]], [1.0, 2.0], (3,)))._coalesced_(True)


def test_the_transpose_of_matrices_is_pytorchs(T):
    a = T.sparse_coo_tensor(T.tensor([[0, 1], [2, 0]]), T.tensor([1.0, 2.0]), (2, 3))
    assert a.mT.to_dense().tolist() == a.to_dense().mT.tolist()

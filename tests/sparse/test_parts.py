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

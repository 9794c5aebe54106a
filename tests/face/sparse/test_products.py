"""Products of sparse matrices by their other names, against PyTorch's, and their derivatives."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.face.sparse import products

ROWS, COLUMNS, VALUES = [0, 2, 2, 1], [1, 0, 3, 1], [1.0, -2.0, 3.0, 0.5]
DENSE = np.random.default_rng(0).standard_normal((4, 2))


def pair(T):
    return (T.sparse_coo_tensor(T.tensor([ROWS, COLUMNS]), T.tensor(VALUES, dtype=T.float64), (3, 4)),
            T.tensor(DENSE))  # fmt: skip


@pytest.mark.parametrize("name", ["smm", "spmm", "dsmm", "hsmm", "hspmm"])
def test_products(torch, name):
    mine, theirs = getattr(products, name)(*pair(gw)), getattr(torch, name)(*pair(torch))
    assert str(mine.layout) == str(theirs.layout)
    if theirs.layout is torch.sparse_coo:
        assert (mine.sparse_dim(), mine.dense_dim()) == (theirs.sparse_dim(), theirs.dense_dim())
        mine, theirs = mine.to_dense(), theirs.to_dense()
    np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-12)


@pytest.mark.parametrize("name", ["sspaddmm", "saddmm"])
def test_sums_of_products(torch, name):
    found = []
    for T, space in ((gw, products), (torch, torch)):
        a, b = pair(T)
        start = T.sparse_coo_tensor(T.tensor([[0], [1]]), T.tensor([10.0], dtype=T.float64), (3, 2))
        found.append(getattr(space, name)(start, a, b, beta=2, alpha=3).to_dense().numpy())
    np.testing.assert_allclose(*found, rtol=1e-12)


def test_masks(torch):
    x = np.arange(12.0).reshape(3, 4)
    for T in (gw, torch):
        a, _ = pair(T)
        assert T.tensor(x).sparse_mask(a.coalesce()).to_dense().tolist() == (x * (a.to_dense() != 0).numpy()).tolist()
    assert a.coalesce().sparse_mask(a.coalesce()).to_dense().tolist() == a.to_dense().tolist()
    mine, _ = pair(gw)
    assert mine.sparse_mask(mine).to_dense().tolist() == mine.to_dense().tolist()
    with pytest.raises(RuntimeError, match=r"expected a mask of size \(2, 2\), but got \(3, 4\)"):
        gw.ones(2, 2).sparse_mask(mine)
    with pytest.raises(RuntimeError, match=r"must be a sparse tensor, not Tensor: to_sparse\(\)"):
        gw.ones(2, 2).sparse_mask(gw.ones(2, 2))


def test_derivatives():
    at = gw.tensor([ROWS, COLUMNS])

    def function(values, dense):
        a = gw.sparse_coo_tensor(at, values, (3, 4))
        return products.smm(a, dense).to_dense(), products.sspaddmm(products.smm(a, dense), a, dense).to_dense()

    values = gw.tensor(VALUES, dtype=gw.float64, requires_grad=True)
    assert gw.autograd.gradcheck(function, (values, gw.tensor(DENSE, requires_grad=True)))


def test_sizes_that_do_not_go_together():
    a, _ = pair(gw)
    with pytest.raises(RuntimeError, match=r"smm\(\): sizes \(3, 4\) and \(3, 2\) do not go together"):
        products.smm(a, gw.ones(3, 2))
    with pytest.raises(RuntimeError, match=r"expected input of size \(3, 2\), but got \(3, 4\)"):
        products.sspaddmm(a, a, gw.ones(4, 2, dtype=gw.float64))

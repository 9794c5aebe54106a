"""Sparse matrices stored by rows, compared with PyTorch's."""

import pytest

import gradwright as gw
from gradwright.face.sparse.rows import SparseRows, check_sparse_tensor_invariants, sparse_csr_tensor

DENSE = [[0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [4.0, 0.0, 5.0]]




@pytest.mark.filterwarnings("ignore:Sparse CSR")
def test_what_is_stored_is_pytorchs(T):
    dense = T.tensor(DENSE)
    made = sparse_csr_tensor if T is gw else T.sparse_csr_tensor
    for a in (dense.to_sparse_csr(), dense.to_sparse().to_sparse_csr(),
              made(T.tensor([0, 1, 1, 3]), T.tensor([2, 0, 2]), T.tensor([3.0, 4.0, 5.0]), (3, 3))):  # fmt: skip
        assert a.crow_indices().tolist() == [0, 1, 1, 3]
        assert a.col_indices().tolist() == [2, 0, 2]
        assert a.values().tolist() == [3.0, 4.0, 5.0]
        assert (str(a.layout), a.is_sparse, a.is_sparse_csr) == ("torch.sparse_csr", False, True)
        assert (a.double().dtype, a.double().layout) == (T.float64, a.layout)
        assert a.to_dense().tolist() == a.to_sparse_coo().to_dense().tolist() == DENSE
        x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = a @ x
        y.pow(2).sum().backward()
        assert (y.tolist(), x.grad.tolist()) == ([9.0, 0.0, 19.0], [152.0, 0.0, 244.0])
    assert made(T.tensor([0, 1]), T.tensor([2]), T.tensor([3.0])).shape == (1, 3)


def test_derivatives_come_to_the_values():
    values = gw.tensor([3.0, 4.0, 5.0], requires_grad=True)
    a = sparse_csr_tensor([0, 1, 1, 3], [2, 0, 2], values, (3, 3))
    (a @ gw.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert values.grad.tolist() == [3.0, 1.0, 3.0]
    assert "layout=torch.sparse_csr" in repr(a)
    assert a.to_sparse_csr() is a
    assert isinstance(a.detach(), SparseRows)


@pytest.mark.parametrize(("crow", "columns", "words"), [
    ([0, 2], [0], "must rise from 0 to 1"), ([1, 1], [0], "must rise"), ([0, 2, 1], [0], "must rise"),
    ([0, 2], [1, 0], "in order and differ"), ([0, 1], [7], "size is inconsistent"), ([[0, 1]], [0], "expected 1-D"),
])  # fmt: skip
def test_indices_are_checked(crow, columns, words):
    with check_sparse_tensor_invariants(enable=False), pytest.raises(RuntimeError, match=words):
        sparse_csr_tensor(crow, columns, [1.0] * len(columns), (len(crow) - 1, 3))
    with pytest.raises(RuntimeError, match="expected a matrix"):
        gw.ones(3).to_sparse_csr()


def test_checks_stay_on():
    check_sparse_tensor_invariants.disable()
    assert check_sparse_tensor_invariants.is_enabled()
    assert check_sparse_tensor_invariants(False)(len) is len
    check_sparse_tensor_invariants.enable()


def test_each_who_is_told_that_indices_are_in_order_says_its_own_mend():
    for call, mend in (
        (lambda: sparse_csr_tensor([0, 2], [1, 0], [1.0, 2.0]), r": order the columns .*_coo_tensor\(.*does both$"),
        (lambda: gw.sparse_coo_tensor([[1, 0]], [1.0, 2.0], is_coalesced=True), ": leave it out, and call coalesce"),
        (lambda: gw.sparse_coo_tensor([[1, 0]], [1.0, 2.0])._coalesced_(True), ": leave it out, or call coalesce"),
    ):
        with pytest.raises(RuntimeError, match=mend):
            call()
    again = gw.sparse_coo_tensor([[0, 0], [1, 0]], [1.0, 2.0]).to_sparse_csr()
    assert again.to_dense().tolist() == [[2.0, 1.0]]

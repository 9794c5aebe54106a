"""Sparse tensors: PyTorch's values and gradients, SciPy's products, and what is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse as ss

import gradwright as gw
from gradwright.sparse import SparseTensor

AT = [[0, 1, 1, 0, 1], [2, 0, 2, 2, 1]]
VALUES = [3.0, 4.0, 5.0, -1.0, 0.5]
SHAPE = (2, 3)
DENSE = [[0.5, -1.0], [2.0, 0.3], [1.0, 0.7]]


def made(T: Any) -> tuple[Any, Any, Any]:
    values = T.tensor(VALUES, dtype=T.float64, requires_grad=True)
    dense = T.tensor(DENSE, dtype=T.float64, requires_grad=True)
    return T.sparse_coo_tensor(T.tensor(AT), values, SHAPE), values, dense


FORMS: dict[str, Any] = {
    "to_dense": lambda T, a, b: a.to_dense(), "coalesce": lambda T, a, b: a.coalesce(),
    "values": lambda T, a, b: a.coalesce().values(), "t": lambda T, a, b: a.t(),
    "transpose": lambda T, a, b: a.transpose(1, 0), "matmul": lambda T, a, b: a @ b, "mm": lambda T, a, b: a.mm(b),
    "mv": lambda T, a, b: a.mv(b[:, 0]), "vector": lambda T, a, b: a @ b[:, 1],
    "sparse.mm": lambda T, a, b: T.sparse.mm(a, b), "torch.mm": lambda T, a, b: T.mm(a, b),
    "torch.matmul": lambda T, a, b: T.matmul(a, b),
    "dense @ sparse": lambda T, a, b: b[:2].mT @ a, "sparse @ sparse": lambda T, a, b: a @ a.t(),
    "sum": lambda T, a, b: a.sum(), "negative": lambda T, a, b: -a, "plus": lambda T, a, b: a + a,
    "minus": lambda T, a, b: a - 2 * a, "scaled": lambda T, a, b: a * 2, "divided": lambda T, a, b: a / 2,
    "dense + sparse": lambda T, a, b: b.t() + a, "times dense": lambda T, a, b: a * b.t(),
    "times itself": lambda T, a, b: a * a, "abs": lambda T, a, b: a.abs(),
    "relu": lambda T, a, b: a.relu(), "clone": lambda T, a, b: a.clone(),
    "by a tensor": lambda T, a, b: a * T.tensor(3.0), "square": lambda T, a, b: a.square(),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")  # PyTorch's
def test_pytorchs_values_and_gradients(form: str, torch: Any) -> None:
    found = []
    for T in (torch, gw):
        a, values, dense = made(T)
        out = FORMS[form](T, a, dense)
        whole = out.to_dense() if out.is_sparse else out
        weights = T.arange(1.0, whole.numel() + 1, dtype=T.float64).reshape(whole.shape)
        slopes = T.autograd.grad((whole * weights).sum(), [values, dense], allow_unused=True)
        slopes = [g.to_dense() if g is not None and g.is_sparse else g for g in slopes]
        found.append((tuple(out.shape), whole.detach(), slopes))
    (shape, whole, slopes), (our_shape, our_whole, our_slopes) = found
    assert our_shape == shape
    np.testing.assert_allclose(our_whole.numpy(), whole.numpy(), rtol=1e-12)
    for mine, theirs in zip(our_slopes, slopes, strict=True):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-12)


@given(st.integers(0, 12), st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_products_are_scipys(count: int, n: int, m: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    at, held = np.stack([rng.integers(0, n, count), rng.integers(0, m, count)]), rng.normal(size=count)
    ours, theirs = gw.sparse_coo_tensor(at, held, (n, m)), ss.coo_matrix((held, at), (n, m))
    dense = rng.normal(size=(m, k))
    np.testing.assert_allclose((ours @ gw.tensor(dense)).numpy(), theirs @ dense, atol=1e-12)
    np.testing.assert_allclose(ours.to_dense().numpy(), theirs.toarray(), atol=1e-12)
    product = ours @ ours.t()
    assert product.is_coalesced()
    np.testing.assert_allclose(product.to_dense().numpy(), (theirs @ theirs.T).toarray(), atol=1e-12)
    once = ours.coalesce()
    assert (np.diff(once.indices()[0].numpy() * m + once.indices()[1].numpy()) > 0).all()


def test_values_with_dense_dims() -> None:
    a = gw.sparse_coo_tensor([[0, 2, 0]], gw.arange(6.0).reshape(3, 2), (4, 2))
    assert a.to_dense().tolist() == [[4, 6], [0, 0], [2, 3], [0, 0]]
    assert (a.sparse_dim(), a.dense_dim(), a.ndim, a.numel(), len(a)) == (1, 1, 2, 8, 4)
    assert a.coalesce().values().tolist() == [[4, 6], [2, 3]]
    assert gw.autograd.functional.jacobian(lambda v: gw.sparse_coo_tensor([[1, 1]], v).to_dense(), gw.ones(2)).tolist(
    ) == [[0, 0], [1, 1]]  # fmt: skip


def test_a_leaf_has_a_sparse_gradient() -> None:
    a = gw.sparse_coo_tensor(AT, VALUES, SHAPE, requires_grad=True)
    assert a.is_leaf
    (a @ gw.ones(3)).sum().backward()
    assert isinstance(a.grad, SparseTensor)
    assert a.grad._values().tolist() == [1] * 5
    a.grad = None
    assert a.grad is None
    assert not a.detach().requires_grad


@pytest.mark.parametrize("name", ["tanh", "expm1", "sin", "double", "norm"])
def test_functions_as_of_the_dense_tensor(name: str) -> None:
    a, values, _ = made(gw)
    out, dense = getattr(a, name)(), getattr(a.to_dense(), name)()
    out = out.to_dense() if out.is_sparse else out
    assert out.tolist() == dense.tolist()
    slopes = [gw.autograd.grad(y.sum(), values, retain_graph=True)[0].tolist() for y in (out, dense)]
    assert slopes[0] == slopes[1]


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")  # PyTorch's
def test_from_dense_and_back(torch: Any) -> None:
    x = gw.tensor([[0.0, 2.0], [0.0, 0.0], [3.0, 4.0]], requires_grad=True)
    s = x.to_sparse()
    assert s.indices().tolist() == torch.tensor(x.tolist()).to_sparse().indices().tolist()
    (s.to_dense() ** 2).sum().backward()
    assert x.grad.tolist() == [[0, 4], [0, 0], [6, 8]]
    assert x.detach().to_sparse(1).indices().tolist() == [[0, 2]]
    assert x.to_sparse(layout=gw.sparse_coo).layout is gw.sparse_coo
    with pytest.raises(NotImplementedError, match="the coordinate form alone"):
        x.to_sparse(layout=gw.sparse_csr)
    with pytest.raises(RuntimeError, match="sparse_dim argument"):
        x.to_sparse(3)


def test_empty_ones() -> None:
    a = gw.sparse_coo_tensor((3, 4))
    assert (a.to_dense() == gw.zeros(3, 4)).all()
    assert a.is_coalesced()
    b = gw.sparse_coo_tensor(gw.zeros(2, 0), gw.zeros(0), (0, 4))
    assert b.to_dense().shape == (0, 4)
    assert b.coalesce().indices().shape == (2, 0)
    assert (a @ gw.ones(4, 2)).tolist() == [[0, 0]] * 3


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")  # PyTorch's
def test_repr(torch: Any) -> None:
    for grad in (False, True):
        ours, theirs = (T.sparse_coo_tensor(T.tensor([[0, 1]]), T.tensor([1.0, 2.0]), (3,), requires_grad=grad)
                        for T in (gw, torch))  # fmt: skip
        assert "".join(repr(ours).split()) == "".join(repr(theirs).split())


def test_what_is_refused() -> None:
    for error, words, args in (
        (RuntimeError, "same nnz, but got nnz from indices: 2, nnz from values: 3", ([[0, 1]], gw.ones(3))),
        (RuntimeError, "found negative index -1 for dim 0", ([[0, -1]], gw.ones(2))),
        (RuntimeError, "for dim 0, size is 3 but found index 5", ([[0, 5]], gw.ones(2), (3,))),
        (RuntimeError, r"size \(3, 3\) does not go with 1 indexed dims", ([[0, 1]], gw.ones(2), (3, 3))),
        (RuntimeError, "indices must be sparse_dim x nnz", ([[[0, 1]]], gw.ones(2), (3, 3))),
        (TypeError, "expected indices of whole numbers", ([[0j, 1]], gw.ones(2), (3, 3))),
    ):
        with pytest.raises(error, match=words):
            gw.sparse_coo_tensor(*args)
    a = gw.sparse_coo_tensor(AT, VALUES, SHAPE)
    for call in (a.values, a.indices):
        with pytest.raises(RuntimeError, match=r"on an uncoalesced tensor, please call .coalesce\(\) first"):
            call()
    with pytest.raises(AttributeError, match=r"has no exp\(\) here: take to_dense\(\).exp, or coalesce\(\).values"):
        a.exp()
    with pytest.raises(AttributeError, match="has no 'frobnicate'"):
        a.frobnicate
    with pytest.raises(RuntimeError, match="the truth of a sparse tensor is not known"):
        bool(a)
    with pytest.raises(RuntimeError, match=r"sizes \(2, 3\) and \(2,\) do not go together"):
        a @ gw.ones(2)
    with pytest.raises(RuntimeError, match="sizes and indexed dims differ"):
        a + a.t()
    with pytest.raises(TypeError, match=r"exp\(\) takes dense tensors here"):
        gw.exp(a)
    with pytest.raises(TypeError):
        a + 1
    with pytest.raises(RuntimeError, match="must be indexed ones"):
        gw.sparse_coo_tensor([[0]], gw.ones(1, 2)).t()
    with pytest.raises(TypeError, match="can be set to None alone"):
        a.grad = gw.ones(5)


def test_an_operator_in_a_solver() -> None:
    """A step of Richardson's iteration on a Laplacian, and its derivative by the matrix."""
    n = 6
    at = np.array([[i, j] for i in range(n) for j in range(n) if abs(i - j) < 2]).T
    held = gw.tensor(np.where(at[0] == at[1], 2.0, -1.0), requires_grad=True)
    laplacian = gw.sparse_coo_tensor(at, held, (n, n))
    b, x = gw.ones(n, dtype=gw.float64), gw.zeros(n, dtype=gw.float64)
    for _ in range(5):
        x = x + 0.3 * (b - laplacian @ x)
    assert gw.autograd.gradcheck(lambda v: gw.sparse_coo_tensor(at, v, (n, n)) @ x.detach(), (held,))
    assert gw.autograd.grad(x.sum(), held)[0].shape == held.shape


@pytest.mark.parametrize("indices", [[[1, 0]], [[1, 1]]], ids=["not in order", "twice"])
def test_what_is_said_to_be_coalesced_is_looked_at(indices):
    with pytest.raises(RuntimeError, match="indices are in order and differ, but these do not"):
        gw.sparse_coo_tensor(indices, [1.0, 2.0], (3,), is_coalesced=True)
    assert gw.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,), is_coalesced=True).is_coalesced()


def test_older_names_and_kinds(torch):
    for lib in (gw, torch):
        a = lib.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 3))
        assert (a.ndimension(), a.nelement()) == (2, 6)
        assert (a.is_cuda, a.is_floating_point(), a.is_complex()) == (False, True, False)

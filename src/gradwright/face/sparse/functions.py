"""The functions of `torch.sparse`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright.engine.grad_mode import no_grad
from gradwright.face.functions.scatter import scatter_reduce
from gradwright.face.sparse.tensor import SparseTensor, expected
from gradwright.face.tensor import Tensor

if TYPE_CHECKING:
    from gradwright.face.typing import Dims, DType


def mm(mat1: SparseTensor | Tensor, mat2: SparseTensor | Tensor) -> Any:
    """The product of a sparse matrix and a dense or sparse one (then sparse), or of a dense and a sparse one.

    Shape: (n, m) and (m, k) to (n, k). Raises TypeError if neither is sparse, RuntimeError for sizes that do not fit.

    >>> a = gw.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], (2, 2))
    >>> gw.sparse.mm(a, gw.tensor([[1.0], [10.0]]))
    tensor([[20.],
            [ 3.]])
    """
    if not isinstance(mat1, SparseTensor):
        expected("sparse.mm", mat2)
    return mat1 @ mat2


def addmm(mat: Tensor, mat1: SparseTensor, mat2: Tensor, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
    """beta mat + alpha mat1 @ mat2, of a sparse ``mat1``.

    >>> a = gw.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], (2, 2))
    >>> gw.sparse.addmm(gw.ones(2, 1), a, gw.tensor([[1.0], [10.0]]))
    tensor([[21.],
            [ 4.]])
    """
    return beta * mat + alpha * (expected("sparse.addmm", mat1) @ mat2)


def sum(input: SparseTensor, dim: Dims = None, dtype: DType = None) -> Any:
    """The sum of all entries; over dims, a sparse tensor of those indexed dims that are left, or else a `Tensor`.

    >>> a = gw.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], (2, 2))
    >>> gw.sparse.sum(a)
    tensor(5.)
    """
    a = expected("sparse.sum", input)
    a = a if dtype is None else a.to(dtype)
    if dim is None:
        return a.sum()
    k = a.sparse_dim()
    gone = {d % a.ndim for d in ((dim,) if isinstance(dim, int) else dim)}
    inner = tuple(d - k + 1 for d in gone if d >= k)
    values = a._values().sum(inner) if inner else a._values()
    left = [d for d in range(k) if d not in gone]
    if not left:
        return values.sum(0)
    shape = [a.shape[d] for d in left] + [*values.shape[1:]]
    kept = SparseTensor(a._indices()[left], values, shape, a.is_coalesced() and len(left) == k)
    return kept.coalesce()


def softmax(input: SparseTensor, dim: int, *, dtype: DType = None) -> SparseTensor:
    """The softmax along an indexed dim over what is stored: what is not counts as -inf.

    >>> a = gw.sparse_coo_tensor([[0, 0], [0, 2]], [1.0, 1.0], (1, 3))
    >>> gw.sparse.softmax(a, 1).to_dense()
    tensor([[0.5000, 0.0000, 0.5000]])
    """
    return _softmax(input, dim, dtype, False)


def log_softmax(input: SparseTensor, dim: int, *, dtype: DType = None) -> SparseTensor:
    """The logarithm of `softmax`.

    >>> a = gw.sparse_coo_tensor([[0, 0], [0, 2]], [1.0, 1.0], (1, 3))
    >>> gw.sparse.log_softmax(a, 1).to_dense()
    tensor([[-0.6931,  0.0000, -0.6931]])
    """
    return _softmax(input, dim, dtype, True)


def _softmax(input: Any, dim: int, dtype: Any, logarithm: bool) -> SparseTensor:
    a = expected("sparse.softmax", input).coalesce()
    a = a if dtype is None else a.to(dtype)
    k, d = a.sparse_dim(), dim % a.ndim
    values = a._values()
    if d >= k:
        out = values.log_softmax(d - k + 1) if logarithm else values.softmax(d - k + 1)
        return a._with(out)
    lines = SparseTensor(a._indices()[[i for i in range(k) if i != d]], values, _but(a.shape, d))
    place = lines._places() if k > 1 else a._indices()[0] * 0
    count = int(place.max()) + 1 if len(place) else 0
    where = place.reshape(-1, *(1,) * (values.ndim - 1)).expand(values.shape)
    with no_grad():
        top = scatter_reduce(values.new_zeros((count, *values.shape[1:])), 0, where, values, "amax", include_self=False)
    shifted = values - top[place]
    total: Tensor = shifted.new_zeros((count, *values.shape[1:])).index_add(0, place, shifted.exp())
    return a._with(shifted - total.log()[place] if logarithm else shifted.exp() / total[place])


def _but(shape: Any, d: int) -> list[int]:
    return [n for i, n in enumerate(shape) if i != d]

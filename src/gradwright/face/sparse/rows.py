"""Sparse matrices stored by rows, ``torch.sparse_csr``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.face.creation import arange, as_tensor
from gradwright.face.functions.join import cat, stack
from gradwright.face.functions.memory_format import sparse_csr
from gradwright.face.sparse.tensor import SparseTensor, sparse_coo_tensor

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, TensorLike


class SparseRows(SparseTensor):
    """A sparse matrix of which rows are stored one after another; what else it does is that of `SparseTensor`.

    Sums and products of it are in coordinate form.
    """

    is_sparse = False
    is_sparse_csr = True
    layout = sparse_csr

    def crow_indices(self) -> Any:
        """Where each row begins among `values`, and where the last ends: (n + 1,)."""
        counts = self._at[0].bincount(minlength=self.shape[0])
        return cat([counts.new_zeros(1), counts.cumsum(0)])

    def col_indices(self) -> Any:
        """The column of each of `values`."""
        return self._at[1]

    def to_sparse_coo(self) -> SparseTensor:
        """The same in coordinate form."""
        return SparseTensor(self._at, self._held, self.shape, True)

    def to_sparse_csr(self, dense_dim: int | None = None) -> SparseRows:
        """Itself."""
        return self

    def _with(self, values: Any, coalesced: bool | None = None) -> SparseRows:
        return SparseRows(self._at, values, self.shape, True)

    def to(self, *args: Any, **options: Any) -> SparseRows:
        """Its values after `Tensor.to`."""
        values = self._held.to(*args, **options)
        return SparseRows(self._at.to(values.device), values, self.shape, True)

    def __repr__(self) -> str:
        return (f"tensor(crow_indices={self.crow_indices()!r},\n       col_indices={self.col_indices()!r},\n       "
                f"values={self._held.detach()!r}, size={tuple(self.shape)}, nnz={self._nnz()}, "
                "layout=torch.sparse_csr)")  # fmt: skip


def by_rows(a: SparseTensor) -> SparseRows:
    """A sparse matrix stored by rows; RuntimeError unless it has two indexed dims."""
    if a.ndim != 2 or a.sparse_dim() != 2:
        raise RuntimeError(f"to_sparse_csr(): expected a matrix of two indexed dims, but got {a.ndim} dims, "
                           f"{a.sparse_dim()} of them indexed")  # fmt: skip
    a = a.coalesce()
    return SparseRows(a.indices(), a.values(), a.shape, True)


def sparse_csr_tensor(crow_indices: TensorLike, col_indices: TensorLike, values: TensorLike,
                      size: Sequence[int] | None = None, *, dtype: DType = None, device: DeviceLike = None,
                      pin_memory: bool = False, requires_grad: bool = False,
                      check_invariants: bool | None = None) -> SparseRows:  # fmt: skip
    """A `SparseRows` of ``values``, at these columns, of which row i begins at ``crow_indices[i]``.

    The size is the smallest one unless given. Indices are always checked: RuntimeError unless in each row they differ
    and are in order, and all fit; there are no batches.

    >>> a = sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3.0, 4.0, 5.0])
    >>> a.to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 5.]])
    """
    crow, columns = as_tensor(crow_indices, device=device).long(), as_tensor(col_indices, device=device).long()
    if crow.ndim != 1 or columns.ndim != 1 or not len(crow):
        raise RuntimeError("sparse_csr_tensor(): expected 1-D crow_indices (n + 1,) and col_indices, but got "
                           f"{tuple(crow.shape)} and {tuple(columns.shape)}")  # fmt: skip
    counts = crow.diff()
    if int(crow[0]) or int(crow[-1]) != len(columns) or bool((counts < 0).any()):
        raise RuntimeError(f"sparse_csr_tensor(): crow_indices must rise from 0 to {len(columns)}, the number of "
                           f"col_indices, but got {crow.tolist()}")  # fmt: skip
    rows = arange(len(counts), dtype=dtypes.int64, device=crow.device).repeat_interleave(counts)
    least = int(columns.max()) + 1 if len(columns) else 0
    made = sparse_coo_tensor(stack([rows, columns]), values, (len(counts), least) if size is None else size,
                             dtype=dtype, device=device, requires_grad=requires_grad)  # fmt: skip
    made._checked_order("sparse_csr_tensor()", "order the columns of each row, and add up values of one place; "
                        "sparse_coo_tensor(...).to_sparse_csr() does both")  # fmt: skip
    return SparseRows(made._indices(), made._values(), made.shape, True)


class check_sparse_tensor_invariants:
    """A block, or a decorator, without effect: indices are always checked."""

    def __init__(self, enable: bool = True) -> None:
        self.state = enable

    @staticmethod
    def is_enabled() -> bool:
        """Yes."""
        return True

    @staticmethod
    def enable() -> None:
        """Nothing: they are."""

    @staticmethod
    def disable() -> None:
        """Nothing: they stay checked."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        return None

    def __call__(self, mth: Callable[..., Any]) -> Callable[..., Any]:
        return mth

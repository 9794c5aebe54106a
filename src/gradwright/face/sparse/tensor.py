"""Tensors of which some entries are stored: indices, and values that have a history."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.base.dtypes import Size
from gradwright.base.errors import kind
from gradwright.face.creation import as_tensor, tensor, zeros
from gradwright.face.functions.indexing import nonzero
from gradwright.face.functions.join import cat, stack
from gradwright.face.functions.memory_format import sparse_coo
from gradwright.face.functions.sets import unique
from gradwright.face.methods.subclasses import DisableTorchFunctionSubclass, ask_from_now_on
from gradwright.face.sparse import dispatch
from gradwright.face.sparse.parts import Parts
from gradwright.face.tensor import Tensor

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, TensorLike


class SparseTensor(Parts):
    """A tensor of ``shape`` that is 0 but for ``values`` (n, ...) at ``indices`` (dims, n); those of one place add up.

    It is no `Tensor`: what it does is here, `to_dense` makes one. Its history is that of the values, and derivatives
    come to these. Shapes after the dims that are indexed are dense: values have them.
    """

    is_sparse = True
    layout = sparse_coo

    def __init__(self, indices: Tensor, values: Tensor, shape: Sequence[int], coalesced: bool = False) -> None:
        self._at, self._held, self.shape, self._sorted = indices, values, Size(shape), coalesced
        ask_from_now_on()

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Functions of dense tensors that have a meaning here, `dispatch.call`."""
        with DisableTorchFunctionSubclass():
            return dispatch.call(cls, func, args, kwargs or {})

    # -- what it is --

    dtype = property(lambda self: self._held.dtype)
    device = property(lambda self: self._held.device)
    ndim = property(lambda self: len(self.shape))
    requires_grad = property(lambda self: self._held.requires_grad)
    is_leaf = property(lambda self: self._held.is_leaf)
    grad_fn = property(lambda self: self._held.grad_fn)

    @property
    def grad(self) -> Any:
        """The gradient: sparse, at the same indices; None if there is none."""
        slope = self._held.grad
        return None if slope is None else self._with(slope)

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            raise TypeError("the gradient of a sparse tensor can be set to None alone: set that of values()")
        self._held.grad = None

    def requires_grad_(self, requires_grad: bool = True) -> SparseTensor:
        """Whether derivatives come to the values."""
        self._held.requires_grad_(requires_grad)
        return self

    def dim(self) -> int:
        """How many dims it has."""
        return len(self.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of a dim."""
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> int:
        """How many entries it has, stored or not."""
        return self.shape.numel()

    ndimension, nelement = dim, numel
    is_cuda = property(lambda self: self._held.is_cuda)

    def is_floating_point(self) -> bool:
        """Whether its values are."""
        return bool(self._held.is_floating_point())

    def is_complex(self) -> bool:
        """Whether its values are."""
        return bool(self._held.is_complex())

    def sparse_dim(self) -> int:
        """How many dims are indexed."""
        return int(self._at.shape[0])

    def dense_dim(self) -> int:
        """How many dims the values of an index have."""
        return self.ndim - self.sparse_dim()

    def is_coalesced(self) -> bool:
        """Whether its indices are known to be in order, each there once."""
        return self._sorted

    def indices(self) -> Any:
        """The indices (dims, n), in order; RuntimeError unless it is coalesced."""
        return self._once("indices")._at

    def values(self) -> Any:
        """The values (n, ...), with their history; RuntimeError unless it is coalesced."""
        return self._once("values")._held

    def _once(self, what: str) -> SparseTensor:
        if not self._sorted:
            raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")
        return self

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        raise RuntimeError("the truth of a sparse tensor is not known: ask values(), or to_dense()")

    def __repr__(self) -> str:
        parts = [f"indices={self._at!r}", f"values={self._held.detach()!r}",
                 f"size={tuple(self.shape)}, nnz={self._nnz()}, layout=torch.sparse_coo"]  # fmt: skip
        if self.grad_fn is not None:
            parts.append(f"grad_fn=<{self.grad_fn.name()}>")
        elif self.requires_grad:
            parts.append("requires_grad=True")
        return "tensor(" + ",\n".join(parts).replace("\n", "\n       ") + ")"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(Tensor, name):
            raise AttributeError(f"a sparse tensor has no {name!r}", name=name, obj=self)
        raise AttributeError(f"a sparse tensor has no {name}() here: take to_dense().{name}, or coalesce().values()",
                             name=name, obj=self)  # fmt: skip

    # -- other forms of it --

    def _with(self, values: Any, coalesced: bool | None = None) -> SparseTensor:
        """Other values at the same indices."""
        shape = (*self.shape[: self.sparse_dim()], *values.shape[1:])
        return SparseTensor(self._at, values, shape, self._sorted if coalesced is None else coalesced)

    def coalesce(self) -> SparseTensor:
        """The same with its indices in order, each once, and the values of each place added up."""
        if self._sorted:
            return self
        places, where = unique(self._places(), return_inverse=True)
        held = self._held.new_zeros((len(places), *self._held.shape[1:])).index_add(0, where, self._held)
        rows = []
        for size in reversed(self.shape[: self.sparse_dim()]):
            rows.append(places % max(size, 1))
            places = places // max(size, 1)
        at = stack(rows[::-1]) if rows else self._at[:, : len(places)]
        return SparseTensor(at, held, self.shape, True)

    def to_dense(self, dtype: DType = None) -> Any:
        """A `Tensor` of all entries."""
        k = self.sparse_dim()
        flat = self._held.new_zeros((math.prod(self.shape[:k]), *self.shape[k:]))
        dense = flat.index_add(0, self._places(), self._held).reshape(self.shape)
        return dense if dtype is None else dense.to(dtype)

    def to(self, *args: Any, **options: Any) -> SparseTensor:
        """Its values after `Tensor.to`."""
        values = self._held.to(*args, **options)
        return SparseTensor(self._at.to(values.device), values, self.shape, self._sorted)

    def detach(self) -> SparseTensor:
        """The same without history."""
        return self._with(self._held.detach())

    def clone(self) -> SparseTensor:
        """A copy, with its history."""
        return self._with(self._held.clone())

    def sparse_mask(self, mask: SparseTensor) -> SparseTensor:
        """`Tensor.sparse_mask` of its entries, 0 where there are none."""
        return dispatch.sparse_mask(self.to_dense(), expected("sparse_mask", mask))

    def transpose(self, dim0: int, dim1: int) -> SparseTensor:
        """Two of the indexed dims exchanged."""
        k, order = self.sparse_dim(), list(range(self.ndim))
        i, j = (d % self.ndim for d in (dim0, dim1))
        if max(i, j) >= k and i != j:
            raise RuntimeError(f"transpose of a sparse tensor: dims {i} and {j} must be indexed ones, below {k}")
        order[i], order[j] = order[j], order[i]
        return SparseTensor(self._at[order[:k]], self._held, [self.shape[d] for d in order], i == j and self._sorted)

    def t(self) -> SparseTensor:
        """The transpose of a matrix."""
        if self.ndim > 2:
            raise RuntimeError(f"t() expects a tensor with <= 2 sparse dims, but self is {self.ndim}D")
        return self if self.ndim < 2 else self.transpose(0, 1)

    T = property(t)
    mT = property(lambda self: self.transpose(-2, -1))  # noqa: N815 - PyTorch's name

    # -- arithmetic --

    def __neg__(self) -> SparseTensor:
        return self._with(-self._held)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Tensor):
            return other + self.to_dense()
        if not isinstance(other, SparseTensor):
            return NotImplemented
        self._like(other, "add")
        at, held = cat([self._at, other._at], 1), cat([self._held, other._held])
        return SparseTensor(at, held, self.shape)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        """By a number; or entry by entry by a tensor of the same shape, dense or sparse."""
        if isinstance(other, SparseTensor):
            self._like(other, "mul")
            other = other.to_dense()
        if isinstance(other, Tensor) and other.ndim:
            mine = self.coalesce()
            if other.shape != self.shape:
                raise RuntimeError(f"mul of a sparse tensor: expected one of size {tuple(self.shape)}, but got "
                                   f"{tuple(other.shape)}")  # fmt: skip
            return mine._with(mine._held * other[tuple(mine._at)])
        return self._with(self._held * other) if isinstance(other, (Tensor, int, float, complex)) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        whole = isinstance(other, Tensor) and not other.ndim
        return self._with(self._held / other) if whole or isinstance(other, (int, float, complex)) else NotImplemented

    def _like(self, other: SparseTensor, what: str) -> None:
        if (self.shape, self.sparse_dim()) != (other.shape, other.sparse_dim()):
            raise RuntimeError(f"{what} of sparse tensors: sizes and indexed dims differ: {tuple(self.shape)}, "
                               f"{self.sparse_dim()} and {tuple(other.shape)}, {other.sparse_dim()}")  # fmt: skip

    def __matmul__(self, other: Any) -> Any:
        """The product of a sparse matrix and a matrix or vector; sparse if both are."""
        if not isinstance(other, (Tensor, SparseTensor)):
            return NotImplemented
        if self.ndim != 2 or self.sparse_dim() != 2 or other.ndim not in (1, 2) or len(other) != self.shape[1]:
            raise RuntimeError(f"product of a sparse matrix: sizes {tuple(self.shape)} and {tuple(other.shape)} do not "
                               "go together: expected (n, m), both indexed, and (m,) or (m, k)")  # fmt: skip
        if isinstance(other, SparseTensor):
            return self._product(other)
        rows, columns = self._at
        scaled = self._held.reshape(-1, *(1,) * (other.ndim - 1)) * other[columns]
        return scaled.new_zeros((self.shape[0], *other.shape[1:])).index_add(0, rows, scaled)

    mm = matmul = mv = __matmul__

    def __rmatmul__(self, other: Any) -> Any:
        if not isinstance(other, Tensor):
            return NotImplemented
        return self.t() @ other if other.ndim == 1 else (self.t() @ other.mT).mT

    def _product(self, other: SparseTensor) -> SparseTensor:
        """Each stored entry meets those stored in the row of ``other`` that its column names."""
        other = other.coalesce()
        if other.sparse_dim() != 2:
            raise RuntimeError("product of sparse matrices: both dims of the second must be indexed")
        (rows, inner), (theirs, columns) = self._at, other._at
        count = theirs.bincount(minlength=self.shape[1])
        many = count[inner]
        mine = self._at.new_tensor(range(self._nnz())).repeat_interleave(many)
        before = (many.cumsum(0) - many)[mine]
        met = (count.cumsum(0) - count)[inner[mine]] + self._at.new_tensor(range(len(mine))) - before
        at = stack([rows[mine], columns[met]])
        return SparseTensor(at, self._held[mine] * other._held[met], (self.shape[0], other.shape[1])).coalesce()

    def sum(self) -> Any:
        """The sum of all entries, a `Tensor`."""
        return self._held.sum()

    def norm(self, p: Any = 2) -> Any:
        """The norm of the entries, as a vector."""
        return self.coalesce()._held.norm(p)


def _of_values(name: str) -> Callable[..., SparseTensor]:
    def method(self: SparseTensor, *args: Any, **options: Any) -> SparseTensor:
        once = self.coalesce()
        return once._with(getattr(once._held, name)(*args, **options))

    method.__name__, method.__doc__ = name, f"`Tensor.{name}`, which keeps 0, of each entry."
    return method


_KEEP_ZERO = (
    "abs sqrt square relu sin tan sinh tanh asin atan asinh atanh expm1 log1p sign floor ceil trunc round "
    "float double half int long bool"
)
for _name in _KEEP_ZERO.split():
    setattr(SparseTensor, _name, _of_values(_name))


def sparse_coo_tensor(indices: TensorLike, values: TensorLike = None, size: Sequence[int] | None = None, *,
                      dtype: DType = None, device: DeviceLike = None,
                      pin_memory: bool = False, requires_grad: bool = False, check_invariants: bool | None = None,
                      is_coalesced: bool | None = None) -> SparseTensor:  # fmt: skip
    """A `SparseTensor` of ``values`` (n, ...) at ``indices`` (dims, n); without values, an empty one of a size.

    The size is the smallest one for these indices unless given. Tensors of values keep their history, unless
    ``requires_grad``. Indices are always checked; ``is_coalesced`` says that they are in order and differ.
    Raises RuntimeError if shapes do not go together, an index lies outside or what is said of them is not so,
    TypeError if indices are no numbers.

    >>> a = gw.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))
    >>> a.to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 5.]])
    """
    if values is None:
        shape = Size(indices if size is None else size)
        held = zeros(0, dtype=dtype, device=device, requires_grad=requires_grad)
        return SparseTensor(zeros(len(shape), 0, dtype=dtypes.int64, device=device), held, shape, True)
    at = as_tensor(indices, device=device)
    if at.is_complex():
        raise TypeError(f"sparse_coo_tensor(): expected indices of whole numbers, but got {at.dtype}")
    at = at.detach().long()
    held = values.to(dtype=dtype) if isinstance(values, Tensor) else tensor(values, dtype=dtype, device=device)
    held = held if device is None else held.to(device)
    at, held = at.unsqueeze(0) if at.ndim == 1 else at, held.unsqueeze(0) if not held.ndim else held
    if at.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {tuple(at.shape)}")
    if at.shape[1] != len(held):
        raise RuntimeError("indices and values must have same nnz, but got nnz from indices: "
                           f"{at.shape[1]}, nnz from values: {len(held)}")  # fmt: skip
    least = [int(row.max()) + 1 if len(row) else 0 for row in at]
    shape = Size([*least, *held.shape[1:]] if size is None else size)
    if len(shape) != at.shape[0] + held.ndim - 1 or shape[at.shape[0] :] != held.shape[1:]:
        raise RuntimeError(f"size {tuple(shape)} does not go with {at.shape[0]} indexed dims and values of shape "
                           f"{tuple(held.shape)}: expected as many sizes as indexed dims, then "
                           f"{tuple(held.shape[1:])}")  # fmt: skip
    for d, (row, need) in enumerate(zip(at, least, strict=True)):
        if len(row) and int(row.min()) < 0:
            raise RuntimeError(f"found negative index {int(row.min())} for dim {d}")
        if need > shape[d]:
            raise RuntimeError(f"size is inconsistent with indices: for dim {d}, size is {shape[d]} but found index "
                               f"{need - 1}")  # fmt: skip
    if requires_grad:
        held = held.detach().clone().requires_grad_()
    made = SparseTensor(at, held, shape, bool(is_coalesced))
    if is_coalesced:
        made._checked_order("sparse_coo_tensor(): is_coalesced=True", "leave it out, and call coalesce()")
    return made


def from_dense(dense: Any, sparse_dim: int | None = None) -> SparseTensor:
    """The entries of a `Tensor` that are not 0; of its first ``sparse_dim`` dims, those where some that follow are not.

    RuntimeError unless there are as many.
    """
    k = dense.ndim if sparse_dim is None else sparse_dim
    if not 0 < k <= dense.ndim:
        raise RuntimeError(f"sparse_dim argument for sparse tensors must be in 1 to {dense.ndim}, but got {k}")
    there = dense.detach() != 0
    at = nonzero(there.flatten(k).any(-1) if k < dense.ndim else there).T
    return SparseTensor(at, dense[tuple(at)], dense.shape, True)


def expected(function: str, a: Any) -> SparseTensor:
    """A sparse tensor; TypeError for anything else."""
    if not isinstance(a, SparseTensor):
        raise TypeError(f"{function}(): expected a sparse tensor, but got {kind(a)}: to_sparse() makes one")
    return a

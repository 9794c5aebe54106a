"""What programs ask a tensor, about kinds of tensors that there are not here among others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast

from gradwright.backends.devices import device_of
from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.base.source_line import warn
from gradwright.base.upward import above
from gradwright.face.functions import memory_format
from gradwright.face.methods.storage import TypedStorage, UntypedStorage

if TYPE_CHECKING:
    from gradwright.face.sparse import SparseTensor
    from gradwright.face.sparse.rows import SparseRows
    from gradwright.face.typing import DeviceLike, DType, Ints, MemoryFormat, Tensor


class _Never(Protocol):
    def __get__(self, instance: Any, owner: Any) -> bool: ...


def _never(what: str) -> _Never:
    return cast("_Never", property(lambda self: False, doc=f"Whether {what}: never."))


def _removed(name: str, now: str) -> Callable[..., NoReturn]:
    def call(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"This function was deprecated since version 1.9 and is now removed. {name}(): use "
                           f"torch.linalg.{now}")  # fmt: skip

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"RuntimeError, as in PyTorch: see `linalg.{now}`."
    return call


class Asked:
    """Questions whose answer does not depend on the values, most of which are the same for every tensor."""

    __slots__ = ()
    array: Any

    is_sparse = _never("only some entries are stored")
    is_sparse_csr = _never("only some entries are stored, by rows")
    is_quantized = _never("its numbers are quantised")
    is_meta = _never("it has no numbers")
    is_mkldnn = _never("it has a layout of oneDNN's")
    is_nested = _never("it is a list of tensors of several shapes")
    is_mps = is_mtia = is_maia = is_ipu = is_vulkan = is_xla = is_xpu = _never("it is on such a device")
    volatile = _never("it is of PyTorch before 0.4")
    name = property(lambda self: None, doc="None: tensors have no names.")

    @property
    def layout(self) -> memory_format.layout:
        """How its entries lie in memory: ``torch.strided``.

        >>> gw.ones(2).layout
        torch.strided
        """
        return memory_format.strided

    def storage(self) -> TypedStorage:
        """The memory behind it, as entries."""
        return TypedStorage(self)

    _typed_storage = storage

    def untyped_storage(self) -> UntypedStorage:
        """The memory behind it, as bytes."""
        return UntypedStorage(self)

    def storage_type(self) -> type:
        """The class of its `storage`."""
        return TypedStorage

    def is_conj(self) -> bool:
        """Whether its numbers are still to be conjugated: never, `conj` does that at once."""
        return False

    def is_neg(self) -> bool:
        """Whether its numbers are still to be negated: never."""
        return False

    def is_distributed(self) -> bool:
        """Whether it lies in several processes: never."""
        return False

    is_shared = is_distributed

    def to_sparse(self, sparse_dim: int | None = None, **unused: Any) -> SparseTensor:
        """Its entries that are not 0, a `sparse.SparseTensor` in coordinate form, which keeps the history.

        >>> gw.tensor([0.0, 2.0]).to_sparse().indices()
        tensor([[1]])
        """
        if any(value not in (None, memory_format.sparse_coo) for value in unused.values()):
            raise NotImplementedError(f"to_sparse(): there is the coordinate form alone, but got {unused}")
        return above("from_dense")(self, sparse_dim)

    def is_coalesced(self) -> bool:
        """RuntimeError: it is not sparse."""
        raise RuntimeError("is_coalesced expected sparse coordinate tensor layout but got Strided")

    def coalesce(self) -> NoReturn:
        """RuntimeError: it is not sparse."""
        raise RuntimeError("coalesce expected sparse coordinate tensor layout but got Strided: to_sparse() first")

    def indices(self) -> NoReturn:
        """RuntimeError: it is not sparse."""
        raise RuntimeError("indices expected sparse coordinate tensor layout but got Strided: to_sparse() first")

    def values(self) -> NoReturn:
        """RuntimeError: it is not sparse."""
        raise RuntimeError("values expected sparse tensor layout but got Strided: to_sparse() first")

    def to_sparse_coo(self) -> SparseTensor:
        """`to_sparse`."""
        return self.to_sparse()

    def to_sparse_csr(self, dense_dim: int | None = None) -> SparseRows:
        """`to_sparse` of a matrix, stored by rows.

        >>> gw.eye(2).to_sparse_csr().crow_indices()
        tensor([0, 1, 2])
        """
        return above("by_rows")(self.to_sparse())

    def sparse_mask(self, mask: SparseTensor) -> SparseTensor:
        """A sparse tensor of the entries where ``mask``, a sparse tensor of the same size, has some; recorded.

        >>> gw.arange(4).reshape(2, 2).sparse_mask(gw.eye(2).to_sparse()).values()
        tensor([0, 3])
        """
        raise RuntimeError(f"sparse_mask(): argument 'mask' must be a sparse tensor, not {kind(mask)}: "
                           "to_sparse() makes one")  # which is asked before this

    def module_load(self, other: Tensor, assign: bool = False) -> Tensor:
        """What `nn.Module.load_state_dict` may put in its place for ``other``: itself written with it, or ``other``.

        Without history. The latter if ``assign``.
        """
        return other.detach() if assign else self.copy_(other).detach()  # type: ignore[attr-defined]

    def dequantize(self) -> Tensor:
        """Itself in float32: its numbers are not quantised."""
        return self.to(dtypes.float32)  # type: ignore[attr-defined]

    def resize(self, *size: Ints) -> Tensor:
        """`reshape`, as PyTorch's is: the size must hold as many entries. Deprecated."""
        warn("non-inplace resize is deprecated")
        return self.reshape(*size)  # type: ignore[attr-defined]

    def resize_as(self, tensor: Tensor) -> Tensor:
        """`resize` to the size of another tensor. Deprecated."""
        warn("non-inplace resize_as is deprecated")
        return self.reshape(tensor.shape)  # type: ignore[attr-defined]

    eig, lstsq, solve, symeig = map(_removed, ("eig", "lstsq", "solve", "symeig"), ("eig", "lstsq", "solve", "eigh"))

    def is_pinned(self, device: DeviceLike = None) -> bool:
        """Whether its memory is pinned for a CUDA device: no."""
        return False

    def is_signed(self) -> bool:
        """Whether its dtype has negative numbers."""
        return dtypes.of(self.array.dtype).is_signed

    def is_same_size(self, other: Tensor) -> bool:
        """Whether another tensor has the same shape."""
        return bool(self.array.shape == other.array.shape)

    def is_set_to(self, tensor: Tensor) -> bool:
        """Whether it is the same memory as another tensor, seen in the same way.

        >>> x = gw.ones(2)
        >>> x.is_set_to(x.detach()), x.is_set_to(x.clone())
        (True, False)
        """
        tensors: tuple[Any, Any] = (self, tensor)
        mine, its = ((t.data_ptr(), t.shape, t.stride()) for t in tensors)
        return bool(mine == its)

    @property
    def _backward_hooks(self) -> Any:
        """Its hooks by number, or None."""
        hooks = getattr(getattr(self, "_node", None), "_hooks", None)
        return hooks.tensor or None if hooks is not None else None

    @property
    def itemsize(self) -> int:
        """Bytes of one element.

        >>> gw.ones(2).itemsize
        4
        """
        return dtypes.of(self.array.dtype).itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements.

        >>> gw.ones(2).nbytes
        8
        """
        return int(self.array.size * dtypes.of(self.array.dtype).itemsize)

    def ndimension(self) -> int:
        """How many dims it has.

        >>> gw.ones(2, 3).ndimension()
        2
        """
        return int(self.array.ndim)

    dense_dim = ndimension

    def sparse_dim(self) -> int:
        """How many dims are sparse: none."""
        return 0

    def dim_order(self, ambiguity_check: bool | Sequence[MemoryFormat] = False) -> tuple[int, ...]:
        """Its dims from the one with the largest steps in memory to the one with the smallest.

        >>> gw.ones(2, 3).dim_order(), gw.ones(2, 3).T.dim_order()
        ((0, 1), (1, 0))
        """
        steps = self.stride()  # type: ignore[attr-defined]
        return tuple(sorted(range(len(steps)), key=lambda d: (-steps[d], -self.array.shape[d])))

    def const_data_ptr(self) -> int:
        """`data_ptr`, of memory that will not be written."""
        return int(self.data_ptr())  # type: ignore[attr-defined]

    def pin_memory(self, device: DeviceLike = None) -> NoReturn:
        """RuntimeError: there is no CUDA device."""
        raise RuntimeError("Cannot access accelerator device when none is available.")

    def share_memory_(self) -> NoReturn:
        """RuntimeError: tensors are copied between processes."""
        raise RuntimeError("share_memory_(): gradwright's tensors lie in one process: use "
                           "multiprocessing.shared_memory, and from_numpy on an array over it")  # fmt: skip

    def record_stream(self, stream: object) -> None:
        """RuntimeError: there are no streams."""
        raise RuntimeError(f"record_stream(): no streams on {device_of(self.array)}")

    def reinforce(self, reward: object) -> NoReturn:
        """RuntimeError, as in PyTorch: see its distributions."""
        raise RuntimeError("reinforce(): was removed; a policy gradient is log_prob * reward, see "
                           "torch.distributions")  # fmt: skip

    def to_dense(self, dtype: DType = None, *, masked_grad: bool | None = None) -> Tensor:
        """Itself, of another dtype if one is named."""
        return self if dtype is None else self.to(dtype)  # type: ignore[attr-defined, return-value]

    def new(self, *args: Any, **options: Any) -> Tensor:
        """A tensor of this dtype and on this device: ``x.new(2, 3)`` of a size, ``x.new([1., 2.])`` of values.

        >>> gw.ones(2, dtype=gw.float64).new([1.0, 2.0])
        tensor([1., 2.], dtype=torch.float64)
        """
        size = len(args) != 1 or isinstance(args[0], int | dtypes.Size)
        if size:
            return self.new_zeros(args[0] if args and not isinstance(args[0], int) else args or (0,))  # type: ignore[attr-defined]
        return self.new_tensor(args[0])  # type: ignore[attr-defined]

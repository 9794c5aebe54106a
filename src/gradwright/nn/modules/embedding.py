"""Tables of vectors, looked up by whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from gradwright.base.errors import size as text
from gradwright.engine.grad_mode import no_grad
from gradwright.face import creation
from gradwright.nn import functional as F
from gradwright.nn import init
from gradwright.nn.module import Module
from gradwright.nn.modules.parametric import check_whole
from gradwright.nn.parameter import Parameter

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, Tensor

__all__ = ["Embedding", "EmbeddingBag"]


def _sizes(table: Tensor) -> tuple[int, int]:
    if table.ndim != 2:
        raise AssertionError(f"Embeddings parameter is expected to be 2-dimensional, but got {text(table.shape)}")
    rows, length = table.shape
    return rows, length


class _Table(Module):
    """What both share: the table, and how its rows are looked up."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    sparse: bool
    weight: Parameter

    def _set(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None, max_norm: float | None,
             norm_type: float, scale_grad_by_freq: bool, sparse: bool, weight: Any, freeze: bool, device: DeviceLike,
             dtype: DType) -> None:  # fmt: skip
        check_whole(self, num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        if padding_idx is not None:
            check_whole(self, padding_idx=padding_idx)
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError(
                    f"Padding_idx must be within num_embeddings, but got {padding_idx} for {num_embeddings}"
                )
            padding_idx %= num_embeddings
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        shape = (num_embeddings, embedding_dim)
        if weight is None:
            self.weight = Parameter(creation.empty(shape, device=device, dtype=dtype), not freeze)
            self.reset_parameters()
        elif weight.shape != shape:
            raise AssertionError(
                f"Shape of weight does not match num_embeddings and embedding_dim: got {text(weight.shape)}, expected "
                f"{text(shape)}"
            )
        else:
            self.weight = Parameter(weight, not freeze)

    @no_grad()
    def reset_parameters(self) -> None:
        """Draw the table anew from the standard normal distribution; the row ``padding_idx`` is 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight[self.padding_idx].fill_(0)

    def _settings(self, *more: str) -> str:
        """Those of the named attributes, and the common ones, that are not as usual."""
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "sparse": False}
        shown = [f"{name}={getattr(self, name)!r}" for name in more
                 if name not in usual or getattr(self, name) != usual[name]]  # fmt: skip
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *shown])


class Embedding(_Table):
    """The rows of a table at whole numbers: (*) to (*, embedding_dim), in int64 or int32.

    Args:
        num_embeddings: rows of the table.
        embedding_dim: the length of a row.
        padding_idx: a row that is 0 to begin with and gets no gradient; a negative one counts from the end.
        max_norm: rows that are used and longer are scaled down to this, in place.
        norm_type: the p of that norm.
        scale_grad_by_freq: whether each row's gradient is divided by how often the row is used.
        sparse: has no effect: gradients are dense (`optim.SparseAdam` takes them).
        device: where the table lives.
        dtype: its dtype; the default one (float32) if None.

    Attribute: ``weight`` (num_embeddings, embedding_dim), drawn from the standard normal distribution.

    Raises AssertionError for a ``padding_idx`` out of range; called, IndexError for a number out of range,
    RuntimeError unless the input is of whole numbers.

    >>> table = Embedding.from_pretrained(gw.tensor([[1.0, 2.0], [3.0, 4.0]]))
    >>> table(gw.tensor([[1, 0, 1]]))
    tensor([[[3., 4.],
             [1., 2.],
             [3., 4.]]])
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
                 max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
                 sparse: bool = False, _weight: Tensor | None = None, _freeze: bool = False, device: DeviceLike = None,
                 dtype: DType = None) -> None:  # fmt: skip
        super().__init__()
        self._set(num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse,
                  _weight, _freeze, device, dtype)  # fmt: skip

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None,
                        max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
                        sparse: bool = False) -> Self:  # fmt: skip
        """A layer whose table is the matrix ``embeddings``, which it shares; trained only if ``freeze`` is False."""
        rows, length = _sizes(embeddings)
        return cls(rows, length, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)

    def forward(self, input: Tensor) -> Tensor:
        """The rows at ``input``."""
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
                           self.scale_grad_by_freq, self.sparse)  # fmt: skip

    def extra_repr(self) -> str:
        return self._settings("padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse")

    def _takes(self) -> str:
        return f"whole numbers from 0 to {self.num_embeddings - 1}, of any shape"


class EmbeddingBag(_Table):
    """The sum, mean or maximum of bags of rows of a table: (bags, length), or a line cut by offsets, to (bags, d).

    Args:
        num_embeddings: rows of the table.
        embedding_dim: the length d of a row.
        max_norm: rows that are used and longer are scaled down to this, in place.
        norm_type: the p of that norm.
        scale_grad_by_freq: whether each row's gradient is divided by how often the row is used; not with "max".
        mode: "sum", "mean" or "max".
        sparse: has no effect: gradients are dense (`optim.SparseAdam` takes them).
        include_last_offset: whether the last offset is the end of the last bag.
        padding_idx: a row that is 0 to begin with and does not count.
        device: where the table lives.
        dtype: its dtype; the default one (float32) if None.

    Attribute: ``weight`` (num_embeddings, embedding_dim), drawn from the standard normal distribution.

    Raises AssertionError for a ``padding_idx`` out of range; called, ValueError if offsets and the shape of the input
    do not go together, IndexError for a number out of range.

    >>> bags = EmbeddingBag.from_pretrained(gw.tensor([[1.0, 2.0], [3.0, 4.0]]), mode="sum")
    >>> bags(gw.tensor([0, 1, 1]), gw.tensor([0, 2]))
    tensor([[4., 6.],
            [3., 4.]])
    """

    mode: str
    include_last_offset: bool

    def __init__(self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
                 scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
                 _weight: Tensor | None = None,
                 include_last_offset: bool = False, padding_idx: int | None = None, device: DeviceLike = None,
                 dtype: DType = None) -> None:  # fmt: skip
        super().__init__()
        self._set(num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse,
                  _weight, False, device, dtype)  # fmt: skip
        self.mode, self.include_last_offset = mode, include_last_offset

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, max_norm: float | None = None,
                        norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean",
                        sparse: bool = False, include_last_offset: bool = False, padding_idx: int | None = None
                        ) -> Self:  # fmt: skip
        """A layer whose table is the matrix ``embeddings``, which it shares; trained only if ``freeze`` is False."""
        rows, length = _sizes(embeddings)
        made = cls(rows, length, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings,
                   include_last_offset, padding_idx)  # fmt: skip
        made.weight.requires_grad_(not freeze)
        return made

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """One row for each bag: a row of ``input``, or what lies between two ``offsets``."""
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode,
            self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return self._settings("max_norm", "norm_type", "scale_grad_by_freq", "mode", "padding_idx")

    def _takes(self) -> str:
        return f"whole numbers from 0 to {self.num_embeddings - 1}, (bags, length) or (length,) with offsets"

"""Sequences of different lengths: padded to one length, or packed one behind another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from gradwright.backends.devices import cuda
from gradwright.base import dtypes
from gradwright.base.lazy import lazy
from gradwright.engine.grad_mode import no_grad
from gradwright.face import creation
from gradwright.face.functions.join import stack
from gradwright.face.tensor import Tensor
from gradwright.nn.functional.pad import pad

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip

lazy(__name__)


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


def _converter(name: str) -> Callable[[Any], Any]:
    def convert(self: Any) -> Any:
        return self.to(getattr(self.data, name)().dtype)

    convert.__doc__ = f"With data as {name}."
    return convert


class PackedSequence(_Packed):
    """Sequences of different lengths, longest first, without padding: what the recurrent layers take.

    `pack_padded_sequence` and `pack_sequence` make one.

    Attributes:
        data: (total, *): the first element of each sequence, then the second of each that has one, and so on.
        batch_sizes: int64 (longest,): how many sequences have a first element, a second, ...
        sorted_indices: int64 (N,): which sequence came first, second, ... when they were sorted; None if they were
            given sorted.
        unsorted_indices: int64 (N,): the way back.

    >>> pack_sequence([gw.tensor([1.0, 2.0]), gw.tensor([5.0])])
    PackedSequence(data=tensor([1., 5., 2.]), batch_sizes=tensor([2, 1]), sorted_indices=None, unsorted_indices=None)
    """

    __slots__ = ()

    def __new__(cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
                ) -> PackedSequence:  # fmt: skip
        """Also of one pair, ``(data, batch_sizes)``; ValueError if the batch sizes are missing."""
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise ValueError("PackedSequence: expected data and batch_sizes, or a pair of them; pack_sequence() "
                                 "makes one of a list of tensors")  # fmt: skip
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """With ``data.to(...)``; itself if that changes nothing."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    float, double, half = map(_converter, ("float", "double", "half"))
    long, int, short, char, byte = map(_converter, ("long", "int", "short", "char", "byte"))

    def cpu(self) -> PackedSequence:
        """On the CPU; itself if it is there."""
        return self.to("cpu")

    def cuda(self, device: Any = None, **kwargs: Any) -> PackedSequence:
        """On that device; RuntimeError where there is none."""
        return self.to(cuda(device), **kwargs)

    def pin_memory(self) -> PackedSequence:
        """Itself: there is no device to copy it to."""
        return self

    @property
    def is_cuda(self) -> bool:
        """Whether its data are on a CUDA device."""
        return bool(self.data.is_cuda)

    def is_pinned(self) -> bool:
        """False."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes this one; None of None.

    >>> gw.nn.utils.rnn.invert_permutation(gw.tensor([1, 2, 0]))
    tensor([2, 0, 1])
    """
    return None if permutation is None else permutation.argsort()


def pack_padded_sequence(input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False,
                         enforce_sorted: bool = True) -> PackedSequence:  # fmt: skip
    """Pack sequences that were padded.

    Args:
        input: (T, N, *), or (N, T, *) with ``batch_first``.
        lengths: N whole numbers from 1 to T: how much of each sequence is to be kept.
        batch_first: see ``input``.
        enforce_sorted: the lengths must not increase; if False, the sequences are sorted first.

    Differentiable in ``input``. Raises RuntimeError unless there are N lengths, none less than 1 or more than T, sorted
    where they must be.

    >>> packed = gw.nn.utils.rnn.pack_padded_sequence(gw.tensor([[1, 2], [3, 0]]), [2, 1])
    >>> packed.data, packed.batch_sizes
    (tensor([1, 2, 3]), tensor([2, 1]))
    """
    if input.dim() < 2:
        raise IndexError(f"pack_padded_sequence: expected input of 2 dims or more, got shape {tuple(input.shape)}")
    lengths = creation.as_tensor(lengths, dtypes.int64, input.device)
    steps = input.transpose(0, 1) if batch_first else input
    longest, n = steps.shape[:2]
    if not steps.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    if tuple(lengths.shape) != (n,):
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {lengths.numel()} "
                           f"(batch_size={n})")  # fmt: skip
    sorted_indices = None
    if not enforce_sorted:
        sorted_indices = (-lengths).argsort(stable=True)
        steps, lengths = steps.index_select(1, sorted_indices), lengths[sorted_indices]
    held = lengths.tolist()  # the shape of the result depends on them
    if min(held) < 1:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is "
                           f"<= 0: {min(held)}")  # fmt: skip
    if max(held) > longest:
        raise RuntimeError(f"'lengths' has an element of {max(held)}, but input has only {longest} steps")
    if sorted(held, reverse=True) != held:
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    kept = creation.arange(held[0], device=input.device)[:, None] < lengths
    return PackedSequence(steps[: held[0]][kept], kept.sum(1), sorted_indices)


def pad_packed_sequence(sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
                        total_length: int | None = None) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Undo `pack_padded_sequence`: the padded sequences, in their first order, and their lengths.

    Args:
        sequence: what was packed.
        batch_first: give (N, T, *) instead of (T, N, *).
        padding_value: what stands behind the end of a sequence.
        total_length: T; that of the longest sequence if None. ValueError if it is less.

    Differentiable in ``sequence.data``.

    >>> packed = gw.nn.utils.rnn.pack_sequence([gw.tensor([1, 3]), gw.tensor([2])])
    >>> gw.nn.utils.rnn.pad_packed_sequence(packed)
    (tensor([[1, 2],
            [3, 0]]), tensor([2, 1]))
    """
    data, batch_sizes, _, back = sequence
    longest, n = len(batch_sizes), int(batch_sizes[0])
    total = longest if total_length is None else total_length
    if total < longest:
        raise ValueError(f"Expected total_length to be at least the length of the longest sequence in input, but got "
                         f"total_length={total_length} and max sequence length being {longest}")  # fmt: skip
    kept = creation.arange(n, device=data.device) < batch_sizes[:, None]
    lengths = kept.sum(0)
    places = pad(kept, (0, 0, 0, total - longest))
    padded = data.new_full((total, n, *data.shape[1:]), padding_value).index_put((places,), data)
    if back is not None:
        padded, lengths = padded.index_select(1, back), lengths[back]
    return (padded.transpose(0, 1) if batch_first else padded), lengths


def pad_sequence(sequences: Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0,
                 padding_side: str = "right") -> Tensor:  # fmt: skip
    """Stack tensors (T_k, *) of different lengths, padded to that of the longest.

    Args:
        sequences: a list, or anything else to iterate over, of tensors whose shapes agree but for the first size.
        batch_first: give (N, T, *) instead of (T, N, *).
        padding_value: what stands behind the end of a sequence.
        padding_side: "left" to put it before the beginning.

    Differentiable. Raises RuntimeError if there are no sequences or they do not fit together.

    >>> gw.nn.utils.rnn.pad_sequence([gw.tensor([1, 2]), gw.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: "
                           f"{type(sequences)}")  # fmt: skip
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    held: Sequence[Any] = list(sequences)
    if not held:
        raise RuntimeError("received an empty list of sequences")
    if any(s.shape[1:] != held[0].shape[1:] for s in held):
        shapes = ", ".join(str(tuple(s.shape)) for s in held)
        raise RuntimeError(f"pad_sequence: the sizes of the sequences must agree but for the first, got {shapes}")
    longest = max(len(s) for s in held)

    def padded(s: Any) -> Any:
        missing = longest - len(s)
        sides = (missing, 0) if padding_side == "left" else (0, missing)
        return pad(s, (0, 0) * (s.dim() - 1) + sides, value=padding_value) if missing else s

    return stack([padded(s) for s in held], 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """Undo `pad_sequence`: the first ``lengths[k]`` elements of each sequence in (T, N, *), as a list.

    >>> gw.nn.utils.rnn.unpad_sequence(gw.tensor([[1, 2], [3, 0]]), gw.tensor([2, 1]), batch_first=True)
    [tensor([1, 2]), tensor([3])]
    """
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    with no_grad():
        held = lengths.tolist() if isinstance(lengths, Tensor) else list(lengths)
    return [row[:n] for row, n in zip(rows, held, strict=False)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack a list of tensors (T_k, *); the lengths must not increase, unless ``enforce_sorted`` is False.

    Raises RuntimeError as `pack_padded_sequence` does.

    >>> gw.nn.utils.rnn.pack_sequence([gw.tensor([1, 3]), gw.tensor([2])]).data
    tensor([1, 2, 3])
    """
    return pack_padded_sequence(pad_sequence(sequences), [len(s) for s in sequences], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Undo `pack_sequence`: the tensors, in their first order, as a list.

    >>> packed = gw.nn.utils.rnn.pack_sequence([gw.tensor([1, 3]), gw.tensor([2])])
    >>> gw.nn.utils.rnn.unpack_sequence(packed)
    [tensor([1, 3]), tensor([2])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)

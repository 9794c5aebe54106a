"""Making a batch of samples, and tensors of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from copy import copy
from typing import Any

import numpy as np

from gradwright.base import dtypes
from gradwright.engine.base import TensorBase, wrap
from gradwright.face import creation
from gradwright.face.functions.join import stack

_TENSOR_KINDS = "biufc"


def default_collate(batch: Any) -> Any:
    """A list of samples as one batch, with a new first dim.

    =============================  ===============================================================
    samples                        batch
    =============================  ===============================================================
    tensors, NumPy arrays          one tensor, stacked
    floats; ints; bools            one tensor of float64; int64; bool
    NumPy numbers                  one tensor of their dtype
    texts, bytes                   the list itself
    dicts (mappings)               a dict of the same keys, each value collated
    tuples                         a list with the first elements collated, the second elements, ...
    named tuples, lists            one of the same kind, likewise
    =============================  ===============================================================

    Raises TypeError for anything else, RuntimeError for tensors of unequal size and sequences of unequal length.

    >>> import gradwright as gw
    >>> default_collate([({"x": 1.5}, "a"), ({"x": 2.5}, "b")])
    [{'x': tensor([1.5000, 2.5000], dtype=torch.float64)}, ('a', 'b')]
    """
    first = batch[0]
    if isinstance(first, TensorBase):
        joined = None if any(t.requires_grad for t in batch) else _stacked([t.array for t in batch])
        return _checked(batch) if joined is None else joined
    if isinstance(first, np.ndarray):
        if dtypes.kind(first.dtype) not in _TENSOR_KINDS:
            raise TypeError(_UNKNOWN.format(first.dtype))
        joined = _stacked(batch)
        return _checked([creation.as_tensor(b) for b in batch]) if joined is None else joined
    if isinstance(first, np.generic):
        return creation.as_tensor(np.array(batch))
    if isinstance(first, float):
        return creation.tensor(batch, dtype=dtypes.float64)
    if isinstance(first, int):
        return creation.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _rebuilt_mapping(first, {key: default_collate([sample[key] for sample in batch]) for key in first})
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError(f"each element in list of batch should be of equal size: {_MEND}")
        return _rebuilt_sequence(first, [default_collate(column) for column in zip(*batch, strict=True)])
    raise TypeError(_UNKNOWN.format(type(first)))


_UNKNOWN = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


_MEND = "pad or cut the samples, or give the DataLoader a collate_fn that makes a batch of them"


def _checked(tensors: Sequence[Any]) -> Any:
    """One tensor of tensors; RuntimeError if their sizes differ."""
    for i, t in enumerate(tensors):
        if t.shape != tensors[0].shape:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry "
                               f"0 and {list(t.shape)} at entry {i}: {_MEND}")  # fmt: skip
    return stack(tensors)


def _stacked(arrays: Sequence[Any]) -> Any:
    """One tensor of arrays that are alike; None if they are not, or have no dims, or need a closer look."""
    shape, dtype = arrays[0].shape, arrays[0].dtype
    if not shape or any(type(a) is not np.ndarray or a.shape != shape or a.dtype != dtype for a in arrays):
        return None
    dtypes.of(dtype)
    return wrap(np.concatenate(arrays).reshape(len(arrays), *shape))


def default_convert(data: Any) -> Any:
    """NumPy arrays and numbers in nested data as tensors; everything else as it is.

    >>> import numpy as np
    >>> default_convert({"x": np.array([1, 2]), "name": "a"})
    {'x': tensor([1, 2]), 'name': 'a'}
    """
    if isinstance(data, (np.ndarray, np.generic)):
        return creation.as_tensor(data) if dtypes.kind(data.dtype) in _TENSOR_KINDS else data
    if isinstance(data, Mapping):
        return _rebuilt_mapping(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _rebuilt_sequence(data, [default_convert(part) for part in data])
    return data


def _rebuilt_mapping(like: Any, values: dict[Any, Any]) -> Any:
    """A mapping as ``like``, with what else it holds, of these values; a dict if it cannot be made so."""

    def changed() -> Any:
        out = copy(like)
        out.update(values)
        return out

    return _tried(changed if isinstance(like, MutableMapping) else lambda: type(like)(values), values)


def _rebuilt_sequence(like: Any, parts: list[Any]) -> Any:
    """A sequence as ``like`` of these parts; a list for a tuple, and if it cannot be made so."""

    def changed() -> Any:
        out = copy(like)
        out[:] = parts
        return out

    if isinstance(like, tuple):
        return type(like)(*parts) if hasattr(like, "_fields") else parts
    return _tried(changed if isinstance(like, MutableSequence) else lambda: type(like)(parts), parts)


def _tried(make: Callable[[], Any], otherwise: Any) -> Any:
    try:
        return make()
    except TypeError:
        return otherwise

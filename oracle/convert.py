"""PyTorch's values as gradwright's, and the results of both as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import gradwright
from oracle.resolve import from_database, lookup, rewritten


class UnconvertibleError(Exception):
    """gradwright has no such value (a sparse tensor, for one): the sample is left out."""


class Converter:
    """Converts the values of one sample; a tensor that occurs twice is converted once.

    ``pairs`` lists the tensors that require grad, PyTorch's and gradwright's, in the order they were met.
    """

    def __init__(self) -> None:
        self._done: dict[int, Any] = {}
        self._bases: dict[Any, Any] = {}
        self.pairs: list[tuple[Any, Any]] = []

    def __call__(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in self._done:
                self._done[id(value)] = self._tensor(value)
            return self._done[id(value)]
        if isinstance(value, torch.Size):
            return gradwright.Size(value)
        if type(value) in (tuple, list):
            return type(value)(map(self, value))
        if isinstance(value, dict):
            return {k: self(v) for k, v in value.items()}
        if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
            return self._named(str(value).removeprefix("torch."), value)
        if isinstance(value, torch.device):
            return gradwright.device(str(value)) if value.type == "cpu" else str(value)
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if isinstance(value, torch.nn.PairwiseDistance):
            return self._named("nn.PairwiseDistance", value)(value.norm, value.eps, value.keepdim)
        if isinstance(value, torch.nn.TransformerEncoderLayer):
            attention, inner = value.self_attn, value.linear1
            return self._named("nn.TransformerEncoderLayer", value)(
                attention.embed_dim, attention.num_heads, inner.out_features, value.dropout.p,
                self(value.activation), batch_first=attention.batch_first, norm_first=value.norm_first,
                bias=inner.bias is not None,
            )  # fmt: skip
        if callable(value) and getattr(torch.nn.functional, getattr(value, "__name__", ""), None) is value:
            return self._named(f"nn.functional.{value.__name__}", value)
        return rewritten(value) if from_database(value) else value

    def _named(self, name: str, value: Any) -> Any:
        found = lookup(name)
        if found is None:
            raise UnconvertibleError(f"gradwright has no {value}")
        return found

    def _tensor(self, value: torch.Tensor) -> Any:
        if value.dtype is torch.bfloat16:  # of no library but PyTorch's and ml_dtypes
            t = gradwright.from_numpy(numpy_of(value)).bfloat16()
        else:
            t = gradwright.from_numpy(array_of(value, self._bases))
        if value.requires_grad:
            t.requires_grad_()
            self.pairs.append((value, t))
        return t


def array_of(value: torch.Tensor, bases: dict[Any, Any]) -> Any:
    """A copy of a tensor as an array of the same strides, over memory of the same layout.

    ``bases`` holds the copies of memory made so far: tensors that share theirs stay views of one another.
    """
    if value.layout is not torch.strided or value.device.type != "cpu" or value.dtype in _WIDER:
        raise UnconvertibleError(f"a {value.layout} tensor of {value.dtype} on {value.device}")
    value = value.detach()
    try:
        if value.is_conj() or value.is_neg() or value._is_zerotensor():
            return numpy_of(value).copy()
        storage = value.untyped_storage()
        key = storage._cdata, value.dtype
        if key not in bases:
            bases[key] = value.as_strided((storage.nbytes() // value.element_size(),), (1,), 0).numpy().copy()
    except TypeError as e:  # a dtype that NumPy does not have
        raise UnconvertibleError(str(e)) from None
    if value.is_contiguous() and bases[key].size == value.numel():
        return bases[key].reshape(tuple(value.shape))
    strides = [s * value.element_size() for s in value.stride()]
    return np.lib.stride_tricks.as_strided(bases[key][value.storage_offset() :], value.shape, strides)


def numpy_of(value: Any) -> Any:
    """The values of a PyTorch or gradwright tensor as an array, to be compared only."""
    if not isinstance(value, torch.Tensor):
        array = np.asarray(value.detach().array)
        return array.astype(np.float32) if value.dtype is gradwright.bfloat16 else array
    value = value.detach().resolve_conj().resolve_neg()
    if value._is_zerotensor():  # zeros without memory, which some of PyTorch's derivatives are
        return np.zeros(tuple(value.shape), str(value.dtype)[6:])
    value = value.to_dense() if value.layout is not torch.strided else value
    return value.to(_WIDER.get(value.dtype, value.dtype)).numpy()


# What NumPy does not have.
_WIDER = {torch.bfloat16: torch.float32, torch.complex32: torch.complex64}

"""``torch.utils._foreach_utils``: tensors by device and dtype, as optimisers sort them to update many at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "_device_has_foreach_support", "_get_foreach_kernels_supported_devices", "_get_fused_kernels_supported_devices",
    "_group_tensors_by_device_and_dtype", "_has_foreach_support",
]  # fmt: skip

Group = tuple[list[list[Any]], list[int]]


def _group_tensors_by_device_and_dtype(tensorlistlist: Sequence[Sequence[Any]], with_indices: bool = False
                                       ) -> dict[tuple[Any, Any], Group]:  # fmt: skip
    """The lists split by device and dtype of the tensors in the first, and their indices there if ``with_indices``.

    The others go with the first entry by entry, may hold None, and may be empty. RuntimeError if one has another
    length, or there is None in the first.
    """
    if not tensorlistlist or not tensorlistlist[0]:
        raise RuntimeError("expected lists of tensors of which the first is not empty")
    first = tensorlistlist[0]
    for k, others in enumerate(tensorlistlist):
        if others and len(others) != len(first):
            raise RuntimeError(f"expected lists of one length, or empty, but got {len(first)} tensors in the first and "
                               f"{len(others)} in that of index {k}")  # fmt: skip
    found: dict[tuple[Any, Any], Group] = {}
    for i, x in enumerate(first):
        if x is None:
            raise RuntimeError("Tensors of the first list of nested Tensor lists are supposed to be defined but the "
                               f"{i}-th Tensor is not.")  # fmt: skip
        lists, indices = found.setdefault((x.device, x.dtype), ([[] for _ in tensorlistlist], []))
        for mine, others in zip(lists, tensorlistlist, strict=True):
            mine.extend(others[i : i + 1])
        if with_indices:
            indices.append(i)
    return found


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The devices where many tensors are updated at once."""
    return ["cuda"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """The devices where one function makes a whole step: none."""
    return []


def _device_has_foreach_support(device: Any) -> bool:
    """Whether `torch._foreach_add` and kin take tensors of a device: all do."""
    return device.type in ("cpu", "cuda")


def _has_foreach_support(tensors: Sequence[Any], device: Any) -> bool:
    """The same, of tensors, or None, on a device."""
    return _device_has_foreach_support(device)

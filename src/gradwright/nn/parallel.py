"""``nn.parallel``: a module on several devices, of which there is one here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwright.base.absent import Absent
from gradwright.nn.module import Module

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]

DistributedDataParallel = Absent(
    "torch.nn.parallel.DistributedDataParallel",
    "batches are shared among processes by gradwright.distributed, which is another thing",
)


class DataParallel(Module):
    """Calls ``module``, whose names stand under "module." in state dictionaries, on the device where it is.

    ValueError for more than one device.
    """

    module: Any

    def __init__(self, module: Module, device_ids: Sequence[Any] | None = None, output_device: Any = None,
                 dim: int = 0) -> None:  # fmt: skip
        super().__init__()
        _one(device_ids)
        self.dim, self.device_ids, self.output_device = dim, list(device_ids or ()), output_device
        self.module = module

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module returns."""
        return self.module(*inputs, **kwargs)


def data_parallel(module: Module, inputs: Any, device_ids: Sequence[Any] | None = None, output_device: Any = None,
                  dim: int = 0, module_kwargs: dict[str, Any] | None = None) -> Any:  # fmt: skip
    """``module(*inputs, **module_kwargs)``, on the device where it is."""
    _one(device_ids)
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **module_kwargs or {})


def _one(device_ids: Sequence[Any] | None) -> None:
    if device_ids is not None and len(device_ids) > 1:
        raise ValueError(f"DataParallel: a module runs on one device here, but got {list(device_ids)}: for several see "
                         "gradwright.distributed")  # fmt: skip

"""Batch normalisation that in PyTorch takes the batches of all processes for one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from gradwright.nn.modules.norm import _BatchNorm

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType


class SyncBatchNorm(_BatchNorm):
    """`BatchNorm1d` of any number of dims from 2 on, which in PyTorch takes the batches of all processes for one.

    In one process that is the same. Where several compute together, training with it raises RuntimeError.

    >>> import gradwright as gw
    >>> SyncBatchNorm.convert_sync_batchnorm(gw.nn.Sequential(gw.nn.BatchNorm2d(2)))[0]
    SyncBatchNorm(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    _ndims = (2, 3, 4, 5)

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, process_group: Any = None, device: DeviceLike = None,
                 dtype: DType = None,
                 *, bias: bool = True) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")
        session = sys.modules.get("gradwright.distributed.session")
        if self.training and session is not None and session.get_world_size() > 1:
            raise RuntimeError("SyncBatchNorm: the batches of several processes are not taken for one: use a layer "
                               "that needs none, such as GroupNorm, or BatchNorm, of each process alone")  # fmt: skip

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """``module``, with a layer of this class, with the same parameters and buffers, for each `BatchNorm` in it."""
        for name, child in module.named_children():
            setattr(module, name, cls.convert_sync_batchnorm(child, process_group))
        if not isinstance(module, _BatchNorm):
            return module
        new = cls(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                  process_group, bias=module.bias is not None)  # fmt: skip
        new._parameters.update(module._parameters)
        new._buffers.update(module._buffers)
        new.training = module.training
        return new

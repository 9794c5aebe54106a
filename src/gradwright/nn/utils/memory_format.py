"""The memory of convolutions' weights laid out in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from gradwright.engine.grad_mode import no_grad
from gradwright.nn.module import Module

if TYPE_CHECKING:
    from gradwright.face.typing import MemoryFormat

M = TypeVar("M", bound=Module)

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _convert(module: M, memory_format: MemoryFormat, *kinds: str) -> M:
    layers = [layer for layer in module.modules() if any(base.__name__ in kinds for base in type(layer).__mro__)]
    with no_grad():
        for layer in layers:
            if layer.weight is not None:
                layer.weight.data = layer.weight.detach().clone().contiguous(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module: M, memory_format: MemoryFormat) -> M:
    """``module``, with the weights of `Conv2d` and `ConvTranspose2d` in it in this order; the numbers stay."""
    return _convert(module, memory_format, "Conv2d", "ConvTranspose2d")


def convert_conv3d_weight_memory_format(module: M, memory_format: MemoryFormat) -> M:
    """``module``, with the weights of `Conv3d` and `ConvTranspose3d` in it in this order; the numbers stay."""
    return _convert(module, memory_format, "Conv3d", "ConvTranspose3d")

"""What a module does to all its parameters and buffers at once: convert them, empty them, let them be trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Self

from gradwright.backends.devices import CPU, cuda, place
from gradwright.base import dtypes
from gradwright.engine.grad_mode import no_grad
from gradwright.face import creation
from gradwright.face.reading.torch import destination
from gradwright.nn.parameter import is_lazy
from gradwright.nn.tree import Tree


class Converted(Tree):
    """The part of `Module` that changes parameters and buffers, here and below, and returns the module.

    Parameters stay the same objects, and keep their gradients, which are converted, too; buffers are replaced.
    """

    @no_grad()
    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Self:
        """Put ``fn(t)`` in place of every parameter, gradient and buffer ``t``. All conversions end here."""
        if recurse:
            for child in self.children():
                child._apply(fn)
        for parameter in self.parameters(recurse=False):
            parameter.data = fn(parameter.data)
            if not is_lazy(parameter) and parameter.grad is not None:
                parameter.grad.data = fn(parameter.grad.data)
        for name, buffer in self._buffers.items():
            self._buffers[name] = None if buffer is None else fn(buffer)
        return self

    def to(self, *args: Any, dtype: Any = None, device: Any = None, non_blocking: bool = False,
           memory_format: Any = None) -> Self:  # fmt: skip
        """Convert every floating-point parameter, its gradient and every such buffer.

        Takes a dtype, a device, to which everything moves, both, or a tensor to be like. Complex tensors stay complex.
        A ``memory_format`` is given to what has 4 or 5 dims.

        Raises TypeError for a dtype that is neither floating-point nor complex, or for two, RuntimeError for another
        device.
        """
        dtype, device, _ = destination(args, dtype, device)

        def memory(t: Any) -> dict[str, Any]:
            return {} if memory_format is None or t.dim() not in (4, 5) else {"memory_format": memory_format}

        if dtype is None:
            if memory_format is not None:
                return self._apply(lambda t: t.to(device, **memory(t)))
            return self if device is None else self._apply(lambda t: t.to(device))
        target = dtypes.of(dtype)
        if not target.is_floating_point and not target.is_complex:
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={target}"
            )

        def converted(t: Any) -> Any:
            fits = t.is_floating_point() or (target.is_complex and t.is_complex())
            return t.to(dtype=target if fits else None, device=device, **memory(t))

        return self._apply(converted)

    def type(self, dst_type: Any) -> Self:
        """Convert every parameter and buffer, whatever its dtype. RuntimeError if a parameter cannot be of it."""
        return self._apply(lambda t: t.to(dst_type))

    def double(self) -> Self:
        """``to(float64)``."""
        return self.to(dtypes.float64)

    def half(self) -> Self:
        """``to(float16)``."""
        return self.to(dtypes.float16)

    def bfloat16(self) -> Self:
        """``to(bfloat16)``, which needs ml_dtypes."""
        return self.to(dtypes.bfloat16)

    def float(self) -> Self:
        """``to(float32)``."""
        return self.to(dtypes.float32)

    def cpu(self) -> Self:
        """``to("cpu")``."""
        return self.to(CPU)

    def cuda(self, device: Any = None) -> Self:
        """``to("cuda")``, or to the device of that number; RuntimeError where there is none."""
        return self.to(cuda(device))

    def ipu(self, device: Any = None) -> Self:
        """RuntimeError: there is no such device."""
        return self.to("ipu")

    def xpu(self, device: Any = None) -> Self:
        """RuntimeError: there is no such device."""
        return self.to("xpu")

    def mtia(self, device: Any = None) -> Self:
        """RuntimeError: there is no such device."""
        return self.to("mtia")

    def share_memory(self) -> NoReturn:
        """RuntimeError: parameters cannot be shared between processes."""
        raise RuntimeError("share_memory is not offered: the memory of a tensor belongs to one process. "
                           "Threads share it anyway; another process can be sent a state_dict().")  # fmt: skip

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Give every parameter and buffer new memory, whose values are whatever it holds."""
        return self._apply(lambda t: t if is_lazy(t) else creation.empty_like(t, device=place(device)), recurse)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set ``requires_grad`` of every parameter."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradient of every parameter, or else fill it with zeros and cut its history."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif (grad := parameter.grad) is not None:
                (grad.requires_grad_(False) if grad.is_leaf else grad.detach_()).zero_()

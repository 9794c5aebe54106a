"""Layers with parameters of their own: made from their shapes, filled by `reset_parameters`, possibly only later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright.base.errors import kind
from gradwright.engine.grad_mode import no_grad
from gradwright.face import creation
from gradwright.nn.module import Module
from gradwright.nn.parameter import Parameter

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType


class Parametric(Module):
    """A layer that says what shapes its parameters have. Its ``__init__`` sets the sizes, then calls `_allocate`.

    A lazy layer is one whose `_allocate` waits for the first input; see `gradwright.nn.modules.lazy_layers`.
    """

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of weight and bias, and of whatever else there is, by name."""
        raise NotImplementedError

    def _allocate(self, device: DeviceLike, dtype: DType, without: Sequence[str] = ()) -> None:
        """Register the parameters, those ``without`` which the layer is as None, and fill them."""
        for name, shape in self._shapes().items():
            made = None if name in without else Parameter(creation.empty(shape, device=device, dtype=dtype))
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Fill the parameters anew; a subclass defines it."""
        raise NotImplementedError

    @no_grad()
    def _draw_within(self, fan: int) -> None:
        """Draw the parameters from U(-1/sqrt(fan), 1/sqrt(fan)); all are 0 if ``fan`` is."""
        bound = fan**-0.5 if fan else 0.0
        for name in self._shapes():
            parameter = self._parameters[name]
            if parameter is not None:
                parameter.uniform_(-bound, bound)


def check_whole(layer: Module, **sizes: Any) -> None:
    """TypeError for a size that is no whole number, by its name and that of the layer."""
    for name, value in sizes.items():
        if not hasattr(value, "__index__"):
            raise TypeError(f"{type(layer).__name__}(): argument '{name}' must be int, not {kind(value)}")

"""``torch.nn.grad``: the gradients of convolutions by their input and by their weight, as functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradwright.engine.calls import grad
from gradwright.engine.grad_mode import enable_grad, inference_mode
from gradwright.engine.mode import is_grad_enabled, is_inference_mode_enabled
from gradwright.face import creation
from gradwright.nn import functional as F

if TYPE_CHECKING:
    from gradwright.face.typing import ByInput, ByWeight

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _savable(t: Any) -> Any:
    """``t``, or a copy that a recorded operation can save."""
    return t.clone() if t.is_inference() else t


def _gradient(n: int, by: str) -> Any:
    conv = getattr(F, f"conv{n}d")

    def by_input(input_size: Sequence[int], weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0,
                 dilation: Any = 1, groups: int = 1) -> Any:  # fmt: skip
        return gradient(input_size, weight, grad_output,
                        lambda x, weight: conv(x, weight, None, stride, padding, dilation, groups))  # fmt: skip

    def by_weight(input: Any, weight_size: Sequence[int], grad_output: Any, stride: Any = 1, padding: Any = 0,
                  dilation: Any = 1, groups: int = 1) -> Any:  # fmt: skip
        return gradient(weight_size, input, grad_output,
                        lambda w, input: conv(input, w, None, stride, padding, dilation, groups))  # fmt: skip

    def gradient(of: Sequence[int], other: Any, cotangent: Any, function: Callable[[Any, Any], Any]) -> Any:
        recorded = is_grad_enabled()
        with inference_mode(False), enable_grad():
            x = creation.zeros(of, dtype=other.dtype, device=other.device, requires_grad=True)
            out = grad(function(x, _savable(other)), x, _savable(cotangent), create_graph=recorded)[0]
        return out.clone() if is_inference_mode_enabled() else out

    call = by_input if by == "input" else by_weight
    call.__name__ = call.__qualname__ = f"conv{n}d_{by}"
    call.__doc__ = (f"The gradient of `functional.conv{n}d` by its {by}, of the size given, for the cotangent "
                    "``grad_output`` of its result; itself recorded.")  # fmt: skip
    return call


conv1d_input: ByInput = _gradient(1, "input")
conv2d_input: ByInput = _gradient(2, "input")
conv3d_input: ByInput = _gradient(3, "input")
conv1d_weight: ByWeight = _gradient(1, "weight")
conv2d_weight: ByWeight = _gradient(2, "weight")
conv3d_weight: ByWeight = _gradient(3, "weight")

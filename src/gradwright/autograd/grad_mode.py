"""Whether operations are recorded."""

from gradwright.engine.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from gradwright.engine.mode import is_grad_enabled, is_inference_mode_enabled

__all__ = [
    "enable_grad", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled", "no_grad", "set_grad_enabled",
]  # fmt: skip

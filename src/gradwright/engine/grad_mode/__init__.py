"""Whether operations are recorded, as context managers and decorators."""

from gradwright.engine.grad_mode.switches import enable_grad, inference_mode, no_grad, set_grad_enabled, set_recording

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled", "set_recording"]

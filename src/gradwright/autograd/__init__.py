"""The engine, its extension contract and its checkers, under PyTorch's names."""

from gradwright.autograd.function import Function
from gradwright.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from gradwright.autograd.public import backward, grad

__all__ = ["Function", "backward", "enable_grad", "grad", "inference_mode", "no_grad", "set_grad_enabled"]

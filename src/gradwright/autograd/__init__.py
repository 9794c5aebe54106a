"""The engine, its extension contract and its checkers, under PyTorch's names."""

from gradwright.autograd import graph
from gradwright.autograd.function import Function
from gradwright.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from gradwright.autograd.gradcheck import gradcheck, gradgradcheck
from gradwright.autograd.node import Node
from gradwright.autograd.public import Variable, backward, grad
from gradwright.errors import GradcheckError

__all__ = [
    "Function", "GradcheckError", "Node", "Variable", "backward", "enable_grad", "grad", "gradcheck", "gradgradcheck",
    "graph", "inference_mode", "no_grad", "set_grad_enabled",
]  # fmt: skip

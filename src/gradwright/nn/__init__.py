"""Modules: parameters, layers and their containers, under PyTorch's names."""

from gradwright.nn import functional
from gradwright.nn.activation import LogSoftmax, ReLU, Sigmoid, Softmax, Softplus, Tanh
from gradwright.nn.container import ModuleDict, ModuleList, Sequential
from gradwright.nn.linear import Identity, Linear
from gradwright.nn.module import Module
from gradwright.nn.parameter import Parameter

__all__ = [
    "functional", "Identity", "Linear", "LogSoftmax", "Module", "ModuleDict", "ModuleList", "Parameter", "ReLU",
    "Sequential", "Sigmoid", "Softmax", "Softplus", "Tanh",
]  # fmt: skip

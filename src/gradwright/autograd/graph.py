"""Nodes, edges, hooks on several tensors and on what is saved."""

from gradwright.base.lazy import lazy
from gradwright.engine.edges import GradientEdge, get_gradient_edge, increment_version, register_multi_grad_hook
from gradwright.engine.node import Node
from gradwright.engine.saved_hooks import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip

lazy(__name__)

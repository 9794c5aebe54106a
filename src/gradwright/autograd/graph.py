"""What PyTorch has in ``torch.autograd.graph``: nodes, hooks on saved tensors, edges of the graph."""

from __future__ import annotations

from gradwright.autograd.node import Node
from gradwright.autograd.saved import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)

__all__ = [
    "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip

"""What the programs of the suite share: seeded inputs that are the same on both libraries, and results to compare."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch

_generator = np.random.default_rng(0)


def rand(*shape: int, dtype: Any = None) -> Any:
    """A tensor of numbers from the normal distribution."""
    return torch.tensor(_generator.standard_normal(shape), dtype=dtype or torch.float32)


def positive(*shape: int, dtype: Any = None) -> Any:
    """A tensor of numbers between 0.1 and 1."""
    return torch.tensor(_generator.uniform(0.1, 1.0, shape), dtype=dtype or torch.float32)


def whole(high: int, *shape: int) -> Any:
    """A tensor of whole numbers below ``high``."""
    return torch.tensor(_generator.integers(0, high, shape))


def fill(module: Any, scale: float = 0.3) -> Any:
    """Give the parameters of a module seeded values, by their names' order; returns the module."""
    with torch.no_grad():
        for _, p in sorted(module.named_parameters(), key=lambda pair: pair[0]):
            p.copy_(torch.tensor(_generator.standard_normal(tuple(p.shape)) * scale, dtype=p.dtype))
    return module


def gradients(module: Any) -> dict[str, Any]:
    """The gradients of a module's parameters by name."""
    return {f"grad {name}": p.grad for name, p in module.named_parameters() if p.grad is not None}


def trained(make: Any, steps: int = 8, **options: Any) -> dict[str, Any]:
    """Parameters after some steps of an optimiser on a small network."""
    net = fill(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)))
    x, y = rand(16, 4), rand(16, 1)
    optimizer = make(net.parameters(), **options)
    for _ in range(steps):

        def closure() -> Any:
            optimizer.zero_grad()
            loss = ((net(x) - y) ** 2).mean()
            loss.backward()
            return loss

        closure()
        optimizer.step()
    return dict(net.named_parameters())


def show(**results: Any) -> None:
    """Keep the results of a program where the comparison finds them."""
    flat: dict[str, Any] = {}

    def add(name: str, value: Any) -> None:
        if isinstance(value, dict):
            for k, v in value.items():
                add(f"{name}.{k}", v)
        elif isinstance(value, (tuple, list)) and not all(isinstance(v, (int, float)) for v in value):
            for k, v in enumerate(value):
                add(f"{name}.{k}", v)
        elif value is not None:
            flat[name] = value.detach().cpu().numpy() if hasattr(value, "detach") else np.asarray(value)

    add("", results)
    np.savez(os.environ["WILD_OUT"], **flat)

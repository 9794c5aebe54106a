"""Compiled steps of deep networks: 2 to 128 layers of Linear(16, 16) and Tanh, against PyTorch and eager steps.

A layer has so little to compute that what a call does besides shows, which must grow no faster than the network.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import gradwright
from benchmarks.compiled import compiled
from benchmarks.runner import Case, timed

_LAYERS = (2, 8, 32, 128)


def training(lib: Any, layers: int, optimizer: str) -> Callable[[], Any]:
    """A step of such a network, which returns its loss."""
    rng = np.random.default_rng(0)
    net = lib.nn.Sequential(*(m for _ in range(layers) for m in (lib.nn.Linear(16, 16), lib.nn.Tanh())))
    with lib.no_grad():
        for p in net.parameters():
            p.copy_(lib.from_numpy(rng.uniform(-0.25, 0.25, tuple(p.shape)).astype(np.float32)))
    x, y = (lib.from_numpy(rng.normal(size=(16, 16)).astype(np.float32)) for _ in range(2))
    optim = lib.optim.Adam(net.parameters()) if optimizer == "Adam" else lib.optim.SGD(net.parameters(), lr=0.01)

    def step() -> Any:
        optim.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optim.step()
        return loss

    return step


def against(name: str, limit: float, ours: Callable[[], Any], theirs: Callable[[], Any]) -> Case:
    """A case of two steps, made when they are measured."""
    return timed(name, limit=limit)(lambda lib: quiet(ours() if lib is gradwright else theirs()))


def quiet(step: Callable[[], Any]) -> Callable[[], None]:
    """A step that returns nothing to compare, since the two have been called differently often before."""

    def run() -> None:
        step()

    return run


def _made(layers: int, optimizer: str, backend: str) -> Callable[[], Any]:
    return compiled(gradwright, training(gradwright, layers, optimizer), backend)


def _torch(layers: int, optimizer: str) -> Callable[[], Any]:
    import torch

    return training(torch, layers, optimizer)


def _cases() -> dict[str, Case]:
    found = {}
    for optimizer in ("SGD", "Adam"):
        for n in _LAYERS:
            c, plan = (partial(_made, n, optimizer, backend) for backend in ("c", "plan"))
            eager = partial(training, gradwright, n, optimizer)
            what = f"{n} layers, {optimizer}"
            found[f"torch_{optimizer}_{n}"] = against(f"compiled (c) / PyTorch: {what}", 0.12, c,
                                                      partial(_torch, n, optimizer))  # fmt: skip
            found[f"c_{optimizer}_{n}"] = against(f"compiled (c) / eager: {what}", 0.35, c, eager)
            found[f"plan_{optimizer}_{n}"] = against(f"compiled (plan) / eager: {what}", 1.0, plan, eager)
        few, many = (partial(_made, n, optimizer, "c") for n in (8, 128))
        found[f"growth_{optimizer}"] = against(f"compiled (c), 128 layers / 8: {optimizer}", 18, many, few)
    return found


globals().update(_cases())

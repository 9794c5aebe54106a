"""Random operations: the same distribution instead of the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from oracle import resolve
from oracle.compare import tensors_in
from oracle.convert import numpy_of

DRAWS = 300


def unseeded(op: Callable[..., Any]) -> Callable[..., Any]:
    """The database's function without the seed that it sets before each call; another function as it is."""
    if hasattr(op, "rewrap"):  # an in-place form, see forms.py
        free = unseeded(op.wrapped)
        return op if free is op.wrapped else op.rewrap(free)
    if not resolve.from_database(op) or "wrapper_set_seed" not in op.__code__.co_names:
        return op
    copy = resolve.rewritten(op)
    copy.__globals__["torch"] = torch
    return copy


def is_random(case: Any, op: Callable[..., Any], expected: Any) -> bool:
    """Whether this sample gives other numbers for one of a few other seeds."""
    free = unseeded(op)
    if free is op:
        return False
    process = case.sample.output_process_fn_grad
    first = tensors_in(process(expected))
    for seed in range(1, 9):
        torch.manual_seed(seed)
        again = tensors_in(process(case.torch(free)))
        if not all(np.allclose(numpy_of(e), numpy_of(a), equal_nan=True) for e, a in zip(first, again, strict=True)):
            return True
    return False


def difference(case: Any, op: Callable[..., Any], expected: Any) -> str | None:
    """Compare mean and variance over `DRAWS` calls of both; seven standard errors are allowed."""
    if sum(t.numel() for t in tensors_in(expected)) > 100_000:
        return None
    theirs = _moments([tensors_in(case.torch(unseeded(case.entry.op))) for _ in range(DRAWS)])
    ours = _moments([tensors_in(case.gradwright(op)) for _ in range(DRAWS)])
    for e, g in zip(theirs, ours, strict=True):
        for what, (x, y) in {"mean": (e[0], g[0]), "variance": (e[1], g[1])}.items():
            scale = max(x.std(), y.std(), 1e-12)
            if abs(x.mean() - y.mean()) > 7 * scale * (2 / DRAWS) ** 0.5:
                return f"{what} of the results: expected {x.mean():.5g}, got {y.mean():.5g} over {DRAWS} calls"
    return None


def _moments(draws: list[list[Any]]) -> list[tuple[Any, Any]]:
    """Per output: mean and mean square deviation of each draw."""
    found = []
    for outputs in zip(*draws, strict=True):
        values = np.stack([numpy_of(o).astype(complex).ravel() for o in outputs])
        if values.shape[1] == 0:
            continue
        centre = values.mean()
        found.append((values.real.mean(1), (abs(values - centre) ** 2).mean(1)))
    return found

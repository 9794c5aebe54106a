"""A program of steps under way in one of two libraries, and what is compared of it."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

import gradwright
from tests.autograd.random_programs.language import CHANGES, OVERWRITES, STEPS

Step = tuple[str, int, int, int, str]
"""What to do, to which tensor of the pool, with which other one, with which number, and in which mode."""

FAILURES = (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError)

ODD = (
    "unsupported operation",  # operands that overlap are refused by PyTorch only; some writes to expanded memory, by us
)


class Run:
    """A program under way in one of the libraries."""

    def __init__(self, T: ModuleType) -> None:
        self.T = T
        data = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], [0.3, 0.6, -0.9], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        self.pool = [T.tensor(d, dtype=T.float64) for d in data]
        self.leaves = self.pool[:2]
        for x in self.leaves:
            x.requires_grad_()
        self.pool.append(self.pool[0] * 1.0)
        self.modes = {"grad": T.enable_grad, "no_grad": T.no_grad, "inference": T.inference_mode}

    def step(self, name: str, i: int, j: int, k: int, mode: str) -> str | None:
        """One step on two tensors of the pool; the error, if it was refused."""
        x, y = self.pool[-1 - i % len(self.pool)], self.pool[-1 - j % len(self.pool)]
        try:
            if name in CHANGES and y is not x and np.shares_memory(raw(x), raw(y)):
                y = y.detach().clone() if k % 2 else y.clone()
            with self.modes[mode]():
                out = STEPS[name](self.T, x, y if y is not x else x.detach().clone(), k)
        except FAILURES as e:
            return str(e)
        if name not in CHANGES and not any(out is t for t in self.pool):
            self.pool.append(out)
        return None

    def state(self) -> list[Any]:
        return [facts(t) for t in self.pool]

    def gradients(self) -> list[Any] | str:
        """First and second gradients of the leaves; the error, if it was refused."""
        ends = []
        for k, t in enumerate(self.pool):
            if t.is_inference() or facts(t)[1] is None or not t.requires_grad:
                continue
            ends.append((t * t).sum() * (k + 1))
        leaves = [x for x in self.leaves if x.requires_grad]
        if not leaves or not ends:
            return []
        try:
            first = self.T.autograd.grad(sum(ends), leaves, create_graph=True, allow_unused=True)
            more = [g.sin().sum() for g in first if g is not None and g.requires_grad]
            second = self.T.autograd.grad(sum(more), leaves, allow_unused=True) if more else ()
        except FAILURES as e:
            return str(e)
        return [np.zeros(()) if g is None or not g.any() else raw(g) for g in (*first, *second)]


def raw(t: Any) -> Any:
    return t.numpy(force=True)


def facts(t: Any) -> tuple[Any, ...]:
    """What may be seen of a tensor."""
    try:
        leaf = t.is_leaf
    except RuntimeError:
        leaf = None
    version = None if t.is_inference() else t._version
    grad = None if leaf is None or t.grad is None else raw(t.grad).copy()
    return (version, leaf, t.requires_grad, t._is_view(), t.is_inference(), t.is_contiguous(), t.stride(),
            t.storage_offset(), grad, raw(t).copy())  # fmt: skip


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, np.ndarray):
        if not isinstance(ours, np.ndarray) or ours.shape != theirs.shape:
            return False
        scale = max(1.0, np.nanmax(np.abs(theirs), initial=0.0, where=np.isfinite(theirs)))
        return np.allclose(ours, theirs, rtol=1e-8, atol=1e-9 * scale, equal_nan=True)
    if isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return bool(ours == theirs)


FACTS = ("version", "leaf", "requires_grad", "view", "inference", "contiguous", "stride", "offset", "grad", "values")


def difference(torch: ModuleType, program: list[Step]) -> str | None:
    """How the two libraries differ on a program, if they do."""
    ours, theirs = Run(gradwright), Run(torch)
    for step in program:
        a, b = ours.step(*step), theirs.step(*step)
        if any(e is not None and e.startswith(ODD) for e in (a, b)) and (a is None or b is None):
            return None
        if (a is None) != (b is None):
            return f"{step[0]} {step[4]}: gradwright {a or 'accepts'!r}, PyTorch {b or 'accepts'!r}"
        for n, (f, g) in enumerate(zip(ours.state(), theirs.state(), strict=True)):
            for what, p, q in zip(FACTS, f, g, strict=True):
                if not same(p, q):
                    return f"{step[0]} {step[4]}: {what} of tensor {n}: gradwright {p!r}, PyTorch {q!r}"
    a, b = ours.gradients(), theirs.gradients()
    if isinstance(b, str) and not isinstance(a, str):
        # PyTorch still runs the history of what has been overwritten whole.
        if "modified by an inplace" in b and any(name in OVERWRITES or name == "put at" for name, *_ in program):
            return None
        return f"gradients: gradwright accepts, PyTorch {b!r}"
    if isinstance(a, str) != isinstance(b, str):
        return f"gradients: gradwright {a!r}, PyTorch accepts"
    return None if isinstance(a, str) or same(a, b) else f"gradients: gradwright {a!r}, PyTorch {b!r}"

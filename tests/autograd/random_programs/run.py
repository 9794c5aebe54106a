"""A program of steps under way in one of two libraries, and what is compared of it."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

import gradwright
from tests.autograd.random_programs.language import CHANGES, ORDINARY, OVERWRITES, REARRANGES, STEPS

Step = tuple[str, int, int, int, str]
"""What to do, to which tensor of the pool, with which other one, with which number, and in which mode."""

FAILURES = (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError, ZeroDivisionError)

ODD = (
    "Trying to resize storage that is not resizable",  # so is in PyTorch what has been seen as an array
    "cannot resize variables that require grad",  # PyTorch lets it pass in inference mode, and the history is wrong then
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
        self.done: list[Step] = []
        self.modes = {"grad": T.enable_grad, "no_grad": T.no_grad, "inference": T.inference_mode}

    def step(self, name: str, i: int, j: int, k: int, mode: str) -> str | None:
        """One step on two tensors of the pool; the error, if it was refused."""
        self.done.append((name, i, j, k, mode))
        x, y = self.pool[-1 - i % len(self.pool)], self.pool[-1 - j % len(self.pool)]
        if name in REARRANGES and (mode == "inference" or mode == "no_grad" and name.endswith("_")) and x.requires_grad:
            return None  # PyTorch notes nothing of it then, and its history no longer fits the tensor
        if name == "set data" and mode == "inference":
            return None  # that would make the tensor itself one of inference mode
        try:
            if name in CHANGES and y is not x and np.shares_memory(raw(x), raw(y)):
                y = (y.detach() if k % 2 else y).clone().contiguous()
            if y is x:
                y = x.detach().clone().contiguous()
            with self.modes[mode]():
                out = STEPS[name](self.T, x, y, k)
                if name in ORDINARY:
                    out = out.contiguous() * 1  # in what order new memory is laid out is each library's own affair
        except FAILURES as e:
            return str(e)
        if name not in CHANGES and not any(out is t for t in self.pool):
            self.pool.append(out)
        return None

    def state(self) -> list[Any]:
        return [facts(t) for t in self.pool]

    def kept(self) -> Any:
        """The gradients of the same program, if everything saved for backward is kept as it was."""
        with self.T.autograd.graph.allow_mutation_on_saved_tensors():
            again = Run(self.T)
            for step in self.done:
                again.step("keep" if step[0] == "backward" else step[0], *step[1:])
            return again.gradients()

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
    """The memory of a tensor. (What gradwright hands out as an array it watches, of which `.data` knows nothing.)"""
    return np.asarray(t.array) if isinstance(t, gradwright.Tensor) else t.numpy(force=True)


def steps(t: Any) -> list[int]:
    """The strides that say anything."""
    return [s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1 and t.numel()]


def facts(t: Any) -> tuple[Any, ...]:
    """What may be seen of a tensor."""
    try:
        leaf = t.is_leaf
    except RuntimeError:
        leaf = None
    version = None if t.is_inference() else t._version
    grad = None if leaf is None or t.grad is None or not t.grad.any() else raw(t.grad).copy()
    return (version, leaf, t.requires_grad, t._is_view(), t.is_inference(), t.is_contiguous(), steps(t),
            t.storage_offset() if t.numel() else 0, grad, raw(t).copy())  # fmt: skip


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
        if "INTERNAL ASSERT FAILED" in (b or ""):
            return None
        if any(e is not None and e.startswith(ODD) for e in (a, b)) and (a is None or b is None):
            return None
        if (a is None) != (b is None):
            return f"{step[0]} {step[4]}: gradwright {a or 'accepts'!r}, PyTorch {b or 'accepts'!r}"
        if (b or "").startswith("Inplace update to inference tensor"):
            return None  # PyTorch refuses when it has been written
        for n, (f, g) in enumerate(zip(ours.state(), theirs.state(), strict=True)):
            for what, p, q in zip(FACTS, f, g, strict=True):
                if not same(p, q):
                    return f"{step[0]} {step[4]}: {what} of tensor {n}: gradwright {p!r}, PyTorch {q!r}"
    a, b = ours.gradients(), theirs.gradients()
    if isinstance(b, str) and not isinstance(a, str) and ("modified by an inplace" in b or "second time" in b):
        # PyTorch saves more than it needs, and runs the history of what has been overwritten: what it refuses must be
        # what it says when it keeps all it saved
        b = theirs.kept()
    if isinstance(a, str) != isinstance(b, str):
        return f"gradients: gradwright {a!r}, PyTorch {b!r}"
    return None if isinstance(a, str) or same(a, b) else f"gradients: gradwright {a!r}, PyTorch {b!r}"

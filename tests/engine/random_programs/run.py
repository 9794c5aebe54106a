"""A program of steps under way in one of two libraries, and what is compared of it."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

import gradwright
from gradwright import backends
from gradwright.engine.base import wrap
from gradwright.engine.memory import layout
from tests.engine.random_programs.language import CHANGES, ORDINARY, REARRANGES, STEPS, VIEWS

Step = tuple[str, int, int, int, str]
"""What to do, to which tensor of the pool, with which other one, with which number, and in which mode."""

FAILURES = (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError, ZeroDivisionError)

ODD = (
    "Trying to resize storage that is not resizable",  # so is in PyTorch what has been seen as an array
    "cannot resize variables that require grad",  # PyTorch lets it pass in inference mode, and spoils the history
    "unsupported operation",  # operands that overlap are refused by PyTorch only; some writes to expanded memory, by us
)
"""What only one of the two refuses, and may."""

HALF_DONE = (
    "A view was created in inference mode",
    "Inplace update to inference tensor",
    "Trying to backward through the graph a second time",
    "one of the variables needed for gradient computation",
    "out != nullptr INTERNAL ASSERT FAILED",
)
"""What both refuse, but PyTorch after it has changed something: the memory, a history, or some of the gradients."""

OVERCAUTIOUS = ("one of the variables needed for gradient", "Trying to backward through the graph a second time")
"""What PyTorch refuses as it saves more than it needs, and runs the history of what has been overwritten whole.

Where it does not when it is made to keep all that it saved, what it says then must be what gradwright says.
"""

UNTOLD = (
    "Output ", "A view was created in",  # a node saved a view that may not be used any more, needed or not
    "Trying to use a saved tensor that has been detached in-place",  # which is as good as any other
    "unsupported operation",  # expanded memory was filled, which went well
    "setStorage",  # a view of what has been resized
)  # fmt: skip
"""Gradients that only PyTorch refuses to compute."""


class Over:
    """gradwright, whose tensors are made over the arrays of a library, which are never written."""

    def __init__(self, library: str) -> None:
        self.library = library

    def __getattr__(self, name: str) -> Any:
        return getattr(gradwright, name)

    def tensor(self, data: Any, dtype: Any = None) -> Any:
        space = importlib.import_module(f"gradwright.backends.{self.library}").namespace
        return wrap(space.asarray(gradwright.tensor(data, dtype=dtype).numpy(), copy=True))


class Run:
    """A program under way in one of the libraries; ``shift`` moves its numbers by that much of themselves."""

    def __init__(self, T: Any, shift: float = 0.0) -> None:
        self.T, self.shift = T, shift
        data = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], [0.3, 0.6, -0.9], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        self.pool = [T.tensor(np.multiply(d, 1 + shift), dtype=T.float64) for d in data]
        self.leaves = self.pool[:2]
        for x in self.leaves:
            x.requires_grad_()
        self.pool.append(self.pool[0] * 1.0)
        self.done: list[Step] = []
        self.rearranged: list[Any] = []
        self.modes = {"grad": T.enable_grad, "no_grad": T.no_grad, "inference": T.inference_mode}

    def step(self, name: str, i: int, j: int, k: int, mode: str) -> str | None:
        """One step on two tensors of the pool; the error, if it was refused."""
        self.done.append((name, i, j, k, mode))
        x, y = self.pool[-1 - i % len(self.pool)], self.pool[-1 - j % len(self.pool)]
        noted = mode == "grad" or (mode == "no_grad" and not name.endswith("_"))
        if name in REARRANGES and not noted and (x.requires_grad or name == "detach_"):
            return None  # PyTorch notes nothing of it then, and its history no longer fits the tensor
        if name in ("set data", "thaw") and mode == "inference":
            return None  # it would make the tensor itself one of inference mode, or one of that mode need a gradient
        if name in ("hook", "retain") and any(x is t for t in self.rearranged):
            return None  # PyTorch hangs views made before under the rearranged tensor; here they hang beside it
        if name.startswith(("as_strided", "resize", "shrink", "put at")) and not x.numel():
            return None  # where nothing lies is each library's own affair
        if name in ("set", "set data") and any(t._base is x for t in self.pool):
            return None  # they would go on as views of what no longer shows their memory
        try:
            if name in CHANGES and y is not x and np.shares_memory(lying(x), lying(y)):
                y = (y.detach() if k % 2 else y).clone().contiguous()
            if y is x:
                y = x.detach().clone().contiguous()
            with self.modes[mode]():
                out = STEPS[name](self.T, x, y, k)
                if name in ORDINARY:
                    out = out.contiguous() * 1  # in what order new memory is laid out is each library's own affair
        except FAILURES as e:
            return str(e)
        if name in REARRANGES:
            self.rearranged.append(x)
        if name not in CHANGES and not any(out is t for t in self.pool):
            self.pool.append(out)
        return None

    def state(self) -> list[Any]:
        return [facts(t) for t in self.pool]

    def grads(self) -> list[Any]:
        return [grad for _, grad, _ in self.state()]

    def kept(self, look: Callable[[Run], Any]) -> Any:
        """What is seen of the same program if everything saved for backward is kept as it was.

        Not by `allow_mutation_on_saved_tensors`: PyTorch's goes by addresses, and takes new memory for freed memory.
        """
        with self.T.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
            return look(self.again())

    def again(self) -> Run:
        """The same program anew, its graphs outliving their use."""
        again = Run(self.T, self.shift)
        for name, *rest in self.done:
            again.step("keep" if name == "backward" else name, *rest)
            again.state()  # a view in PyTorch may change by being looked at
        return again

    def gradients(self) -> list[Any] | str:
        """First and second gradients of the leaves; the error, if it was refused."""
        ends = []
        for k, t in enumerate(self.pool):
            if t.is_inference() or facts(t)[0][1] is None or not t.requires_grad:
                continue
            ends.append((t * t).sum() * (k + 1))
        leaves = [x for x in self.leaves if x.requires_grad]
        if not leaves or not ends:
            return []
        try:
            first = self.T.autograd.grad(sum(ends), leaves, create_graph=True, allow_unused=True)
            more = [(g / size(g)).sin().sum() for g in first if g is not None and g.requires_grad]
            second = self.T.autograd.grad(sum(more), leaves, allow_unused=True) if more else ()
        except FAILURES as e:
            return str(e)
        return [np.zeros(()) if g is None or not raw(g).any() else raw(g) for g in (*first, *second)]


def size(t: Any) -> float:
    """The largest of its values, at least 1: the sine of a huge number says nothing of its digits."""
    return max(1.0, float(np.nan_to_num(np.abs(raw(t))).max(initial=0)))


def raw(t: Any) -> Any:
    """The values of a tensor. (What gradwright hands out as an array it watches, of which `.data` knows nothing.)"""
    return np.asarray(backends.to_host(t.array)) if isinstance(t, gradwright.Tensor) else t.numpy(force=True)


def lying(t: Any) -> Any:
    """An array that lies in memory as a tensor does."""
    return np.asarray(layout(t)) if isinstance(t, gradwright.Tensor) else t.numpy(force=True)


def facts(t: Any) -> tuple[Any, ...]:
    """What may be seen of a tensor: flags, gradient, values."""
    try:
        leaf = t.is_leaf
    except RuntimeError:
        leaf = None
    aside, n, grad = t.is_inference(), t.numel(), None
    if leaf is not None and t.grad is not None and np.abs(raw(t.grad)).max(initial=0) > 1e-9:
        grad = raw(t.grad).copy()
    strides = [s for s, m in zip(t.stride(), t.shape, strict=True) if m > 1 and n]  # those that say anything
    flags = (None if aside else t._version, leaf, t.requires_grad, t._is_view(), aside, t.is_contiguous(), strides,
             t.storage_offset() if n else 0)  # fmt: skip
    return flags, grad, raw(t).copy()


def agree(found: Any, expected: Any) -> bool:
    """Whether two programs looked the same."""
    if isinstance(found, (list, tuple)) and isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(agree, found, expected))
    return same(found, expected)


def same(ours: Any, theirs: Any) -> bool:
    if type(ours) is not type(theirs):
        return False
    if isinstance(theirs, np.ndarray):
        if ours.shape != theirs.shape:
            return False
        if ours.tobytes() == theirs.tobytes():
            return True
        scale = max(1.0, np.nanmax(np.abs(theirs), initial=0.0, where=np.isfinite(theirs)))
        return np.allclose(ours, theirs, rtol=1e-8, atol=1e-9 * scale, equal_nan=True)
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return bool(ours == theirs)


FLAGS = ("version", "is_leaf", "requires_grad", "is_view", "is_inference", "is_contiguous", "stride", "storage_offset")


def difference(torch: ModuleType, program: list[Step]) -> str | None:
    """How the two libraries differ on a program, if they do and its numbers mean anything."""
    found = _difference(torch, program)
    return found if found and settled(torch, program) else None


def settled(torch: ModuleType, program: list[Step]) -> bool:
    """Whether PyTorch's own results stay the same if the numbers it begins with change in their last digits."""
    seen = []
    for shift in (0.0, 1e-14):
        run = Run(torch, shift)
        for step in program:
            run.step(*step)
            run.state()
        gradients = run.gradients()
        if isinstance(gradients, str):
            gradients = run.kept(Run.gradients)
        seen.append([[values for *_, values in run.state()], run.grads(), gradients])
    return same(*seen)


def _difference(torch: ModuleType, program: list[Step]) -> str | None:
    ours, theirs = Run(gradwright), Run(torch)
    for step in program:
        a, b = ours.step(*step), theirs.step(*step)
        if a is None and b is not None and b.startswith(OVERCAUTIOUS):
            return unlike(step[0], ours.grads(), theirs.kept(Run.grads))
        if (a is None) != (b is None):
            odd = (a or b or "").startswith(ODD) or "INTERNAL ASSERT FAILED" in (b or "")
            return None if odd else f"{step[0]} {step[4]}: gradwright {a or 'accepts'!r}, PyTorch {b or 'accepts'!r}"
        if b is not None and b.startswith(HALF_DONE):
            return None
        for n, (f, g) in enumerate(zip(ours.state(), theirs.state(), strict=True)):
            for what, p, q in zip(("flags", "grad", "values"), f, g, strict=True):
                if found := unlike(f"{step[0]} {step[4]}: {what} of tensor {n}", p, q):
                    return f"{found} ({', '.join(FLAGS)})" if what == "flags" else found
    a, b = ours.gradients(), theirs.gradients()
    if isinstance(b, str) and not isinstance(a, str) and b.startswith(OVERCAUTIOUS):
        b = theirs.kept(Run.gradients)
        if any(name == "data" for name, *_ in program):
            a = ours.kept(Run.gradients)  # of what was written through it neither library knows
    if isinstance(b, str) and (isinstance(a, str) or b.startswith(UNTOLD)):
        return None
    quiet = any(mode != "grad" for name, *_, mode in program if name in VIEWS)
    if quiet and isinstance(a, str) and a.startswith(OVERCAUTIOUS):
        return None  # it was saved for the gradient of a view that was made so, which gets none in either library
    if unlike("gradients", a, b) and {type(a), type(b)} == {list} and any(name == "hook" for name, *_ in program):
        # What was saved may have a hook on its way back, and what another formula saves instead may not.
        a, b = (found[: len(ours.leaves)] for found in (a, b))
    return unlike("gradients", a, b)


def between_libraries(program: list[Step], library: str = "strict") -> str | None:
    """How a program differs over NumPy's arrays and over those of a library of `gradwright.backends`, if it does."""
    plain, strict = Run(gradwright), Run(Over(library))
    for step in program:
        a, b = plain.step(*step), strict.step(*step)
        what = f"{step[0]} {step[4]}"
        outside = a is not None and b is not None and "out of bounds" in a + b  # NumPy looks at indices last
        if said(a) != said(b) and not outside:
            return f"{what}: NumPy {a or 'accepts'!r}, {library} {b or 'accepts'!r}"
        for n, (f, g) in enumerate(zip(plain.state(), strict.state(), strict=True)):
            for part, p, q in zip(("flags", "grad", "values"), f, g, strict=True):
                if not same(p, q):
                    return f"{what}: {part} of tensor {n}: NumPy {p!r}, {library} {q!r} {FLAGS}"
    a, b = plain.gradients(), strict.gradients()
    if any(name == "data" for name, *_ in program) and not same(a, b):
        a = plain.kept(Run.gradients)  # what is written through it reaches what NumPy's graph has saved, unnoticed
    if same(a, b) or (isinstance(a, str) and isinstance(b, str) and said(a) == said(b)):
        return None
    return f"gradients: NumPy {a!r}, {library} {b!r}"


def said(error: str | None) -> str | None:
    """An error without what differs from run to run, or between arrays: lines, and a library's own words."""
    said = error and re.split(r"[:(\n]", re.sub(r"^x\[[^\]]*\]: ", "", error))[0].lower()
    return said and said.removesuffix(" for array")


def unlike(what: str, ours: Any, theirs: Any) -> str | None:
    return None if same(ours, theirs) else f"{what}: gradwright {ours!r}, PyTorch {theirs!r}"

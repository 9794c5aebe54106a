"""Random small programs of views, in-place writes, indexing and ordinary operations, run on gradwright and on PyTorch.

After each step both must hold the same values, versions and flags, or both have refused it; at the end both must give
the same gradients and second gradients, or both refuse to. Where PyTorch only refuses what would have been right, or
is known to be odd, the program ends there (`Odd`).
"""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradwright


def put(x: Any, key: Any, value: Any) -> None:
    x[key] = value


ORDINARY = {
    "sin": lambda T, x, y: x.sin(), "tanh": lambda T, x, y: x.tanh(), "square": lambda T, x, y: x**2,
    "exp": lambda T, x, y: (x * 0.3).exp(), "add": lambda T, x, y: x + y, "mul": lambda T, x, y: x * y,
    "shift": lambda T, x, y: 1.0 - x, "div": lambda T, x, y: x / (y * y + 1), "sum 0": lambda T, x, y: x.sum(0),
    "sum": lambda T, x, y: x.sum(), "mean": lambda T, x, y: x.mean(-1, True), "clone": lambda T, x, y: x.clone(),
    "where": lambda T, x, y: T.where(x > 0, x, y), "cat": lambda T, x, y: T.cat([x, y]),
    "stack": lambda T, x, y: T.stack([x, y]), "take": lambda T, x, y: x[T.tensor([1, 0, 1])],
    "pick": lambda T, x, y: x[[0, 1]], "detach": lambda T, x, y: x.detach(),
}  # fmt: skip
VIEWS = {
    "first": lambda T, x, y: x[0], "last": lambda T, x, y: x[..., -1], "tail": lambda T, x, y: x[1:],
    "even": lambda T, x, y: x[..., ::2], "none": lambda T, x, y: x[None], "t": lambda T, x, y: x.t(),
    "transpose": lambda T, x, y: x.transpose(0, -1), "flat": lambda T, x, y: x.view(-1),
    "reshape": lambda T, x, y: x.reshape(-1), "unsqueeze": lambda T, x, y: x.unsqueeze(-1),
    "squeeze": lambda T, x, y: x.squeeze(), "expand": lambda T, x, y: x.expand(2, *x.shape),
    "same": lambda T, x, y: x.expand(x.shape), "narrow": lambda T, x, y: x.narrow(0, 0, 1),
    "unbind": lambda T, x, y: x.unbind(-1)[1], "split": lambda T, x, y: x.split(1)[-1],
    "chunk": lambda T, x, y: x.chunk(2)[0], "diagonal": lambda T, x, y: x.diagonal(),
    "view as": lambda T, x, y: x.view_as(y), "contiguous": lambda T, x, y: x.contiguous() * 1,
}  # fmt: skip
WRITES = {
    "add_": lambda T, x, y: x.add_(y), "mul_": lambda T, x, y: x.mul_(y), "iadd": lambda T, x, y: x.__iadd__(y),
    "isub": lambda T, x, y: x.__isub__(y), "double_": lambda T, x, y: x.mul_(2), "div_": lambda T, x, y: x.div_(3.0),
    "sin_": lambda T, x, y: x.sin_(), "tanh_": lambda T, x, y: x.tanh_(), "sigmoid_": lambda T, x, y: x.sigmoid_(),
    "neg_": lambda T, x, y: x.neg_(), "relu_": lambda T, x, y: x.relu_(), "pow_": lambda T, x, y: x.pow_(2),
    "clamp_": lambda T, x, y: x.clamp_(-1, 1), "masked_fill_": lambda T, x, y: x.masked_fill_(x > 0, 0.25),
    "put 0": lambda T, x, y: put(x, 0, y), "put number": lambda T, x, y: put(x, -1, 2.0),
    "put column": lambda T, x, y: put(x, (..., 0), y), "put slice": lambda T, x, y: put(x, slice(1, None), y),
    "put at": lambda T, x, y: put(x, T.tensor([1, 0]), y),
}  # fmt: skip
OVERWRITES = {
    "zero_": lambda T, x, y: x.zero_(), "fill_": lambda T, x, y: x.fill_(0.5), "copy_": lambda T, x, y: x.copy_(y),
    "put all": lambda T, x, y: put(x, ..., y),
}  # fmt: skip
STEPS = ORDINARY | VIEWS | WRITES | OVERWRITES
CHANGES = WRITES | OVERWRITES

ODD = (
    "unsupported operation",  # operands that overlap are refused by PyTorch only; some writes to expanded memory, by us
    "a leaf Variable that requires grad is being used",  # of a view made before its plain base took up a history
    "output with shape",  # copy_ from a source with leading dims of length 1
)


class Odd(Exception):  # noqa: N818
    pass


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

    def step(self, name: str, i: int, j: int, quiet: bool) -> str | None:
        """One step on two tensors of the pool; the error, if it was refused."""
        x, y = self.pool[i % len(self.pool)], self.pool[j % len(self.pool)]
        if name in CHANGES and np.shares_memory(x.detach().numpy(), y.detach().numpy()):
            y = self.pool[1 if x is not self.pool[1] else 2]
        try:
            with self.T.set_grad_enabled(not (quiet and name not in VIEWS)):
                out = STEPS[name](self.T, x, y)
        except (RuntimeError, IndexError, TypeError, ValueError) as e:
            return str(e)
        if name not in CHANGES and out is not x:
            self.pool.append(out)
        return None

    def usable(self) -> list[Any]:
        """The tensors of the pool whose history can still be told."""
        found = []
        for t in self.pool:
            try:
                t.is_leaf
            except RuntimeError:
                continue
            found.append(t)
        return found

    def state(self) -> list[Any]:
        usable = {id(t) for t in self.usable()}
        return [(t._version, t.requires_grad, t.is_leaf, t.detach().numpy().copy()) if id(t) in usable else "stale"
                for t in self.pool]  # fmt: skip

    def gradients(self) -> list[Any] | str:
        """First and second gradients of the leaves; the error, if it was refused."""
        ends = [(t * t).sum() * (k + 1) for k, t in enumerate(self.usable()) if t.requires_grad]
        try:
            first = self.T.autograd.grad(sum(ends), self.leaves, create_graph=True, allow_unused=True)
            more = [g.sin().sum() for g in first if g is not None and g.requires_grad]
            second = self.T.autograd.grad(sum(more), self.leaves, allow_unused=True) if more else ()
        except RuntimeError as e:
            return str(e)
        return [np.zeros(()) if g is None or not g.any() else g.detach().numpy() for g in (*first, *second)]


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, np.ndarray):
        return ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=1e-9, atol=1e-9, equal_nan=True)
    if isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return bool(ours == theirs)


def compare(torch: ModuleType, program: list[tuple[str, int, int, bool]]) -> None:
    ours, theirs = Run(gradwright), Run(torch)
    for step in program:
        a, b = ours.step(*step), theirs.step(*step)
        if any(e is not None and e.startswith(ODD) for e in (a, b)) and (a is None or b is None):
            return
        assert (a is None) == (b is None), f"{step}: gradwright {a or 'accepts'!r}, PyTorch {b or 'accepts'!r}"
        assert same(ours.state(), theirs.state()), f"{step}:\n{ours.state()}\nPyTorch:\n{theirs.state()}"
    a, b = ours.gradients(), theirs.gradients()
    if isinstance(b, str) and not isinstance(a, str):
        # PyTorch still runs the history of what has been overwritten whole.
        assert "modified by an inplace" in b
        assert any(name in OVERWRITES or name == "put at" for name, *_ in program), f"gradwright accepts, PyTorch {b!r}"
        return
    assert isinstance(a, str) == isinstance(b, str), f"gradwright {a!r}, PyTorch {b!r}"
    assert isinstance(a, str) or same(a, b), f"{a}\nPyTorch:\n{b}"


WHICH = st.integers(0, 7)
STEP = st.tuples(st.sampled_from(sorted(STEPS)), WHICH, WHICH, WHICH.map(lambda n: n == 7))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(program=st.lists(STEP, min_size=1, max_size=8))
def test_programs_do_what_they_do_in_pytorch(torch, program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(torch, program)

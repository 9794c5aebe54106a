"""Programs that run on gradwright and on PyTorch, and what comes of them, to compare."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

import gradwright
from gradwright.autograd import Function


def t(T: ModuleType, shape: tuple[int, ...], seed: int, grad: bool = False, dtype: str = "float64") -> Any:
    """A tensor with numbers of its own, the same in both libraries."""
    rng = np.random.default_rng(seed)
    data = rng.uniform(0.5, 1.5, shape)
    if dtype.startswith("complex"):
        data = data + 1j * rng.uniform(-1, 1, shape)
    return T.tensor(data, dtype=getattr(T, dtype), requires_grad=grad)


@dataclass
class Outcome:
    """What a program returns, or the kind of error it raises and its words."""

    value: Any = None
    error: str = ""
    words: str = ""

    def is_like(self, other: Outcome, history: bool = True, words: int = 0) -> None:
        """Fail unless values are close, in like structures and dtypes, with history alike; or the errors are alike.

        They are of one kind, and begin with the same ``words`` letters.
        """
        assert self.error == other.error, (self, other)
        assert self.words[:words] == other.words[:words]
        if not self.error:
            _alike(self.value, other.value, "", history)


def outcome(T: ModuleType, program: Callable[[ModuleType], Any]) -> Outcome:
    try:
        with warnings.catch_warnings():
            if T.__name__ == "torch":
                warnings.simplefilter("ignore")
            return Outcome(program(T))
    except (TypeError, ValueError, RuntimeError, IndexError, AssertionError) as e:
        return Outcome(error=type(e).__name__, words=str(e))


def refused_alike(program: Callable[[Any, Any, ModuleType], Any], torch: ModuleType) -> None:
    """Fail unless ``program(T.func, x, T)`` is an error, as it is in PyTorch."""
    ours, theirs = (outcome(T, lambda T: program(T.func, t(T, (3,), 1), T)) for T in (gradwright, torch))
    assert ours.error
    ours.is_like(theirs)


def loop(f: Callable[..., Any], args: Sequence[Any], dims: Sequence[int | None], size: int = 3) -> Any:
    """What vmap(f, in_dims=dims)(*args) is to be, for dims 0 and None: each example by itself."""
    each = [[a if d is None else a[k] for a, d in zip(args, dims, strict=True)] for k in range(size)]
    return gradwright.stack([f(*xs) for xs in each])


def close(a: Any, b: Any, rtol: float = 1e-12, atol: float = 1e-14) -> None:
    """Fail unless two tensors are of one shape and nearly equal."""
    assert a.shape == b.shape
    assert gradwright.allclose(a, b, rtol=rtol, atol=atol), (a, b)


def _alike(ours: Any, theirs: Any, where: str, history: bool) -> None:
    if isinstance(theirs, (tuple, list)):
        assert isinstance(ours, (tuple, list)), where
        assert len(ours) == len(theirs), where
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            _alike(a, b, f"{where}[{i}]", history)
    elif theirs is None:
        assert ours is None, where
    else:
        assert tuple(ours.shape) == tuple(theirs.shape), where
        assert str(ours.dtype).rpartition(".")[2] == str(theirs.dtype).rpartition(".")[2], where
        assert ours.requires_grad == theirs.requires_grad or not history, where
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), 1e-10, 1e-12, err_msg=where)


def function(name: str, forward: Callable[..., Any], backward: Callable[..., Any], **more: Callable[..., Any]) -> Any:
    """A Function of these static methods."""
    members = {"forward": forward, "backward": backward, **more}
    return type(name, (Function,), {key: staticmethod(member) for key, member in members.items()})


def keeping(f: Callable[[Any], Any]) -> Callable[..., Any]:
    """A forward with ctx, which saves its input for both modes and returns ``f`` of it."""

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return f(x)

    return forward


def kept(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """A setup_context that saves the inputs for both modes."""
    ctx.save_for_backward(*inputs)
    ctx.save_for_forward(*inputs)


def by_slope(f: Callable[[Any], Any]) -> Callable[..., Any]:
    """A backward, or a jvp, that multiplies by ``f`` of the one saved tensor."""
    return lambda ctx, g: f(*ctx.saved_tensors) * g

"""JAX's custom_vjp and custom_jvp functions as Functions of gradwright's, so that the battery can look at them.

JAX runs them and their rules; what `jax.vjp` says is an operation like any other here, so derivatives of every order
come out as JAX gives them. Numbers are float64 meanwhile. JAX is met where the user's file imports it, never imported.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradwright.base import dtypes
from gradwright.engine.base import TensorBase, wrap
from gradwright.function.function import Function


def is_one(value: Any) -> bool:
    """Whether this is a custom_vjp or a custom_jvp of JAX's."""
    kind = type(value)
    return kind.__module__.partition(".")[0] == "jax" and kind.__name__ in ("custom_vjp", "custom_jvp")


def written(value: Any) -> Iterator[Any]:
    """The Python functions of one: the function first, then its rules."""
    for name in ("fun", "fwd", "bwd", "jvp"):
        if inspect.isfunction(part := inspect.unwrap(getattr(value, name, None) or len)):
            yield part


def place(value: Any) -> tuple[str, int, str]:
    """Where one is written: the file, the first line, and its text with that of the rules after it."""
    fun, *rules = written(value)
    file = inspect.getsourcefile(fun) or ""
    lines, first = inspect.getsourcelines(fun)
    last = first + len(lines)
    for rule in rules:
        if inspect.getsourcefile(rule) == file:
            more, at = inspect.getsourcelines(rule)
            last = max(last, at + len(more))
    with open(file, encoding="utf-8") as f:
        return file, first, "".join(f.readlines()[first - 1 : last - 1])


def as_function(value: Any) -> type[Function]:
    """A Function that calls it, and whose backward is what JAX makes of its rules."""
    fun, *rules = written(value)

    def forward(ctx: Any, *args: Any) -> Any:
        at = [k for k, a in enumerate(args) if isinstance(a, TensorBase) and _moves(a)]
        call = _Call(value, args, at)
        ctx._taken = call, at, len(args)
        ctx.save_for_backward(*[args[k] for k in at])
        return _returned(ctx, call, [args[k] for k in at])

    def backward(ctx: Any, *cotangents: Any) -> Any:
        call, at, n = ctx._taken
        found: list[Any] = [None] * n
        for k, g in zip(at, _pulled(call, ctx.saved_tensors, cotangents), strict=True):
            found[k] = g
        return tuple(found)

    ctx = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_ONLY)
    taken = [p.replace(kind=p.POSITIONAL_ONLY) for p in inspect.signature(fun).parameters.values()]
    forward.__signature__ = inspect.Signature([ctx, *taken])  # type: ignore[attr-defined]
    forward.__wrapped__ = fun  # type: ignore[attr-defined]
    if rules and hasattr(value, "bwd") and not value.nondiff_argnums:  # it returns a gradient for each argument
        backward.__wrapped__ = rules[-1]  # type: ignore[attr-defined]
    body: dict[str, Any] = {"forward": staticmethod(forward), "backward": staticmethod(backward),
                            "__module__": fun.__module__, "__doc__": fun.__doc__,
                            "_jax": staticmethod(value)}  # fmt: skip
    if (declared := getattr(value, "samples", None)) is not None:
        body["samples"] = staticmethod(lambda: [_here(c) for c in (declared() if callable(declared) else declared)])
    return type(fun.__name__, (Function,), body)


def values(function: type[Function], arguments: Any) -> tuple[list[Any], list[Any]]:
    """What a function of JAX's returns when it is called, and what when it is differentiated: what its rule returns."""
    at = [k for k, a in enumerate(arguments) if isinstance(a, TensorBase) and _moves(a)]
    call = _Call(function._jax, arguments, at)  # type: ignore[attr-defined]
    with _wide():
        moved = [_there(arguments[k]) for k in at]
        called, ruled = call(*moved), _jax().vjp(call, *moved)[0]
    return [np.asarray(o) for o in called], [np.asarray(o) for o in ruled]


class _Call:
    """A function of JAX's, of those of its arguments that move; it returns a tuple."""

    def __init__(self, function: Callable[..., Any], args: Any, at: list[int]) -> None:
        self.function, self.at = function, at
        self.given = [_there(a) if isinstance(a, TensorBase) else a for a in args]

    def __call__(self, *moved: Any) -> tuple[Any, ...]:
        given = list(self.given)
        for k, a in zip(self.at, moved, strict=True):
            given[k] = a
        return tuple(_jax().tree_util.tree_leaves(self.function(*given)))


class _Pull:
    """What `jax.vjp` says of a call: a function of its arguments and the cotangents of what flows."""

    def __init__(self, call: Any, n: int, flows: list[bool]) -> None:
        self.call, self.n, self.flows = call, n, flows

    def __call__(self, *moved: Any) -> tuple[Any, ...]:
        live = lambda *xs: tuple(o for o, f in zip(self.call(*xs), self.flows, strict=True) if f)
        numpy = _jax().numpy
        _, pull = _jax().vjp(live, *moved[: self.n])
        return tuple(map(numpy.conj, pull(tuple(map(numpy.conj, moved[self.n :])))))


class Lifted(Function):
    """A function of JAX's arrays as one of tensors."""

    @staticmethod
    def forward(ctx: Any, call: Any, *tensors: Any) -> Any:
        """What the function returns."""
        ctx._taken = call
        ctx.save_for_backward(*tensors)
        return _returned(ctx, call, tensors)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """What `jax.vjp` says."""
        return None, *_pulled(ctx._taken, ctx.saved_tensors, cotangents)


def _returned(ctx: Any, call: Any, tensors: Any) -> Any:
    with _wide():
        outs = tuple(wrap(np.array(o)) for o in call(*map(_there, tensors)))
    ctx.mark_non_differentiable(*[o for o in outs if not _moves(o)])
    return outs if len(outs) != 1 else outs[0]


def _pulled(call: Any, tensors: Any, cotangents: Any) -> tuple[Any, ...]:
    with _wide():
        flows = [np.asarray(o).dtype.kind in "fc" for o in call(*map(_there, tensors))]
    live = [g for g, f in zip(cotangents, flows, strict=True) if f]
    found = Lifted.apply(_Pull(call, len(tensors), flows), *tensors, *live)
    return found if isinstance(found, tuple) else (found,)


def _moves(tensor: Any) -> bool:
    return dtypes.of(tensor.array.dtype).category >= dtypes.FLOAT


def _there(tensor: Any) -> Any:
    return _jax().numpy.asarray(np.asarray(tensor.array))


def _here(call: Any) -> Any:
    """A sample with tensors for arrays of JAX's."""
    array = _jax().Array
    values = call if isinstance(call, tuple) else (call,)
    return tuple(wrap(np.array(v)) if isinstance(v, array) else v for v in values)


def _jax() -> Any:
    return sys.modules["jax"]


def _wide() -> Any:
    """JAX computes in float64 meanwhile."""
    jax = _jax()
    return jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64()

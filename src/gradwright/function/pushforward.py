"""Forward mode of one Function, by hand: its outputs, and how they move as its inputs do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright import dtypes
from gradwright.backends import numpy as numpy_backend
from gradwright.contract.containers import answers, shaped, take_apart
from gradwright.contract.declarations import pushing
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.grad_mode import no_grad
from gradwright.errors import kind, size
from gradwright.function.of_containers import flat
from gradwright.interpreter.at_once import having


def pushforward(function: Any, inputs: Any, tangents: Any) -> tuple[Any, Any]:
    """Run the forward of a Function, or of a `custom_op`, and then its jvp.

    Args:
        function: the class (or the custom_op).
        inputs: a tuple of the arguments of forward, all of them and by position.
        tangents: one for each, shaped as they are: how each tensor moves; None for what does not.

    Returns:
        The outputs, and their tangents in the same shape: None for those that do not move or have no derivative.

    Raises:
        NotImplementedError: it has no jvp.
        RuntimeError, TypeError: jvp returned too few or too many tangents, or one of another shape, or no tensor.
        ValueError: the tangents are not shaped as the inputs are.

    >>> import gradwright as gw
    >>> class Square(gw.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_forward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def jvp(ctx, dx):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * dx
    >>> pushforward(Square, (gw.tensor([3.0]),), (gw.tensor([1.0]),))
    (tensor([9.]), tensor([6.]))
    """
    return pushed(getattr(function, "function", function), inputs, tangents, no_grad()(_forward))


def pushed(cls: Any, inputs: Any, tangents: Any, forward: Callable[..., Any] | None = None) -> tuple[Any, Any]:
    """`pushforward` of a Function; its forward is recorded, where operations are, unless another is given."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    leaves: list[Any] = []
    rest = take_apart(inputs, leaves)
    given = list(answers(rest, tangents if isinstance(tangents, tuple) else (tangents,), "inputs"))
    ctx = object.__new__(flat(cls)._node_class)
    ctx._hooks, ctx._trees = None, (rest, None)
    ctx._saved = ctx._to_save = ctx._dirty = ctx._flat = ()
    ctx._materialize, ctx._ports, ctx._replay = True, None, None
    ctx._needs = (False, *[t._node is not None for t in leaves])
    kept: list[Any] = []
    result = having(pushing, kept, forward or _forward, cls, ctx, inputs)
    ctx._to_save = tuple(kept)
    if ctx._materialize:
        given = [_zeros(x) if t is None else t for x, t in zip(leaves, given, strict=True)]
    moved = cls.jvp(ctx, *shaped(rest, iter(given), None))
    return result, _checked(ctx, result, moved)


def _forward(cls: Any, ctx: Any, inputs: tuple[Any, ...]) -> Any:
    """What forward returns."""
    if cls.setup_context is flat(cls).setup_context:
        return cls.forward(ctx, *inputs)
    result = cls.forward(*inputs)
    cls.setup_context(ctx, inputs, result)
    return result


def _checked(ctx: Any, result: Any, moved: Any) -> Any:
    """The tangents that jvp has returned, in the shape of the outputs."""
    outputs: list[Any] = []
    rest = take_apart(result if isinstance(result, tuple) else (result,), outputs)
    moved = moved if type(moved) is tuple else (moved,)
    if len(moved) != len(rest.parts):
        raise RuntimeError("Function's jvp returned an invalid number of forward gradients "
                           f"(expected {len(rest.parts)} but got {len(moved)})")  # fmt: skip
    found = list(answers(rest, moved, "out"))
    for k, (out, t) in enumerate(zip(outputs, found, strict=True)):
        if t is None:
            continue
        if not isinstance(t, TensorBase):
            raise TypeError(f"{type(ctx).__name__}: expected Variable or None (got {kind(t)}) for grad output {k}.")
        if dtypes.of(out.array.dtype).category < dtypes.FLOAT or any(out is flat for flat in ctx._flat):
            raise RuntimeError(
                f"Function's jvp returned a gradient at position {k}, but the corresponding forward output is not a "
                "differentiable Tensor. You should return None at that position instead."
            )
        if t.array.shape != out.array.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is "
                f"not supported. Tensor is of size {size(out.array.shape)} while the given forward gradient is of "
                f"size {size(t.array.shape)}."
            )
    made = shaped(rest, iter(found), None)
    return made if isinstance(result, tuple) else made[0]


def _zeros(x: Any) -> Any:
    return wrap(numpy_backend.namespace.zeros(x.array.shape, dtype=x.array.dtype))

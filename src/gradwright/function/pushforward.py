"""Forward mode of one Function, by hand: its outputs, and how they move as its inputs do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.cpython.at_once import having
from gradwright.base.errors import size
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.grad_mode import no_grad
from gradwright.function.contract.containers import TENSOR, Tree, answers, flatten, shaped, unflatten
from gradwright.function.contract.signature import dense, run_forward
from gradwright.function.ctx import pushing
from gradwright.function.of_containers import flat


def pushforward(function: Callable[..., Any], inputs: TensorBase | tuple[Any, ...],
                tangents: TensorBase | tuple[Any, ...]) -> tuple[Any, Any]:  # fmt: skip
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
    cls = getattr(function, "function", function)
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    leaves: list[Any] = []
    rest = flatten(inputs, leaves)
    given = list(answers(rest, tangents if isinstance(tangents, tuple) else (tangents,), "inputs"))
    parts = rest.parts if type(rest) is Tree else inputs
    nested = any(type(part) is Tree for part in parts)
    args = [rest, *leaves] if nested else list(inputs)
    each = iter(given)
    ts = [None, *given] if nested else [next(each) if part is TENSOR else None for part in parts]
    cls = flat(cls) if nested else cls
    ctx, result = no_grad()(begun)(cls, args)
    found, result = finished(cls, ctx, args, result, ts)
    outputs = flatten(result if isinstance(result, tuple) else (result,), [])
    made = shaped(outputs, iter(found), None)
    return result, made if isinstance(result, tuple) else made[0]


def begun(cls: Any, args: Sequence[Any]) -> tuple[Any, Any]:
    """The ctx that forward leaves for jvp, with what it has given to save_for_forward, and what forward returns.

    Forward is recorded, where operations are. Of a Function of containers, ``cls`` is its `of_containers.flat`.
    """
    node_class = cls._node_class if hasattr(cls, "_user") else flat(cls)._node_class
    needs = tuple([isinstance(a, TensorBase) and a._node is not None for a in args])
    ctx = node_class.new(_trees=(None, None), _needs=needs)
    kept: list[Any] = []
    result = having(pushing, kept, run_forward, cls, ctx, tuple(args))
    ctx._to_save = tuple(kept)
    return ctx, result


def finished(cls: Any, ctx: Any, args: Sequence[Any], result: Any, tangents: Sequence[Any]) -> tuple[list[Any], Any]:
    """The tangents of all tensors in ``result``, as jvp returns them; and the result, shaped as forward shapes it.

    Raises what `pushforward` raises.
    """
    if ctx._materialize:
        tangents = [zeros_like(x) if t is None and isinstance(x, TensorBase) else t
                    for x, t in zip(args, tangents, strict=True)]  # fmt: skip
    rest, out = ctx._trees
    given = tangents if rest is None else shaped(rest, iter(tangents[1:]), None)
    if out is not None and hasattr(cls, "_user"):
        result = unflatten(out, iter(result if isinstance(result, tuple) else (result,)))
    return _checked(ctx, result, getattr(cls, "_user", cls).jvp(ctx, *given)), result


def zeros_like(x: Any) -> Any:
    """Zeros in the shape, dtype and library of a tensor."""
    return wrap(backends.namespace(x.array).zeros_like(x.array))


def _checked(ctx: Any, result: Any, moved: Any) -> list[Any]:
    """The tangents that jvp has returned, for each tensor of the outputs."""
    outputs: list[Any] = []
    rest = flatten(result if isinstance(result, tuple) else (result,), outputs)
    moved = moved if type(moved) is tuple else (moved,)
    if len(moved) != len(rest.parts):
        raise RuntimeError("Function's jvp returned an invalid number of forward gradients "
                           f"(expected {len(rest.parts)} but got {len(moved)})")  # fmt: skip
    found = list(answers(rest, moved, "out"))
    for k, (out, t) in enumerate(zip(outputs, found, strict=True)):
        if t is None:
            continue
        if not isinstance(t, TensorBase):
            found[k] = t = dense(t, f"for grad output {k}", "jvp", ctx)
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
    return found

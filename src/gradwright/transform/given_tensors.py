"""What the functions of `gradwright.transform.functional` are given and find, read and checked.

The words of the errors are PyTorch's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradwright.base import dtypes
from gradwright.base.errors import size
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import LevelArray
from gradwright.ops.shape import alias
from gradwright.transform.transpose import zeros


def tensors_of(value: Any, what: str, name: str) -> tuple[bool, tuple[Any, ...]]:
    """Whether a value is a tuple, and a tuple of its tensors."""
    many = isinstance(value, tuple)
    found = value if many else (value,)
    for i, x in enumerate(found):
        if not isinstance(x, TensorBase):
            which = f"value at index {i}" if many else f"given {what}"
            raise TypeError(f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the {which} "
                            f"has type {type(x)}.")  # fmt: skip
    return many, tuple(found)


def inputs_of(value: Any, name: str, create_graph: bool) -> tuple[bool, tuple[Any, ...]]:
    """Whether the inputs are a tuple, and tensors by which to differentiate in their place."""
    many, given = tensors_of(value, "inputs", name)
    if not given:
        raise RuntimeError(f"{name}: inputs is an empty tuple: there is nothing to differentiate by")
    for i, x in enumerate(given):
        if dtypes.of(x.array.dtype).category < dtypes.FLOAT:
            raise RuntimeError(
                f"{name}: {f'inputs[{i}]' if many else 'inputs'} has {dtypes.of(x.array.dtype)}, but only Tensors of "
                "floating point and complex dtype can require gradients: convert it, with float() or to()"
            )
    held = [_held(x, create_graph) for x in given]
    return many, tuple(x if x._node is not None else x.requires_grad_() for x in held)


def _held(x: Any, create_graph: bool) -> Any:
    """The tensor with its history, under a node of its own, and with its tangents, if that is wanted; else without."""
    if create_graph and x._node is not None:
        return alias(x)
    if create_graph and isinstance(x.array, LevelArray):
        return wrap(x.array, None, x._counter)
    x = x.detach()
    return wrap(x.array) if x.is_inference() else x  # one that may require grad


def cut(t: Any) -> Any:
    """The tensor without history and tangents; itself if it has neither."""
    return t if t._node is None and t._view is None and not isinstance(t.array, LevelArray) else t.detach()


def outputs_of(func: Callable[..., Any], xs: Sequence[Any], name: str, strict: bool) -> tuple[bool, tuple[Any, ...]]:
    """Whether a function returns a tuple, and a tuple of its outputs."""
    many, outs = tensors_of(func(*xs), "outputs of the user-provided function", name)
    check(outs, "outputs", strict)
    return many, outs


def one_output(func: Callable[..., Any], xs: Sequence[Any], name: str, strict: bool) -> Any:
    """The output of a function that is to return one number."""
    many, outs = outputs_of(func, xs, name, strict)
    if many:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outs[0].array.size != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element, but "
                           f"it has the shape {size(outs[0].array.shape)}")  # fmt: skip
    return outs[0]


def vector(v: Any, like: Sequence[Any], many: bool, name: str, create_graph: bool) -> tuple[Any, ...]:
    """The tensors of ``v``, one for each of ``like``."""
    _, given = tensors_of(v, "v", name)
    if len(given) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(given)}."
            if many
            else "The given v should contain a single Tensor."
        )
    for i, (x, other) in enumerate(zip(given, like, strict=True)):
        if x.array.shape != other.array.shape:
            raise RuntimeError(f"{f'Entry {i} in ' if many else ''}v has invalid size: should be "
                               f"{dtypes.Size(other.array.shape)} but got {dtypes.Size(x.array.shape)}.")  # fmt: skip
    return tuple(_held(x, True) if create_graph else cut(x) for x in given)


def tangent(v: Any, xs: Sequence[Any], many: bool, name: str, create_graph: bool) -> tuple[Any, ...] | None:
    """The tensors of ``v``, one for each input; None for None, where that will do."""
    if v is not None:
        return vector(v, xs, many, name, create_graph)
    if len(xs) != 1 or xs[0].array.size != 1:
        raise RuntimeError("The vector v can only be None if the input to the user-provided function is a single "
                           "Tensor with a single element.")  # fmt: skip
    return None


_UNMOVED = {
    "outputs": "Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {i} is independent of the inputs of the user-provided function. "
    "This is not allowed in strict mode.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with respect to "
    "input {i} is independent of the input. This is not allowed in strict mode. You should ensure that your function "
    "is twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function "
    "for example).",
}
_UNREACHED = {
    "back": "The output of the user-provided function is independent of input {i}. This is not allowed in strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using "
    "the double backward trick to compute forward mode gradients. This is not allowed in strict mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {i}. This is not allowed in "
    "strict mode.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {i} in the grad_jacobian. "
    "This is not allowed in strict mode as it prevents from using the double backward trick to replace forward mode "
    "AD.",
}
_UNRECORDED = (
    "The {what} of the user-provided function is independent of input {i}. This is not allowed in strict mode when "
    "create_graph=True."
)


def check(found: Sequence[Any], what: str, strict: bool) -> None:
    """RuntimeError, if ``strict``, for the first that is missing or has no history."""
    for i, t in enumerate(found if strict else ()):
        if t is None or t._node is None:
            raise RuntimeError((_UNREACHED["back"] if t is None else _UNMOVED[what]).format(i=i))


def check_rows(i: int, rows: Sequence[Any], create_graph: bool) -> None:
    """RuntimeError for the first Jacobian of output i that is missing, or has no history where it should."""
    for j, row in enumerate(rows):
        if row is None:
            raise RuntimeError(f"Output {i} of the user-provided function is independent of input {j}. This is not "
                               "allowed in strict mode.")  # fmt: skip
        if create_graph and row._node is None:
            raise RuntimeError(_UNRECORDED.format(what="jacobian", i=j))


def filled(found: Sequence[Any], like: Sequence[Any], strict: bool, create_graph: bool, stage: str) -> tuple[Any, ...]:
    """The products, with zeros for those that are missing; RuntimeError, if ``strict``, for what `_UNREACHED` says."""
    for i, t in enumerate(found if strict else ()):
        if t is None:
            raise RuntimeError(_UNREACHED[stage].format(i=i))
        if create_graph and t._node is None:
            raise RuntimeError(_UNRECORDED.format(what="hessian" if "double" in stage else "jacobian", i=i))
    return tuple(zeros(x) if t is None else t for t, x in zip(found, like, strict=True))

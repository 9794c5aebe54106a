"""Products with Jacobians and Hessians, and these themselves, of functions of one tensor or a tuple of tensors.

All are made of backward passes. A gradient J'u is linear in u, so its own derivative by u, towards v, is Jv: a backward
pass through a recorded one goes forward.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.errors import size
from gradwright.engine.backward import walk
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.grad_mode import inference_mode
from gradwright.engine.levels import LevelArray, moves
from gradwright.engine.node import is_input
from gradwright.engine.strict import warn
from gradwright.function.watched.in_backward import unequal
from gradwright.ops.shape import alias, permute_dims, reshape, stack
from gradwright.transform.arguments import settled
from gradwright.transform.batch import batched_grad
from gradwright.transform.jacobians import bases
from gradwright.transform.transpose import gradients, zeros

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor

In = TypeVar("In", bound="Tensor | tuple[Tensor, ...]")
Out = TypeVar("Out", bound="Tensor | tuple[Tensor, ...]")
_MODES = ("forward-mode", "reverse-mode")

_recording = inference_mode(False)
"""Everything here is recorded, whatever mode the caller is in: under `no_grad` a derivative is a derivative still."""


@_recording
def vjp(func: Callable[..., Out], inputs: In, v: Tensor | tuple[Tensor, ...] | None = None,
        create_graph: bool = False, strict: bool = False) -> tuple[Out, In]:  # fmt: skip
    """The value of ``func`` at the inputs, and the product v'J with its Jacobian there.

    Args:
        func: a function of tensors that returns a tensor or a tuple of tensors.
        inputs: its arguments: a tensor or a tuple of tensors.
        v: one tensor for each output, of its shape; may be None for a single output of one element (then 1 is taken).
            Of complex outputs it is a gradient in PyTorch's sense: the product is that of J, conjugated.
        create_graph: let the results be differentiated, by the inputs and v.
        strict: raise where an output does not depend on the inputs, instead of giving zeros.

    Returns:
        The output of ``func``, and a product for each input, of its shape and dtype; each a tensor or a tuple as
        ``func`` returned it, and as the inputs are.

    Raises:
        TypeError: the inputs, outputs or v are neither a tensor nor a tuple of tensors.
        RuntimeError: v is missing, or of another shape; an input is of integers; what ``strict`` forbids.

    >>> vjp(lambda x: x * x, gw.tensor([1.0, 2.0]), gw.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    many, xs = inputs_of(inputs, "vjp", create_graph)
    many_out, outs = outputs_of(func, xs, "vjp", strict)
    if v is None:
        if len(outs) != 1 or outs[0].array.size != 1:
            raise RuntimeError("The vector v can only be None if the user-provided function returns a single Tensor "
                               "with a single element.")  # fmt: skip
        vs = None
    else:
        vs = vector(v, outs, many_out, "vjp", create_graph)
    found = filled(gradients(outs, xs, vs, create_graph=create_graph), xs, strict, create_graph, "back")
    return _given(outs, create_graph, many_out), _given(found, create_graph, many)


@_recording
def jvp(func: Callable[..., Out], inputs: Tensor | tuple[Tensor, ...], v: Tensor | tuple[Tensor, ...] | None = None,
        create_graph: bool = False, strict: bool = False) -> tuple[Out, Out]:  # fmt: skip
    """The value of ``func`` at the inputs, and the product Jv with its Jacobian there.

    It takes two backward passes: the gradient by one cotangent is recorded, and differentiated by that.

    Args:
        func, inputs, create_graph, strict: as in `vjp`.
        v: one tensor for each input, of its shape; may be None for a single input of one element (then 1 is taken).

    Returns:
        The output of ``func``, and a product for each, of its shape and dtype.

    Raises TypeError and RuntimeError as `vjp` does; RuntimeError, too, if the derivative of ``func`` cannot be
    differentiated again.

    >>> jvp(lambda x: x * x, gw.tensor([1.0, 2.0]), gw.tensor([1.0, 0.0]))
    (tensor([1., 4.]), tensor([2., 0.]))
    """
    many, xs = inputs_of(inputs, "jvp", create_graph)
    vs = tangent(v, xs, many, "jvp", create_graph)
    many_out, outs = outputs_of(func, xs, "jvp", strict)
    us, slopes = _linear_in(outs, outs, xs, "jvp")
    check(slopes, "grad_inputs", strict)
    found = filled(gradients(slopes, us, vs, create_graph=create_graph), outs, strict, create_graph, "back_trick")
    return _given(outs, create_graph, many_out), _given(found, create_graph, many_out)


@_recording
def vhp(func: Callable[..., Any], inputs: In, v: Tensor | tuple[Tensor, ...] | None = None,
        create_graph: bool = False, strict: bool = False) -> tuple[Tensor, In]:  # fmt: skip
    """The value of a function with one number for its value, and the product v'H with its Hessian.

    Args:
        func, inputs, create_graph, strict: as in `vjp`; ``func`` returns one tensor of one element.
        v: one tensor for each input, of its shape; may be None for a single input of one element (then 1 is taken).

    Returns:
        The output of ``func``, and a product for each input, of its shape and dtype.

    Raises TypeError and RuntimeError as `vjp` does, and RuntimeError for another output.

    >>> vhp(lambda x: (x**3).sum(), gw.tensor([1.0, 2.0]), gw.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    many, xs, vs, out, slopes = _second("vhp", func, inputs, v, create_graph, strict)
    found = filled(gradients(slopes, xs, vs, create_graph=create_graph), xs, strict, create_graph, "double_back")
    return _given((out,), create_graph, False), _given(found, create_graph, many)


@_recording
def hvp(func: Callable[..., Any], inputs: In, v: Tensor | tuple[Tensor, ...] | None = None,
        create_graph: bool = False, strict: bool = False) -> tuple[Tensor, In]:  # fmt: skip
    """The value of a function with one number for its value, and the product Hv with its Hessian.

    As H is symmetric it equals `vhp`, which takes one backward pass less; arguments, results and errors are the same.

    >>> hvp(lambda x: (x**3).sum(), gw.tensor([1.0, 2.0]), gw.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    many, xs, vs, out, slopes = _second("hvp", func, inputs, v, create_graph, strict)
    us, again = _linear_in(slopes, xs, xs, "hvp")
    found = filled(gradients(again, us, vs, create_graph=create_graph), xs, strict, create_graph, "double_back_trick")
    return _given((out,), create_graph, False), _given(found, create_graph, many)


@overload
def jacobian(func: Callable[..., Tensor], inputs: Tensor, create_graph: bool = False, strict: bool = False,
             vectorize: bool = False, strategy: str = "reverse-mode") -> Tensor: ...  # fmt: skip
@overload
def jacobian(func: Callable[..., Any], inputs: Tensor | tuple[Tensor, ...], create_graph: bool = False,
             strict: bool = False, vectorize: bool = False, strategy: str = "reverse-mode") -> Any: ...  # fmt: skip
def jacobian(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of ``func`` at the inputs.

    Args:
        func, inputs, create_graph, strict: as in `vjp`.
        vectorize: one backward pass over a batch of cotangents, under vmap; the numbers are the same. Of complex
            outputs, which it takes and the plain way refuses, the rows are the gradients of the real parts.
        strategy: "reverse-mode": a row for each entry of the outputs, in the dtype of the input; "forward-mode", which
            wants ``vectorize``: a column for each entry of the inputs, in the dtype of the output.

    Returns:
        A tensor of the shape of the output and then that of the input; for a tuple of inputs a tuple of them; for a
        tuple of outputs a tuple of these.

    Raises:
        TypeError, RuntimeError: as `vjp` does; RuntimeError if ``strict`` is combined with ``vectorize`` or
            "forward-mode", or an output is complex (see ``vectorize``).
        NotImplementedError: "forward-mode" with ``create_graph``, or without ``vectorize``.
        AssertionError: another strategy.

    >>> jacobian(lambda x: x * x, gw.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in _MODES:
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function '
                             'has more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, '
                             f'prefer to use "reverse-mode". Got {strategy!r}.')  # fmt: skip
    if strategy == "forward-mode":
        for argument, on in (("create_graph", create_graph), ("strict", strict)):
            if on:
                kind = NotImplementedError if argument == "create_graph" else RuntimeError
                raise kind(f'jacobian: `{argument}=True` and `strategy="forward-mode"` are not supported together. '
                           f'Please either set `{argument}=False` or `strategy="reverse-mode"`.')  # fmt: skip
    many, many_out, found = _jacobian(func, inputs, create_graph, strict, vectorize, strategy)
    rows = [_given(row, create_graph, many) for row in found]
    return tuple(rows) if many_out else rows[0]


@overload
def hessian(func: Callable[..., Any], inputs: Tensor, create_graph: bool = False, strict: bool = False,
            vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode") -> Tensor: ...  # fmt: skip
@overload
def hessian(func: Callable[..., Any], inputs: tuple[Tensor, ...], create_graph: bool = False, strict: bool = False,
            vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode",
            ) -> tuple[tuple[Tensor, ...], ...]: ...  # fmt: skip
def hessian(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a function with one number for its value: the `jacobian` of its gradient.

    Args:
        func, inputs, create_graph, strict: as in `vjp`; ``func`` returns one tensor of one element.
        vectorize, outer_jacobian_strategy: how the Jacobian of the gradient is computed, as in `jacobian`.

    Returns:
        A tensor of the shape of the input twice; for a tuple of inputs a tuple of tuples, the entry i, j of which has
        the shape of input i and then that of input j.

    Raises what `jacobian` and `vhp` raise.

    >>> hessian(lambda x, y: (x * x * y).sum(), (gw.tensor(2.0), gw.tensor(3.0)))
    ((tensor(6.), tensor(4.)), (tensor(4.), tensor(0.)))
    """
    many, xs = tensors_of(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in _MODES:
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def value(*xs: Any) -> Any:
        return reshape(one_output(func, xs, "hessian", strict), shape=())

    def gradient(*xs: Any) -> Any:
        slopes = jacobian(value, xs, create_graph=True)
        check(slopes, "jacobian", strict)
        return slopes

    found = jacobian(gradient, xs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if many else found[0][0]


@_recording
def _jacobian(
    func: Callable[..., Any], inputs: Any, create_graph: bool, strict: bool, vectorize: bool, strategy: str
) -> tuple[bool, bool, list[tuple[Any, ...]]]:
    """Whether inputs and outputs are tuples, and for each output its Jacobians by the inputs."""
    many, xs = inputs_of(inputs, "jacobian", create_graph)
    if strategy == "forward-mode":
        if not vectorize:
            raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse Hessian is only "
                                      "implemented for `vectorize=True`.")  # fmt: skip
        many_out, outs = outputs_of(func, xs, "jacobian", False)
        return many, many_out, _by_columns(outs, xs)
    many_out, outs = outputs_of(func, xs, "jacobian", strict)
    if vectorize and strict:
        raise RuntimeError("jacobian: `strict=True` and `vectorize=True` are not supported together. Please either set "
                           "`strict=False` or `vectorize=False`.")  # fmt: skip
    found = []
    for i, out in enumerate(outs):
        if not vectorize and out._node is not None and dtypes.of(out.array.dtype).is_complex:
            raise RuntimeError(
                f"jacobian: output {i} is complex ({dtypes.of(out.array.dtype)}), but grad can be implicitly created "
                "only for real scalar outputs: take view_as_real of it, or the gradients of its real part alone "
                "(vectorize=True)"
            )
        rows = _rows(out, xs, create_graph, vectorize)
        if strict:
            unreached = f"Output {i} of the user-provided function is independent of input {{i}}. This is not allowed"
            depend(rows, f"{unreached} in strict mode.", _unrecorded("jacobian") if create_graph else None)
        found.append(tuple([_nothing(out, x, x) if row is None else row for row, x in zip(rows, xs, strict=True)]))
    return many, many_out, found


def _rows(out: Any, xs: Sequence[Any], create_graph: bool, vectorize: bool = True) -> list[Any]:
    """The Jacobian of an output by each input, a row for each of its entries; None where it does not depend on it."""
    n, shape = out.array.size, out.array.shape
    if out._node is None or not n:
        return [None] * len(xs)
    units = [unit for (unit,) in bases((out,), (n,), None if vectorize else 1)]
    if vectorize:
        found = batched_grad((out,), xs, units, True, create_graph, allow_unused=True)
    else:
        passes = [gradients((out,), xs, (unit[0],), True, create_graph) for unit in units]
        found = tuple([None if rows[0] is None else stack(*rows, axis=0) for rows in zip(*passes, strict=True)])
    return [None if rows is None else reshape(rows, shape=shape + x.array.shape)
            for rows, x in zip(found, xs, strict=True)]  # fmt: skip


def _by_columns(outs: Sequence[Any], xs: Sequence[Any]) -> list[tuple[Any, ...]]:
    """For each output its Jacobians by the inputs: those of the gradients J'u by u, transposed."""
    moving = [i for i, out in enumerate(outs) if out._node is not None]
    us, slopes = _linear_in(like := [outs[i] for i in moving], like, xs, "jacobian")
    found: list[list[Any]] = [[_nothing(out, x, out) for x in xs] for out in outs]
    for j, (x, slope) in enumerate(zip(xs, slopes, strict=True)):
        n = x.array.ndim
        for i, columns in zip(moving, [None] * len(us) if slope is None else _rows(slope, us, False), strict=True):
            if columns is not None:
                found[i][j] = permute_dims(columns, axes=(*range(n, columns.array.ndim), *range(n)))
    return [tuple(row) for row in found]


def _nothing(out: Any, x: Any, like: Any) -> Any:
    """The Jacobian of an output that does not depend on an input, in the dtype of ``like``."""
    return wrap(backends.namespace(like.array).zeros_like(like.array, shape=out.array.shape + x.array.shape))


def _linear_in(
    outs: Sequence[Any], like: Sequence[Any], xs: Sequence[Any], name: str
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Cotangents u of the outputs, which are ``like`` these, and the gradients J'u, recorded as functions of them."""
    us = []
    for i, out in enumerate(like):
        if dtypes.of(out.array.dtype).category < dtypes.FLOAT:
            raise RuntimeError(f"{name}: output {i} has {dtypes.of(out.array.dtype)}, but only Tensors of floating "
                               "point and complex dtype can require gradients")  # fmt: skip
        us.append(unequal(out).requires_grad_())
    return tuple(us), gradients(outs, xs, us, create_graph=True)


def _second(name: str, func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool) -> Any:
    """What the products with a Hessian begin with: inputs, v, the output and its gradient, which is recorded."""
    many, xs = inputs_of(inputs, name, create_graph)
    vs = tangent(v, xs, many, name, create_graph)
    out = one_output(func, xs, name, strict)
    slopes = gradients((out,), xs, create_graph=True)
    check(slopes, "jacobian", strict)
    return many, xs, vs, out, slopes


def _given(found: Sequence[Any], create_graph: bool, many: bool) -> Any:
    """What to hand out: with its history if that was wanted, and as a tuple if what it belongs to was one."""
    results = tuple(found if create_graph else map(cut, found))
    return results if many else results[0]


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
    if not create_graph and any(map(_in_transform, given)):
        warn(f"{name}: an input is differentiated by a transform outside (func.grad, jvp, ...), to which what {name} "
             "returns is a constant: give create_graph=True; or detach() the input, if that is meant.")  # fmt: skip
    held = [_held(x, create_graph) for x in given]
    return many, tuple(x if x._node is not None else x.requires_grad_() for x in held)


def _in_transform(x: Any) -> bool:
    """Whether a tensor moves, or its history ends in an input of a function that is differentiated now."""
    nodes = [] if x._node is None else walk([x._node])
    return moves(x.array) or any(map(is_input, nodes))


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
    many, outs = tensors_of(settled(func(*xs)), "outputs of the user-provided function", name)
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


def _unrecorded(what: str) -> str:
    return (f"The {what} of the user-provided function is independent of input {{i}}. This is not allowed in strict "
            "mode when create_graph=True.")  # fmt: skip


def depend(found: Sequence[Any], unreached: str, unmoved: str | None) -> None:
    """RuntimeError in these words for the first that is missing, or, if there are words for that, has no history."""
    for i, t in enumerate(found):
        if t is None or (unmoved is not None and t._node is None):
            raise RuntimeError((unreached if t is None else unmoved or "").format(i=i))


def check(found: Sequence[Any], what: str, strict: bool) -> None:
    """RuntimeError, if ``strict``, for the first that is missing or has no history."""
    if strict:
        depend(found, _UNREACHED["back"], _UNMOVED[what])


def filled(found: Sequence[Any], like: Sequence[Any], strict: bool, create_graph: bool, stage: str) -> tuple[Any, ...]:
    """The products, with zeros for those that are missing; RuntimeError, if ``strict``, for what `_UNREACHED` says."""
    if strict:
        unmoved = _unrecorded("hessian" if "double" in stage else "jacobian")
        depend(found, _UNREACHED[stage], unmoved if create_graph else None)
    return tuple([zeros(x) if t is None else t for t, x in zip(found, like, strict=True)])

"""`backward` and `grad`: what users call, on top of the engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.errors import kind, size
from gradwright.base.upward import above
from gradwright.engine import backward as engine
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.edges import GradientEdge, value_of
from gradwright.engine.hooks import added
from gradwright.engine.levels import LevelArray, below, settle
from gradwright.engine.memory import is_immutable, unwritten
from gradwright.engine.mode import now
from gradwright.engine.node import AccumulateGrad
from gradwright.engine.strict import warn
from gradwright.engine.unselected import tell, unselected
from gradwright.engine.view import refresh
from gradwright.engine.watch import used

if TYPE_CHECKING:
    from gradwright.face.typing import Roots, Tensor


def backward(tensors: Roots, grad_tensors: TensorBase | Iterable[TensorBase | None] | None = None,
             retain_graph: bool | None = None, create_graph: bool = False, *,
             inputs: Roots | None = None) -> None:  # fmt: skip
    """Accumulate the gradients of ``tensors`` into the ``.grad`` of the leaves they depend on.

    Args:
        tensors: a tensor or an iterable of tensors.
        grad_tensors: their cotangents, of their shapes; may be None for tensors of one element (then 1 is taken).
        retain_graph: keep saved values for another backward; by default only if ``create_graph``.
        create_graph: record the pass itself, so that it can be differentiated again.
        inputs: accumulate only into these tensors (leaves or not).

    A `GradientEdge` may stand for a tensor in ``tensors`` and ``inputs``. As an input it keeps a gradient only where a
    tensor does: at a leaf, or after `retain_grad`.

    Raises:
        RuntimeError: a tensor requires no grad, a cotangent is missing or of the wrong shape, or the graph has been
            freed by an earlier pass.

    >>> x = gw.tensor([1.0, 2.0], requires_grad=True)
    >>> gw.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    keep = create_graph if retain_graph is None else retain_graph
    t: Any = tensors  # if it is one float that an operation made, nothing more is to be asked of it
    usual = isinstance(t, TensorBase) and grad_tensors is None and not create_graph and now().level is None
    made = usual and t._view is None and t._node is not None and type(t._node) is not AccumulateGrad
    if made and not isinstance(a := t.array, LevelArray) and a.size == 1 and (a.dtype is _F32 or a.dtype is _F64):
        unselected.found = None
        outputs, roots = (t,), [(t._node, _one(a, False))]
    else:
        outputs = _sequence("backward", "tensors", tensors)
        roots = roots_of(outputs, grad_tensors, create_graph or now().level is not None)
        create_graph = create_graph or _from_outside(roots)
        if grad_tensors is None and type(roots[0][0]) is AccumulateGrad:
            _warn_of_leaf(outputs)
    if inputs is None:
        engine.run(roots, keep_graph=keep, create_graph=create_graph)
        if unselected.found is not None:
            tell(outputs, roots)
        return
    targets = _sequence("backward", "inputs", inputs)
    if not targets:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    found = engine.run(roots, keep_graph=keep, create_graph=create_graph, targets=[_target(t)[0] for t in targets])
    if unselected.found is not None:
        tell(outputs, roots)
    for t in dict.fromkeys(targets):
        if isinstance(t, GradientEdge) or type(t._node) is AccumulateGrad or t.retains_grad:  # it has its gradient
            continue
        if (g := found.get(t._node)) is not None:
            t._grad = added(getattr(t, "_grad", None), g)


def _warn_of_leaf(outputs: Sequence[Any]) -> None:
    """Warn of a pass from leaves alone, which has nowhere to go."""
    if all(not isinstance(t, GradientEdge) and type(t._node) is AccumulateGrad for t in outputs):
        warn("backward() of a leaf: it has no history, so no other tensor gets a gradient. A loss is a leaf if nothing "
             "that it was made of requires grad, or all was cut off (detach(), .data, item(), numpy(), no_grad); "
             "requires_grad_() gives it no history back. If the gradient by the leaf itself is meant, give the "
             "cotangent: backward(ones_like(x)).")  # fmt: skip


def grad(outputs: Roots, inputs: Roots, grad_outputs: TensorBase | Iterable[TensorBase | None] | None = None,
         retain_graph: bool | None = None, create_graph: bool = False, only_inputs: bool = True,
         allow_unused: bool | None = None, is_grads_batched: bool = False,
         materialize_grads: bool = False) -> tuple[Tensor, ...]:  # fmt: skip
    """The gradients of ``outputs`` with respect to ``inputs``, returned rather than accumulated.

    Args:
        outputs, inputs: a tensor or an iterable of tensors each; a `GradientEdge` may stand for a tensor. Inputs may be
            the values of a dictionary.
        grad_outputs: cotangents of the outputs; None where an output has one element.
        retain_graph, create_graph: as in `backward`.
        allow_unused: give None for an input that no output depends on, instead of raising.
        is_grads_batched: take ``grad_outputs`` for batches of cotangents, along a first dimension that all of them
            have, and give as many gradients, along theirs: one backward pass under `vmap`.
        materialize_grads: give zeros for an input that no output depends on.

    Returns:
        A tuple with one gradient for each input, of its shape and dtype; for a dictionary one with its keys.

    Raises:
        RuntimeError: an input was not used and ``allow_unused`` is not set, an input or output requires no grad, or the
            graph has been freed.
        IndexError, ValueError: the cotangents of a batch have no first dimension, or of different sizes, or of size 0,
            or one is None.

    >>> x = gw.tensor(3.0, requires_grad=True)
    >>> first, = gw.autograd.grad(x**3, x, create_graph=True)
    >>> second, = gw.autograd.grad(first, x)
    >>> first, second
    (tensor(27., grad_fn=<MulBackward0>), tensor(18.))
    """
    if inputs.__class__ is dict:
        named: Any = inputs
        several = grad(outputs, named.values(), grad_outputs, retain_graph, create_graph, only_inputs,
                       allow_unused, is_grads_batched, materialize_grads)  # fmt: skip
        return dict(zip(named, several, strict=True))  # type: ignore[return-value]
    if not only_inputs:
        raise ValueError("grad: only_inputs=False is deprecated; to accumulate into other leaves, use backward")
    outs, ins = _sequence("grad", "outputs", outputs), _sequence("grad", "inputs", inputs)
    if not ins:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if materialize_grads:
        if allow_unused is False:
            raise ValueError(
                "Expected allow_unused to be True or not passed when materialize_grads=True, but got: False."
            )
        allow_unused = True
    if is_grads_batched:
        given = cotangents(outs, grad_outputs)
        keep = create_graph if retain_graph is None else retain_graph
        batched = above("batched_grad")(outs, ins, given, keep, create_graph, allow_unused=allow_unused)
        if materialize_grads:
            size = given[0].array.shape[:1]
            return tuple([_zeros(t, create_graph, size) if g is None else g for t, g in zip(ins, batched, strict=True)])
        return tuple(batched)
    roots = roots_of(outs, grad_outputs, create_graph or now().level is not None)
    keep = create_graph if retain_graph is None else retain_graph
    enclosed = not create_graph and _from_outside(roots)
    nodes, numbers = zip(*map(_target, ins), strict=True)
    found = engine.run(roots, keep_graph=keep, create_graph=create_graph or enclosed, targets=nodes, accumulate=False)
    if unselected.found is not None:
        tell(outs, roots)
    results: list[Any] = []
    for i, (t, node, k) in enumerate(zip(ins, nodes, numbers, strict=True)):
        g = found.get(node)
        g = g if g is None or k is None else g.get(k)
        if g is None and materialize_grads:
            g = _zeros(t, create_graph)
        elif g is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior; gradwright.autograd.why_none(t, output) says where "
                "it is cut off."
            )
        if enclosed and g is not None and isinstance(g.array, LevelArray):
            g = wrap(g.array)
        results.append(g if g is None or isinstance(g, TensorBase) else wrap(unwritten(g)))  # nobody else's memory
    return tuple(results)


def _zeros(t: Any, create_graph: bool, batch: tuple[int, ...] = ()) -> Any:
    """The gradient of an input that no output depends on; what is made of it can be differentiated, if the graph is."""
    if isinstance(t, GradientEdge):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    g = wrap(backends.namespace(t.array).zeros_like(t.array, shape=batch + t.array.shape))
    return g.requires_grad_() if create_graph else g


def _from_outside(roots: Sequence[tuple[Any, Any]]) -> bool:
    """Whether a pass must be recorded as it runs in a transform, and passes what has a history from outside of that."""
    level = now().level
    return bool(level and level.encloses and level.records_outside
                and engine.reaches([node for node, _ in roots], level.start))  # fmt: skip


def _sequence(function: str, argument: str, value: Any) -> tuple[Any, ...]:
    """The tensors and edges that were given, each with its history as it is now."""
    if isinstance(value, TensorBase) or value.__class__ is GradientEdge:
        many: tuple[Any, ...] = (value,)
    elif isinstance(value, (list, tuple, Iterable)):
        many = tuple(value)
    else:
        raise TypeError(f"{function}: {argument} must be a Tensor or an iterable of Tensors, got {kind(value)}")
    for i, t in enumerate(many):
        if not isinstance(t, TensorBase):
            if t.__class__ is GradientEdge:
                continue
            raise TypeError(f"{function}: {argument}[{i}] must be a Tensor, got {kind(t)}")
        if t._view is not None:
            refresh(t)
        if isinstance(t.array, LevelArray):
            settle(t)
    return many


def _target(t: Any) -> tuple[Any, int | None]:
    """The node at which the gradient of an input is found, and which of its outputs it is if that node has them all."""
    if isinstance(t, GradientEdge):
        return t.node, None if t.node._several is None else t.output_nr
    if t._node is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return t._node, None


_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


def _unrecorded() -> str:
    """Why nothing is recorded now, with the mend; "" if it is."""
    if now().inference:
        return ("nothing is recorded in inference_mode(): compute what is differentiated outside it, or in no_grad() "
                "instead and there within enable_grad(). ")  # fmt: skip
    if not now().records:
        return ("nothing is recorded here, in no_grad() or the forward of a Function, which runs as if in it: compute "
                "what is differentiated within enable_grad(), of an input that requires grad. ")  # fmt: skip
    return ""


def roots_of(outputs: Sequence[Any], given: Any, tensors: bool) -> list[tuple[Any, Any]]:
    """The node of each output with its cotangent, checked: a Tensor if the pass is one of ``tensors``, else an array.

    It is where it is to be recorded, or in a transform, whose arrays may meet others.
    """
    given = cotangents(outputs, given)
    roots = []
    unselected.found = None
    for i, t in enumerate(outputs):
        g = given[i]
        if t.__class__ is GradientEdge:
            t = value_of(t, g)
        if t._node is None:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn: "
                               f"{_unrecorded()}gradwright.autograd.why_none(t) says what cut it off")  # fmt: skip
        if g is None:
            if t.array.size != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs, not for one of size "
                                   f"{size(t.array.shape)}: take its sum or mean, or give gradient=, a tensor of that "
                                   "size that says how much each entry counts")  # fmt: skip
            d = t.array.dtype
            if d is not _F32 and d is not _F64 and dtypes.of(d).is_complex:
                of = dtypes.of(d)
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {of}")
            roots.append((t._node, wrap(_one(t.array, True)) if tensors else _one(t.array, False)))
        else:
            g = cotangent(i, t, g)
            roots.append((t._node, g if tensors else g.array))
    return roots


def cotangents(outputs: Sequence[Any], given: Any) -> Sequence[Any]:
    """The cotangents given, one an output."""
    if given is None:
        return (None,) * len(outputs)
    if isinstance(given, TensorBase):
        given = (given,)
    if not isinstance(given, Iterable):
        raise TypeError(f"gradients can be either Tensors or None, but got {kind(given)}: give one for each output, "
                        "each of its output's size")  # fmt: skip
    many = tuple(given)
    if len(many) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(many)} gradients")
    return many


def cotangent(i: int, t: Any, g: Any) -> Any:
    """The cotangent given for an output, in its dtype; TypeError for no tensor, RuntimeError for a wrong shape."""
    if not isinstance(g, TensorBase):
        raise TypeError(f"gradients can be either Tensors or None, but got {kind(g)}")
    used((g,))
    if t.array.__class__ is not g.array.__class__ or is_immutable(t.array):
        backends.common("backward", (t.array, g.array))
    if g.array.shape != t.array.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {dtypes.Size(g.array.shape)} and output[{i}] has a "
            f"shape of {dtypes.Size(t.array.shape)}."
        )
    if g.array.dtype == t.array.dtype:
        return g
    given, wanted = dtypes.of(g.array.dtype), dtypes.of(t.array.dtype)
    if given.is_complex != wanted.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{i}] has a dtype of {given} and output[{i}] has a dtype of {wanted}."
        )
    return g.to(wanted)


def _one(array: Any, writable: bool) -> Any:
    """1 in the shape (of one element) and dtype of ``array``; of NumPy's, a scalar unless it is to be ``writable``."""
    if isinstance(array, (np.ndarray, np.generic)):
        if not array.ndim and not writable:
            return array.dtype.type(1)
        one = array.copy() if array.__class__ is np.ndarray else np.array(array)
        one.fill(1)
        return one
    if is_immutable(array):
        return backends.namespace(array).ones_like(array)
    if is_immutable(plain := below(array)):
        return backends.namespace(plain).ones(array.shape, dtype=array.dtype, device=plain.device)
    one = array.dtype.type(1)
    return one if array.shape == () else one.reshape(array.shape)

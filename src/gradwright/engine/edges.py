"""What PyTorch has in ``torch.autograd.graph``: nodes, edges, hooks on several tensors and on what is saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from gradwright import backends
from gradwright.base.errors import kind
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.hooks import RemovableHandle, Together
from gradwright.engine.node import Node, Output
from gradwright.engine.version import bump
from gradwright.engine.view import refresh


class GradientEdge(NamedTuple):
    """A point of the graph where a gradient passes: `grad` and `backward` take it in place of the tensor it is of.

    It keeps the graph alive, but not the values of the tensor. The edges in ``node.next_functions`` are pairs of the
    first two: ``GradientEdge(*pair)``.

    Attributes:
        node: the node that the gradient goes into.
        output_nr: which of its outputs the gradient is of.
        ownership_token: what `get_gradient_edge` knows about the tensor besides; None in an edge that you make.

    >>> x = gw.tensor(3.0, requires_grad=True)
    >>> y = x * x
    >>> gw.autograd.grad(gw.autograd.graph.get_gradient_edge(y), x)
    (tensor(6.),)
    """

    node: Node
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: TensorBase) -> GradientEdge:
    """The edge of a tensor that requires grad, which `grad` and `backward` take in its place.

        >>> import gradwright
        >>> from gradwright.autograd.graph import get_gradient_edge
        >>> x = gradwright.tensor(3.0, requires_grad=True)
        >>> y = x * x
        >>> edge = get_gradient_edge(y)
        >>> gradwright.autograd.grad(y.exp(), edge)[0] == y.exp()
        tensor(True)

    Raises TypeError for what is no tensor, RuntimeError for a tensor that requires no grad.
    """
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"get_gradient_edge: expected a Tensor, got {kind(tensor)}")
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node, array = _node(tensor), tensor.array
    xp = backends.namespace(array)
    valueless = xp.broadcast_to(xp.zeros((), dtype=array.dtype), array.shape)
    return GradientEdge(*node._edge(), wrap(valueless, node))


def _node(t: Any) -> Node:
    if t._view is not None:
        refresh(t)
    return t._node


def value_of(edge: GradientEdge, gradient: Any) -> Any:
    """A stand-in for the tensor of an edge where a backward pass begins: its node, shape and dtype, no values.

    ``gradient`` gives the latter two for an edge that was made by hand; RuntimeError if it is None then.
    """
    if edge.ownership_token is not None:
        return edge.ownership_token
    if gradient is None:
        raise RuntimeError("grad can be implicitly created only for scalar outputs: of an edge that did not come from "
                           "get_gradient_edge the shape is not known, so give its gradient")  # fmt: skip
    node = edge.node if edge.node._several is None else Output(edge.node, edge.output_nr)
    return wrap(gradient.array, node)


def register_multi_grad_hook(tensors: Sequence[Any], fn: Callable[..., None], *, mode: str = "all") -> RemovableHandle:
    """Call ``fn`` once in each backward pass, when it has come to several tensors.

    Args:
        tensors: tensors that require grad; under "any" others are passed over.
        fn: what it returns is ignored.
        mode: with "all", ``fn(grads)`` is called when the gradients of all tensors have come that will come in this
            pass; grads is a list with None for the others. With "any", ``fn(grad)`` gets the first that comes.

    With "all" the call comes in the hook of the last tensor, unless a tensor made earlier than it gets no gradient in
    this pass: then at its end, before anything is accumulated in leaves.

        >>> import gradwright
        >>> from gradwright.autograd.graph import register_multi_grad_hook
        >>> a, b = gradwright.ones(2, requires_grad=True), gradwright.ones(2, requires_grad=True)
        >>> c, d = a * b, a + b
        >>> handle = register_multi_grad_hook((a, b, c, d), lambda grads: print([g is not None for g in grads]))
        >>> c.sum().backward()
        [True, True, True, False]

    Returns a handle that takes the hook off all tensors.

    Raises ValueError for another mode, RuntimeError under "all" for a tensor that requires no grad.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        tensors = [t for t in tensors if t.requires_grad]
    elif not all(t.requires_grad for t in tensors):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    together = Together(fn, first=mode == "any")
    for t in tensors:
        together.add(_node(t))
    return together


def increment_version(tensor: TensorBase | Iterable[TensorBase]) -> None:
    """Count a write into the memory of a tensor, or of each of several, that was made past gradwright.

    Values that nodes have saved of it are then known to have changed: using them is an error.

    Raises RuntimeError for what is neither a Tensor nor an iterable of Tensors.

    >>> x = gw.ones(2)
    >>> gw.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    try:
        tensors: list[Any] = [tensor] if isinstance(tensor, TensorBase) else list(tensor)
    except TypeError:
        tensors = [None]
    if not all(isinstance(t, TensorBase) for t in tensors):
        raise RuntimeError(f"increment_version expect a Iterable[Tensor] as input, got {kind(tensor)}")
    for t in tensors:
        bump(t._counter)

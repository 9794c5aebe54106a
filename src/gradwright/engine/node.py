"""The graph: nodes that turn the cotangent of a result into the cotangents of its inputs.

Every node has one cotangent, the sum of all that reach it, and a list ``_next`` of nodes that its results go to. The
kinds: operations and users' Functions (which compute), `Output` (one of several results of a node; it hands its
cotangent on in a `Bundle`), and `AccumulateGrad` (a leaf; it ends in ``.grad``). The engine knows only their protocol:
``_run``, ``_next``, ``_seq``, ``_hooks``. Names start with an underscore because a Function's ctx is its node, and its
attributes belong to the user.

A node never refers to a tensor strongly, only to arrays and other nodes, so graphs are owned in one direction.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Sequence
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.cpython.forks import lock
from gradwright.base.cpython.references import alone, count
from gradwright.base.errors import size
from gradwright.engine.base import TensorBase, ticket, wrap
from gradwright.engine.hooks import Hooks, RemovableHandle
from gradwright.engine.levels import varies
from gradwright.engine.memory import OVERLAPS, is_immutable, layout, lying, overlaps, same, write
from gradwright.engine.strict import warn
from gradwright.engine.version import mark
from gradwright.ops.declare import table

routing: ContextVar[Any] = ContextVar("routing", default=None)
"""In a pass that goes to given nodes: the nodes on the way to them, and they."""


class Node:
    """One step of the backward pass.

    What ``grad_fn`` gives: ``name()``, ``next_functions`` (pairs of a node and which of its outputs), ``metadata``,
    ``register_hook(hook)`` and ``register_prehook(hook)``.

    >>> x = gw.ones(2, requires_grad=True)
    >>> node = (x * 2).sum().grad_fn
    >>> node.name(), [parent.name() for parent, _ in node.next_functions]
    ('SumBackward0', ['MulBackward0'])
    """

    __slots__ = ("__weakref__", "_hooks", "_next", "_saved", "_seq")

    _seq: int
    _next: tuple[Node, ...]
    _hooks: Hooks | None
    _saved: Any
    _edge_mask: Sequence[bool] = ()
    """Which inputs of the operation the entries of ``_next`` belong to."""
    _array: Any = None
    """The memory of the leaf, at the end of the graph."""
    _inner: bool = False
    """Whether it is the end of the graph at an input of a function that is differentiated, which nobody outside has."""
    _several: int | None = None
    """How many outputs it has, if their cotangents come in a `Bundle`."""

    def __init__(self, targets: Sequence[Node] = ()) -> None:
        self._seq = ticket()
        self._next = tuple(targets)
        self._hooks = None
        self._saved = ()

    def _run(self, xp: Any, g: Any) -> Sequence[Any]:
        """The cotangents for ``_next``, given the cotangent of this node; ``xp`` is the namespace of ``g``."""
        raise NotImplementedError

    def name(self) -> str:
        """The name of this kind of node, such as ``MulBackward0``; PyTorch's own two have theirs with a prefix."""
        name = type(self).__name__
        return f"torch::autograd::{name}" if name in ("AccumulateGrad", "CopySlices") else name

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each input: the node its gradient goes to and which of that node's outputs it is; (None, 0) if none."""
        targets = iter(self._next)
        return tuple(next(targets)._edge() if needed else (None, 0) for needed in self._edge_mask)

    def _edge(self) -> tuple[Node, int]:
        return self, 0

    def _written(self) -> str | None:
        """The place of the user's forward."""
        return None

    def _hooked(self) -> Hooks:
        hooks = self._hooks
        if hooks is None:
            with lock:  # another thread may be about to
                hooks = self._hooks = self._hooks or Hooks()
        return hooks

    def register_hook(self, fn: Any) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after this node has run; what it returns replaces grad_inputs.

        Both are tuples: one gradient, or None, for each of `next_functions`, and one for each output. ``fn`` returns
        None or a tuple like grad_inputs, in which None drops a gradient.
        """
        return RemovableHandle(self._hooked().post, fn)

    def register_prehook(self, fn: Any) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before this node runs; what it returns replaces grad_outputs.

        ``fn`` returns None or a tuple like grad_outputs, in which None drops a gradient; the node does not run if
        none is left.
        """
        return RemovableHandle(self._hooked().pre, fn)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary of your own that stays with this node."""
        return self._hooked().metadata

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {hex(id(self))}>"


def operation(node: Node) -> str:
    """The operation that a node goes back through, as messages call it: ``Mul``. (``node.name`` may be the user's.)"""
    return re.sub(r"Backward\d*$", "", type(node).__name__)


class Bundle(dict[int, Any]):
    """The cotangents of a node with several outputs, by output; ``a + b`` merges b into a, which nobody else holds."""

    def __add__(self, other: Bundle) -> Bundle:
        for i, g in other.items():
            self[i] = self[i] + g if i in self else g
        return self


class Output(Node):
    """One of several outputs of ``node``: hands its cotangent on, marked with its index.

    ``others`` are outputs of which it is computed inside. Its cotangent does not come by them: that they are asked for
    theirs, or have hooks, is an error.
    """

    __slots__ = ("index",)

    def __init__(self, node: Node, index: int, others: Sequence[Output] = ()) -> None:
        super().__init__((node, *others))
        self.index = index

    _edge_mask = (True,)

    def _run(self, xp: Any, g: Any) -> Sequence[Any]:
        if len(self._next) > 1:
            self._passing()
        return (Bundle({self.index: g}),)

    def _passing(self) -> None:
        """Raise RuntimeError if one of the others has to hear of the cotangent."""
        aim = routing.get()
        wanted = () if aim is None else aim[1]
        for other in self._next[1:]:
            hooks = other._hooks
            hooked = hooks is not None and (hooks.tensor or hooks.pre or hooks.post or hooks.retained)
            if other in wanted or hooked:
                what = "has a hook, or retain_grad()" if hooked else "is one that is differentiated by"
                raise RuntimeError(
                    f"result {other.index} of a compiled function {what}, and result {self.index} is computed from it "  # type: ignore[attr-defined]
                    "inside: the backward pass of the compiled function leads straight to its arguments, so what comes "
                    "by this way would be missing. Compute the second of the first outside, compile the pass as well, "
                    "or call the function itself"
                )

    def _edge(self) -> tuple[Node, int]:
        return self._next[0], self.index


class NotDifferentiable(Node):
    """The node of an operation that has no derivative: running it raises NotImplementedError."""

    __slots__ = ("operation",)
    _edge_mask = (True,)

    def __init__(self, before: Node, operation: str) -> None:
        super().__init__((before,))
        self.operation = operation

    def _run(self, xp: Any, g: Any) -> Sequence[Any]:
        raise NotImplementedError(f"the derivative for '{self.operation}' is not implemented.")


class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds its cotangent to the leaf's ``.grad``."""

    __slots__ = ("_array", "_cls", "_counter", "_grad", "_leaf")

    def __init__(self, leaf: TensorBase) -> None:
        super().__init__()
        self._leaf = weakref.ref(leaf)
        self._array, self._counter, self._cls = leaf.array, leaf._counter, type(leaf)
        self._grad: Any = None  # only of a leaf that the user has dropped
        if not hasattr(leaf, "_grad"):
            leaf._grad = None

    def enter(self) -> None:
        """Note that the leaf is made for the run of a function (`gradwright.transform`)."""
        self._saved = ("inner",)

    def end(self) -> None:
        """Note that this run is over."""
        self._saved = None

    @property
    def ended(self) -> bool:
        """Whether it is."""
        return self._saved is None

    @property
    def _inner(self) -> bool:  # type: ignore[override]
        return self._saved != ()

    @property
    def variable(self) -> Any:
        """The leaf. If the user has dropped it, a tensor over the same memory takes its place."""
        leaf = self._leaf()
        if leaf is None:
            leaf = wrap(self._array, self, self._counter)
            leaf.__class__ = self._cls
            leaf._grad = self._grad
            self._leaf = weakref.ref(leaf)
        return leaf

    def _run(self, xp: Any, g: Any) -> Sequence[Any]:
        leaf = self._leaf()
        if leaf is not None and leaf._node is None:  # it was frozen since
            return ()
        holder = self if leaf is None else leaf
        shape = g.shape
        if shape != self._array.shape or g.dtype is not self._array.dtype:
            g = self._fitted(xp, g)
        old = holder._grad
        if isinstance(g, TensorBase):
            if varies(g.array, self._array):
                raise RuntimeError(
                    "backward() under vmap: the gradient of a leaf from outside is another one for each example, which "
                    "its .grad cannot hold. Return the gradients, autograd.grad(loss, leaf), or call backward() of the "
                    "sum of what vmap returns"
                )
            holder._grad = self._laid(xp, g) if old is None else old + g
        elif old is None:
            alone = count(g) <= _ALONE and getattr(g, "base", None) is None
            if not alone or (len(shape) > 1 and (g.__class__ is not np.ndarray or g.strides != self._array.strides)):
                keeps = (alone or is_immutable(g)) and lying(g) == lying(self._array)
                g = g if keeps else self._laid(xp, g)
            holder._grad = wrap(g)
        else:
            if old.array.shape != g.shape or old.array.dtype != g.dtype:
                raise RuntimeError(
                    f"the gradient of a leaf is of shape {size(g.shape)} and {dtypes.of(g.dtype)}, but its .grad holds "
                    f"one of shape {size(old.array.shape)} and {dtypes.of(old.array.dtype)}, from before it was given "
                    "other .data: set .grad to None then"
                )
            a = old.array
            kept = g.__class__ is not np.ndarray and is_immutable(g)
            if kept or getattr(a, "base", None) is not None or a is self._array or count(old) > _ITS_OWN:
                _check_addable(old, self)
            if count(old._counter) > UNSHARED:  # else nobody has saved it, so nobody will ask where
                mark(old._counter, 4)
            if kept:
                old._counter[0] += 1
                write(old, a + g)
            else:  # both or none: see `gradwright.base.cpython.at_once`
                try:
                    old.array += g
                except ValueError as e:
                    raise RuntimeError(
                        f"the gradient of a leaf of shape {size(self._array.shape)} is to be added to its .grad, which "
                        "was set to memory that must not be written. Set .grad to a clone()."
                    ) from e
                old._counter[0] += 1
        return ()

    def _fitted(self, xp: Any, g: Any) -> Any:
        """A gradient in the dtype of the leaf; RuntimeError if it is of another shape, or complex and the leaf real."""
        want, have = dtypes.of(self._array.dtype), dtypes.of(g.dtype)
        if tuple(g.shape) != tuple(self._array.shape) or have.category > want.category:
            raise RuntimeError(
                f"a derivative is wrong: the gradient that reached a leaf of shape {size(self._array.shape)} and "
                f"{want} is of shape {size(g.shape)} and {have}. Unless the leaf was given other .data since, "
                "gradcheck of each operation on the way shows which one it is."
            )
        backends.common("backward", (self._array, getattr(g, "array", g)))
        return g if have is want else xp.astype(g, self._array.dtype)

    def _laid(self, xp: Any, g: Any) -> Any:
        """A copy of a gradient that lies in memory as the leaf does if that has no gaps, else in row-major order."""
        order = lying(self._array)
        return xp.asarray(g, copy=True) if order is None else table["lay"].forward(xp, g, order=order)

    def __repr__(self) -> str:
        return f"<AccumulateGrad object at {hex(id(self))}>"


def is_input(node: Any) -> bool:
    """Whether a node is the end of the graph at an input of a function that is differentiated now."""
    return type(node) is AccumulateGrad and node._inner and not node.ended


def _check_addable(grad: Any, end: AccumulateGrad) -> None:
    """RuntimeError if a .grad, set by the user, cannot be added to in place; a warning if another leaf has it, too."""
    leaf = end.variable
    of = f"the gradient of a leaf of shape {size(leaf.array.shape)} is to be added to its .grad, which was set to "
    if overlaps(grad):
        raise RuntimeError(f"{OVERLAPS} ({of}such a tensor)")
    if same(grad, leaf) and np.shares_memory(layout(grad), layout(leaf)):
        raise RuntimeError(f"{of}the memory of the leaf itself: that would change the leaf. Set .grad to a clone().")
    other = grad.__dict__.setdefault("_gradient_of", end._leaf)()
    if other is None:
        grad.__dict__["_gradient_of"] = end._leaf
    elif other is not leaf and other._grad is grad:
        warn(f"{of}the .grad of another leaf, of shape {size(other.array.shape)}: it becomes the sum of the gradients "
             "of both. Set .grad to a clone(), unless that is meant.")  # fmt: skip


def _references() -> int:
    """How many references an array has in `AccumulateGrad._run` when nobody else holds it: taken, not guessed."""

    def run(xp: Any, g: Any) -> int:
        return count(g)

    leaves = [(None, object())]
    _, g = leaves.pop()
    return run(None, g)


def _references_to_grad() -> int:
    """The same of a ``.grad``."""

    def run(holder: Any) -> int:
        old = holder._grad
        return count(old)

    return run(SimpleNamespace(_grad=object()))


_ALONE, _ITS_OWN = alone(_references), alone(_references_to_grad)
_one = wrap(None)
UNSHARED = alone(lambda: count(_one._counter))
"""How many references a counter has that belongs to one tensor, and to no node."""


def node_of(t: TensorBase) -> Node | None:
    """The node of ``t`` as users see it: the operation that made it, None for a leaf."""
    node = t._node
    if type(node) is AccumulateGrad:
        return None
    return node._edge()[0] if node is not None else None

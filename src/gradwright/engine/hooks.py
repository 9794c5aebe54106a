"""Hooks on a node, and the order they run in.

Tensor hooks in registration order, then `retain_grad`, then node pre-hooks, the node itself, its post-hooks; on a leaf,
the post-accumulate hooks come between the node and its post-hooks. What runs is what is registered when its turn comes:
a hook may take off, or add, any hook but those of its own kind on the same node, which count from the next pass on.
A post-hook that a Function adds in its own backward, to a node without hooks, counts from the next pass on, too.

The gradients that hooks get are theirs: they may keep them, and change them in place, which counts as replacing them.
Hooks run in the grad mode of the pass and with the user's own NumPy error state. What they raise reaches the caller of
backward with its own type, and with a note that names the hook and the node.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gradwright.backends.quiet import as_user
from gradwright.base import dtypes
from gradwright.base.cpython.forks import lock
from gradwright.base.dtypes import LEGACY
from gradwright.base.errors import kind, size
from gradwright.base.source_line import is_own
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.memory import unwritten
from gradwright.engine.mode import now
from gradwright.engine.watch import seen

_number = itertools.count().__next__


class Registry(dict[int, Any]):
    """Hooks by number. Handles refer to it weakly: a hook may hold its own handle without keeping itself alive."""

    __slots__ = ("__weakref__",)


class RemovableHandle:
    """The handle of a hook: ``remove()`` takes the hook off again; also a context manager.

    Attributes:
        id: a number of its own; handles made later have larger ones.
    """

    def __init__(self, hooks: Registry, fn: Any) -> None:
        self.id = _number()
        while self.id in hooks:  # which have been unpickled
            self.id = _number()
        self._hooks = weakref.ref(hooks)
        hooks[self.id] = fn

    def remove(self) -> None:
        """Take the hook off; a second call does nothing."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()

    def __getstate__(self) -> Any:  # the copy of a handle takes off the copy of the hook
        return self.id, self._hooks()

    def __setstate__(self, state: Any) -> None:
        self.id, hooks = state
        self._hooks = weakref.ref(Registry() if hooks is None else hooks)


def add(hooks: Registry, hook: Any, prepend: bool = False) -> RemovableHandle:
    """Register a hook, behind those there are or in front of them."""
    before = dict(hooks) if prepend else {}
    handle = RemovableHandle(hooks, hook)
    for number, other in before.items():
        del hooks[number]
        hooks[number] = other
    return handle


class Hooks:
    """All hooks of one node."""

    __slots__ = ("accumulated", "metadata", "place", "post", "pre", "retained", "tensor")

    def __init__(self) -> None:
        self.tensor = Registry()
        self.retained: list[weakref.ref[TensorBase]] = []
        self.pre = Registry()
        self.post = Registry()
        self.accumulated = Registry()
        self.metadata: dict[Any, Any] = {}
        self.place: Any = None  # the line that recorded the node, under anomaly mode

    def retain(self, t: TensorBase) -> None:
        """Keep the gradient of ``t`` in its ``.grad`` (``t`` itself is not kept alive)."""
        self.retained.append(weakref.ref(t))

    def release(self, t: TensorBase) -> bool:
        """Undo `retain`; False if it was not called."""
        kept = [ref for ref in self.retained if ref() is not t]
        found = len(kept) < len(self.retained)
        self.retained = kept
        return found

    def before(self, node: Any, g: Any, waiting: dict[Any, Any]) -> Any:
        """The cotangent after tensor hooks and `retain_grad` have seen it; ``waiting`` is what `Together` needs."""
        if self.tensor:
            t = _own(g)
            for fn in list(self.tensor.values()):
                if isinstance(fn, Share):
                    fn.arrived(node, t, waiting)
                else:
                    result = call(fn, node, t)
                    t = t if result is None else fitting(result, t, fn, node)
            g = _like(t, g)
        for ref in list(self.retained):
            t = ref()
            if t is not None:
                with lock:
                    t._grad = added(getattr(t, "_grad", None), g)
        return g

    def ahead(self, node: Any, g: Any) -> Any:
        """The cotangent after the pre-hooks have seen it; None if they leave nothing of it."""
        if not self.pre:
            return g
        several = isinstance(g, dict)
        given = [g.get(k) for k in range(node._several)] if several else [g]
        grads = _passed(self.pre, node, list(map(_own, given)))
        results = list(map(_like, grads, given))
        if not several:
            return results[0]
        return type(g)({k: r for k, r in enumerate(results) if r is not None}) or None

    def after(self, node: Any, results: Any, g: Any) -> Any:
        """The cotangents of the inputs after the post-hooks have seen them."""
        if not self.post:
            return results
        outputs = [g.get(k) for k in range(node._several)] if isinstance(g, dict) else [g]
        computed = iter(results)
        needed = list(node._edge_mask)
        inputs = [next(computed, None) if n else None for n in needed]
        grads = _passed(self.post, node, list(map(_own, inputs)), tuple(map(_own, outputs)))
        return [_like(t, r) for t, r, n in zip(grads, inputs, needed, strict=True) if n]

    def accumulate(self, node: Any, leaf: Any) -> None:
        """Run the post-accumulate hooks, which return None or the leaf."""
        for fn in list(self.accumulated.values()):
            result = call(fn, node, leaf)
            if result is not None and result is not leaf:
                error = RuntimeError if isinstance(result, TensorBase) else TypeError
                raise error(f"Tensor post accumulate grad hooks should return None, but {title(fn, node)} returned "
                            f"{kind(result)}: set the .grad of the tensor it is given instead")  # fmt: skip


def call(fn: Callable[..., Any], node: Any, *args: Any) -> Any:
    """The result of a user's hook; an exception gets a note that names the hook and ``node``."""
    with _Named(fn, node):
        if not now().watches:
            return as_user(fn, *args)
        return as_user(seen, title(fn, node), args, partial(fn, *args))


class _Named:
    """Around the call of a user's hook, not of our own that run modules' hooks: an exception gets a note naming it."""

    def __init__(self, fn: Any, node: Any) -> None:
        self.fn, self.node = fn, node

    def __enter__(self) -> None:
        pass

    def __exit__(self, cls: object, error: BaseException | None, trace: object) -> None:
        code = getattr(getattr(self.fn, "func", self.fn), "__code__", None)
        if error is not None and not (code and is_own(code.co_filename)):
            error.add_note(f"raised by {title(self.fn, self.node)}")


def title(fn: Any, node: Any) -> str:
    """A hook and its node, as messages call them."""
    code = getattr(fn, "__code__", None)
    at = f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
    owner, k = node._edge()
    output = f"output {k} of " if owner is not node else ""
    return f"hook '{_name(fn)}'{at} on {output}{type(owner).__name__}"


def _name(fn: Any) -> str:
    return getattr(fn, "__name__", None) or type(fn).__name__


def as_tensor(g: Any) -> Any:
    """A cotangent as users see it: a Tensor."""
    return g if isinstance(g, TensorBase) else wrap(g)


def added(old: Any, g: Any) -> Any:
    """A gradient ``old``, or None, plus a cotangent, in memory of its own."""
    if old is not None:
        return old + as_tensor(g)
    return g.clone() if isinstance(g, TensorBase) else wrap(unwritten(g))  # type: ignore[attr-defined]


def _own(g: Any) -> Any:
    """A cotangent as a Tensor in memory of its own, which a hook may change."""
    if g is None:
        return None
    array, node = (g.array, g._node) if isinstance(g, TensorBase) else (g, None)
    return wrap(unwritten(array), node)


def _like(t: Any, old: Any) -> Any:
    """A gradient from a hook as the engine has it: like ``old``, a Tensor or an array."""
    return t if t is None or isinstance(old, TensorBase) else t.array


def _passed(hooks: Registry, node: Any, grads: list[Any], *others: Any) -> Sequence[Any]:
    """These gradients after all node hooks, one after another; None for one that they drop."""
    for fn in list(hooks.values()):
        result = call(fn, node, tuple(grads), *others)
        if result is None:
            continue
        if not isinstance(result, tuple):
            raise TypeError(f"expected tuple, but hook returned '{kind(result)}': {title(fn, node)}")
        if len(result) != len(grads):
            raise RuntimeError(
                f"hook '{_name(fn)}' has returned an incorrect number of values (got {len(result)}, but expected "
                f"{len(grads)}): {title(fn, node)}"
            )
        grads = [None if new is None else fitting(new, old, fn, node) for new, old in zip(result, grads, strict=True)]
    return grads


def fitting(new: Any, old: Any, fn: Any, node: Any) -> Any:
    """The gradient that a hook returned in place of ``old``, if it fits."""
    if not isinstance(new, TensorBase):
        raise TypeError(f"expected Variable, but hook returned '{kind(new)}': {title(fn, node)} must return a Tensor")
    if old is None:
        raise RuntimeError(f"can't replace a None gradient with a non-None value: {title(fn, node)}")
    if new.array.dtype != old.array.dtype:
        was, got = (LEGACY.get(d.name, d.name) for d in (dtypes.of(a.array.dtype) for a in (old, new)))
        raise RuntimeError(
            f"hook '{_name(fn)}' has changed the type of value (was torch.{was} got torch.{got}): {title(fn, node)}"
        )
    if new.array.shape != old.array.shape:
        raise RuntimeError(f"hook '{_name(fn)}' has changed the size of value (was {size(old.array.shape)} got "
                           f"{size(new.array.shape)}): {title(fn, node)}")  # fmt: skip
    return new


class Together(RemovableHandle):
    """A hook on several tensors, and its handle: each pass runs it once, when all gradients, or the first, have come.

    A pass keeps in ``waiting``, by hook, the gradients that have come so far and the last node, or None once the hook
    has run. Nodes run last made first, and leaves at the end: a tensor whose node was made later than the one that runs
    has had its turn; the gradient of one made earlier, or of a leaf, may come. What has not come when the pass is
    through never will: `finish`.
    """

    def __init__(self, fn: Callable[..., Any], first: bool) -> None:
        self.id = _number()
        self.fn, self.first = fn, first
        self.handles: list[RemovableHandle] = []
        self.made: list[int] = []  # the sequence numbers of the nodes: the nodes themselves would make a cycle

    def add(self, node: Any) -> None:
        """Hang the hook on one more tensor, whose node this is."""
        self.handles.append(RemovableHandle(node._hooked().tensor, Share(self, len(self.made))))
        self.made.append(node._seq if node._next else 0)

    def remove(self) -> None:
        """Take the hook off all tensors; a second call does nothing."""
        while self.handles:
            self.handles.pop().remove()

    def arrived(self, k: int, node: Any, g: Any, waiting: dict[Any, Any]) -> None:
        """Note the gradient of tensor ``k``; run the hook if it is the last that can come."""
        state = waiting.setdefault(self, ([None] * len(self.made), node))
        if state is None:
            return
        grads = state[0]
        grads[k] = g
        waiting[self] = grads, node
        to_come = [h is None and made <= node._seq for h, made in zip(grads, self.made, strict=True)]
        if self.first or not any(to_come):
            waiting[self] = None
            call(self.fn, node, g if self.first else grads)


class Share:
    """The part of a `Together` that hangs on one of its tensors."""

    __slots__ = ("arrived",)

    def __init__(self, together: Together, k: int) -> None:
        self.arrived = partial(together.arrived, k)


def finish(waiting: dict[Any, Any]) -> None:
    """At the end of a pass, run those hooks on several tensors that still wait for gradients which did not come."""
    for together, state in list(waiting.items()):
        if state is not None and together.handles:
            call(together.fn, state[1], state[0])

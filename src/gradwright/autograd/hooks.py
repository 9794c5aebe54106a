"""Hooks on a node, and the order they run in.

Tensor hooks in registration order, then `retain_grad`, then node pre-hooks, the node itself, its post-hooks; on a leaf,
the post-accumulate hooks come last.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any

from gradwright.autograd.base import TensorBase, wrap
from gradwright.errors import kind, size

_number = itertools.count().__next__


class RemovableHandle:
    """What registering a hook returns: ``remove()`` takes the hook off again; also a context manager."""

    def __init__(self, hooks: dict[int, Any], fn: Any) -> None:
        self.id = _number()
        self._hooks = hooks
        hooks[self.id] = fn

    def remove(self) -> None:
        """Take the hook off; a second call does nothing."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class Hooks:
    """All hooks of one node."""

    __slots__ = ("accumulated", "metadata", "place", "post", "pre", "retained", "tensor")

    def __init__(self) -> None:
        self.tensor: dict[int, Any] = {}
        self.retained: list[weakref.ref[TensorBase]] = []
        self.pre: dict[int, Any] = {}
        self.post: dict[int, Any] = {}
        self.accumulated: dict[int, Any] = {}
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

    def before(self, g: Any) -> Any:
        """The cotangent after tensor hooks and `retain_grad` have seen it."""
        for fn in list(self.tensor.values()):
            g = _replaced(fn(as_tensor(g)), g, "a tensor hook")
        for ref in self.retained:
            t = ref()
            if t is not None:
                t._grad = added(getattr(t, "_grad", None), g)
        return g

    def ahead(self, g: Any) -> Any:
        """The cotangent after the pre-hooks have seen it."""
        for fn in list(self.pre.values()):
            result = fn(_tensors(g))
            if result is not None:
                g = _merged(result, g)
        return g

    def after(self, results: Any, g: Any) -> Any:
        """The cotangents of the inputs after the post-hooks have seen them."""
        for fn in list(self.post.values()):
            replaced = fn(tuple(None if r is None else as_tensor(r) for r in results), _tensors(g))
            if replaced is not None:
                replaced = replaced if isinstance(replaced, tuple) else (replaced,)
                if len(replaced) != len(results):
                    raise RuntimeError(
                        f"a post-hook returned {len(replaced)} gradients, but the node has {len(results)} inputs"
                    )
                results = tuple(_replaced(n, r, "a post-hook") for n, r in zip(replaced, results, strict=True))
        return results


def as_tensor(g: Any) -> Any:
    """A cotangent as users see it: a Tensor."""
    return g if isinstance(g, TensorBase) else wrap(g)


def added(old: Any, g: Any) -> Any:
    """A gradient ``old``, or None, plus a cotangent, in memory of its own."""
    if old is not None:
        return old + as_tensor(g)
    return g.clone() if isinstance(g, TensorBase) else wrap(g.copy() if hasattr(g, "copy") else g)


def _tensors(g: Any) -> tuple[Any, ...]:
    if isinstance(g, dict):
        return tuple(as_tensor(g[i]) if i in g else None for i in range(max(g) + 1))
    return (as_tensor(g),)


def _merged(result: Any, g: Any) -> Any:
    result = result if isinstance(result, tuple) else (result,)
    if not isinstance(g, dict):
        return _replaced(result[0], g, "a pre-hook")
    return type(g)({i: _replaced(r, g.get(i), "a pre-hook") for i, r in enumerate(result) if r is not None})


def _replaced(new: Any, old: Any, who: str) -> Any:
    """What a hook returned in place of ``old``, checked: None keeps it, anything else must fit it."""
    if new is None:
        return old
    if not isinstance(new, TensorBase):
        raise TypeError(f"{who} returned {kind(new)}; expected a Tensor or None")
    if old is not None and new.array.shape != old.shape:
        raise RuntimeError(f"{who} returned shape {size(new.array.shape)} for a gradient of shape {size(old.shape)}")
    if old is not None and new.array.dtype != (old.array if isinstance(old, TensorBase) else old).dtype:
        raise RuntimeError(f"{who} changed the gradient's type to {new.array.dtype.name}; expected {old.dtype}")
    return new if old is None or isinstance(old, TensorBase) else new.array

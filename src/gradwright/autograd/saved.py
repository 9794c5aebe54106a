"""Saved-tensor hooks: what becomes of the values that nodes save for backward."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from gradwright.autograd.base import TensorBase, wrap
from gradwright.autograd.grad_mode import record
from gradwright.autograd.node import Node
from gradwright.autograd.watch import Watch
from gradwright.errors import kind, size

_disabled: ContextVar[str | None] = ContextVar("why saved-tensor hooks are disabled", default=None)


class saved_tensors_hooks(Watch):
    """While this is on, what is saved for backward goes through ``pack_hook``, and comes back by ``unpack_hook``.

    Args:
        pack_hook: gets the tensor to save, and returns anything.
        unpack_hook: gets what ``pack_hook`` returned when backward needs the value, each time it does, and returns a
            tensor of the same values, shape and dtype.

    Both run without recording. Of nested ones only the innermost counts. A value that was packed is not checked for
    having been changed in place.

        >>> import gradwright
        >>> x = gradwright.tensor([1.0, 2.0], requires_grad=True)
        >>> from gradwright.autograd.graph import saved_tensors_hooks
        >>> with saved_tensors_hooks(lambda t: t.tolist(), gradwright.tensor):
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad
        tensor([2., 4.])

    Raises RuntimeError where `disable_saved_tensors_hooks` forbids it; TypeError if what ``unpack_hook`` returns is no
    Tensor; RuntimeError if it is one of another shape or dtype.
    """

    computes = False

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> Any:
        why = _disabled.get()
        if why is not None:
            raise RuntimeError(why)
        return super().__enter__()

    def recorded(self, node: Node) -> None:
        saved = getattr(node, "_saved", None)
        if not saved or isinstance(saved, Packed):  # an inner one has packed it
            return
        count = getattr(node, "_packed", len(saved))
        before = record(False)
        try:
            node._saved = Packed([self._packed(e) if k < count and e is not None else e for k, e in enumerate(saved)])
        finally:
            record(bool(before))

    def _packed(self, entry: Any) -> Any:
        if not entry or type(entry[0]) is tuple:
            return tuple(self._packed(e) for e in entry)
        array, counter, _, node = entry
        return SavedTensor(wrap(array, None, counter), node, self.pack_hook, self.unpack_hook)


class SavedTensor:
    """A value that went through a pack hook."""

    __slots__ = ("_unpack", "dtype", "node", "packed", "shape")

    def __init__(self, t: Any, node: Any, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        self.node, self.shape, self.dtype = node, t.array.shape, t.array.dtype
        self.packed = pack(t)
        self._unpack = unpack

    def entry(self) -> tuple[Any, ...]:
        """The value as a node saves it: array, counter, version, node."""
        before = record(False)
        try:
            t = self._unpack(self.packed)
        finally:
            record(bool(before))
        if not isinstance(t, TensorBase):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {kind(t)}"
            )
        if t.array.shape != self.shape or t.array.dtype != self.dtype:
            raise RuntimeError(
                f"saved tensor unpack_hook returned a tensor of shape {size(t.array.shape)} and dtype "
                f"{t.array.dtype.name}; what was packed had shape {size(self.shape)} and dtype {self.dtype.name}"
            )
        return t.array, [0], 0, self.node


class Packed:
    """What a node saved, tensors packed: it reads like the original and unpacks what is read."""

    __slots__ = ("entries",)

    def __init__(self, entries: list[Any]) -> None:
        self.entries = entries

    def __iter__(self) -> Iterator[Any]:
        return map(_unpacked, self.entries)

    def __getitem__(self, k: int) -> Any:
        return _unpacked(self.entries[k])

    def __len__(self) -> int:
        return len(self.entries)


def _unpacked(entry: Any) -> Any:
    if isinstance(entry, (SavedTensor, Kept)):
        return entry.entry()
    if type(entry) is tuple and any(isinstance(e, (SavedTensor, Kept)) for e in entry):
        return tuple(map(_unpacked, entry))
    return entry


class disable_saved_tensors_hooks:
    """Forbid saved-tensor hooks for a ``with`` block: entering them raises RuntimeError with this message."""

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message
        self._before: list[str | None] = []

    def __enter__(self) -> None:
        self._before.append(_disabled.get())
        _disabled.set(self.error_message)

    def __exit__(self, *exc: object) -> None:
        _disabled.set(self._before.pop())


class save_on_cpu(saved_tensors_hooks):
    """Keep saved values in a copy on the CPU, whatever happens to the tensors meanwhile.

    Every tensor lives on the CPU, so what is left of it here is the copy: a value may be changed in place after it was
    saved. ``pin_memory`` and ``device_type`` are accepted and do nothing.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda t: t.clone(), lambda t: t)


class allow_mutation_on_saved_tensors(Watch):
    """While this is on, what nodes have saved may be changed in place: they get a copy of the old values first.

    Only what is both saved and written while it is on is copied.
    """

    computes = False

    def __init__(self) -> None:
        self._saved: dict[int, list[weakref.ref[Kept]]] = {}

    def clear(self) -> None:
        """Forget what was saved: writes to it are errors again."""
        self._saved.clear()

    def recorded(self, node: Node) -> None:
        saved = getattr(node, "_saved", None)
        if not saved or isinstance(saved, Packed):
            return
        count = getattr(node, "_packed", len(saved))
        node._saved = Packed([self._kept(e) if k < count and e is not None else e for k, e in enumerate(saved)])

    def _kept(self, entry: Any) -> Any:
        if not entry or type(entry[0]) is tuple:
            return tuple(self._kept(e) for e in entry)
        kept = Kept(entry)
        self._saved.setdefault(id(entry[1]), []).append(weakref.ref(kept))
        return kept

    def writing(self, t: Any) -> None:
        copies: dict[int, Any] = {}
        for ref in self._saved.pop(id(t._counter), ()):
            kept = ref()
            if kept is not None and kept.counter is t._counter:
                array = copies.setdefault(id(kept.array), kept.array.copy())
                kept.array, kept.counter, kept.version = array, [0], 0


class Kept:
    """A saved value that may be replaced by a copy of it."""

    __slots__ = ("__weakref__", "array", "counter", "node", "version")

    def __init__(self, entry: tuple[Any, ...]) -> None:
        self.array, self.counter, self.version, self.node = entry

    def entry(self) -> tuple[Any, ...]:
        """The value as a node saves it."""
        return self.array, self.counter, self.version, self.node

"""Saved-tensor hooks: what becomes of the values that nodes save for backward.

A watch replaces what a node has just saved by a `Packed`, which reads like the tuple it stands for: reading an entry
unpacks it. So a node's own backward knows nothing of hooks.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from gradwright.backends.quiet import as_user
from gradwright.base import dtypes
from gradwright.base.changes import switch
from gradwright.base.errors import kind, size
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.memory import unwritten
from gradwright.engine.mode import inside, now, recording, resumed
from gradwright.engine.node import AccumulateGrad, Node
from gradwright.engine.version import at_version
from gradwright.engine.watch import Watch

_disabled = switch("why saved-tensor hooks are disabled", None)


class Entry:
    """A stand-in for one saved value of a node."""

    __slots__ = ("__weakref__", "node")
    node: Any
    """The node that the value came from, which stays with the graph whatever becomes of the value."""

    def entry(self) -> tuple[Any, ...]:
        """The value as a node saves it: array, counter, version, node."""
        raise NotImplementedError


class Packed:
    """The saved values of a node, as a watch has left them: reads like a tuple, and unpacks each value read."""

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
    if isinstance(entry, Entry):
        return entry.entry()
    if type(entry) is tuple and any(isinstance(e, Entry) for e in entry):
        return tuple(map(_unpacked, entry))
    return entry


class Packing(Watch):
    """A watch that decides what becomes of saved values. Of several the newest decides."""

    keeps = True

    def replaced(self, owner: Node, entry: tuple[Any, ...], out: bool) -> Any:
        """The stand-in for a value that ``owner`` saved, its result if ``out``: an `Entry`, or the value itself."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        why = _disabled.get()
        if why is not None:
            raise RuntimeError(why)
        return super().__enter__()

    def recorded(self, node: Node) -> None:
        saved = getattr(node, "_saved", None)
        if not saved or isinstance(saved, Packed):  # a newer one has decided
            return
        kind_of_node = type(node)
        count, names = getattr(kind_of_node, "_packed", len(saved)), getattr(kind_of_node, "_names", ())
        node._saved = Packed([
            e if k >= count or e is None else self._each(node, e, names[k : k + 1] == ("out",))
            for k, e in enumerate(saved)
        ])  # fmt: skip

    def _each(self, owner: Node, entry: Any, out: bool) -> Any:
        if not entry or type(entry[0]) is tuple:  # several values under one name
            return tuple([self._each(owner, e, out) for e in entry])
        if _is_number(entry) and not out:
            return entry
        return self.replaced(owner, entry, out or isinstance(entry[3], int))


def _is_number(entry: tuple[Any, ...]) -> bool:
    """Whether a saved value can only be what it is: a number beside a tensor, or a result of one element."""
    array, _, _, node = entry
    return node is None and array.shape == () and not (isinstance(array, np.ndarray) and array.flags.writeable)


def hooks_are_on() -> bool:
    """Whether what is saved now would be packed."""
    return any(isinstance(watch, Packing) for watch in now().watches)


class saved_tensors_hooks(Packing):
    """While this is on, what is saved for backward goes through ``pack_hook``, and comes back by ``unpack_hook``.

    Args:
        pack_hook: gets the tensor to save, and returns anything. It must not change the tensor in place.
        unpack_hook: gets what ``pack_hook`` returned when backward needs the value, each time it does, and returns a
            tensor of the same values, shape and dtype.

    Both run without recording. Of nested ones only the innermost counts, and only for what this thread records while
    they are on. An in-place operation, which overwrites a value it must save, packs a copy of it. Numbers are not
    packed. A value that comes back in the very memory that was packed is checked for having been changed in place, as
    any saved value is; one that comes back in other memory cannot be.

        >>> import gradwright
        >>> from gradwright.autograd.graph import saved_tensors_hooks
        >>> x = gradwright.tensor([1.0, 2.0], requires_grad=True)
        >>> with saved_tensors_hooks(lambda t: t.tolist(), gradwright.tensor):
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad
        tensor([2., 4.])

    Raises:
        RuntimeError: where `disable_saved_tensors_hooks` forbids it; if ``pack_hook`` changes its argument in place,
            or ``unpack_hook`` returns a tensor of another shape or dtype.
        TypeError: if a hook cannot be called, or ``unpack_hook`` returns no Tensor.
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise TypeError(f"saved_tensors_hooks: {name} must be callable, but got {kind(hook)}")
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def replaced(self, owner: Node, entry: tuple[Any, ...], out: bool) -> Any:
        return SavedTensor(owner, entry, out, self.pack_hook, self.unpack_hook)


class SavedTensor(Entry):
    """A value that went through a pack hook."""

    __slots__ = ("counter", "dtype", "packed", "shape", "unpack_hook", "version")

    def __init__(self, owner: Node, entry: tuple[Any, ...], out: bool, pack: Any, unpack: Any) -> None:
        array, self.counter, self.version, self.node = entry
        self.shape, self.dtype, self.unpack_hook = array.shape, array.dtype, unpack
        node: Any = owner if out else self.node
        leaf = type(node) is AccumulateGrad and node._array is array
        t = node.variable if leaf else wrap(array, node, self.counter)
        self.packed = _called(pack, t)
        if out:
            t._node = None  # a hook that keeps the tensor would else keep the node that keeps it
        if self.counter[0] != self.version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects. clone() the "
                "input in the hook, if it needs to be changed there."
            )

    def entry(self) -> tuple[Any, ...]:
        t = _called(self.unpack_hook, self.packed)
        if not isinstance(t, TensorBase):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {kind(t)}"
            )
        if t.array.shape != self.shape or t.array.dtype != self.dtype:
            raise RuntimeError(
                f"saved tensor unpack_hook returned a tensor of shape {size(t.array.shape)} and dtype "
                f"{dtypes.of(t.array.dtype).name}; what was packed had shape {size(self.shape)} and dtype "
                f"{dtypes.of(self.dtype).name}"
            )
        counter = t._counter
        return t.array, counter, self.version if counter is self.counter else at_version(t), self.node


def _called(hook: Callable[[Any], Any], value: Any) -> Any:
    """The result of a user's hook, run without recording and with the user's own NumPy settings."""
    return inside(partial(recording, False), resumed, as_user, hook, value)


class Raw:
    """One saved value of a node, as ``node._raw_saved_self`` and ``node._raw_saved_tensors`` give it."""

    __slots__ = ("_node", "_path")

    def __init__(self, node: Any, *path: int) -> None:
        self._node, self._path = node, path

    def register_hooks(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        """Send this one value through a pair of hooks, as `saved_tensors_hooks` does with all of them.

        Raises RuntimeError if it has hooks, is None or has been freed.
        """
        node = self._node
        if node._saved is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the "
                "graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
                "to backward through the graph a second time."
            )
        saved = list(getattr(node._saved, "entries", node._saved))
        siblings: Any = saved
        for k in self._path[:-1]:
            siblings[k] = siblings = list(siblings[k])
        entry = siblings[self._path[-1]]
        if entry is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        if isinstance(entry, Entry):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of "
                "hooks is allowed at a time."
            )
        hooks = saved_tensors_hooks(pack_hook, unpack_hook)
        out = getattr(type(node), "_names", ())[self._path[0] : self._path[0] + 1] == ("out",)
        siblings[self._path[-1]] = hooks._each(node, entry, out)
        node._saved = Packed([tuple(e) if type(e) is list else e for e in saved])


def raw(node: Any, k: int) -> Any:
    """The `Raw` of saved value ``k``, or a tuple of them if there are several under one name."""
    value: Any = None if node._saved is None else getattr(node._saved, "entries", node._saved)[k]
    several = type(value) is tuple and (not value or isinstance(value[0], (tuple, Entry)))
    return tuple([Raw(node, k, i) for i in range(len(value))]) if several else Raw(node, k)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Forbid saved-tensor hooks for a ``with`` block, or in a function that this decorates.

    Raises RuntimeError with this message where hooks would be turned on, and at once if some are on already.

        >>> from gradwright.autograd.graph import disable_saved_tensors_hooks, save_on_cpu
        >>> with disable_saved_tensors_hooks("no hooks here"), save_on_cpu():
        ...     print("not reached")
        Traceback (most recent call last):
        ...
        RuntimeError: no hooks here
    """
    token = _disabled.set(error_message)
    try:
        if hooks_are_on():
            raise RuntimeError(error_message)
        yield
    finally:
        _disabled.reset(token)


class save_on_cpu(saved_tensors_hooks):
    """Keep saved values in a copy on the CPU, whatever happens to the tensors meanwhile.

    Every tensor lives on the CPU, so what is left of it here is the copy: a value may be changed in place after it was
    saved. ``pin_memory`` and ``device_type`` are accepted and do nothing.

        >>> import gradwright
        >>> x = gradwright.tensor([1.0, 2.0], requires_grad=True)
        >>> y = x * 3
        >>> with gradwright.autograd.graph.save_on_cpu():
        ...     z = (y * y).sum()
        >>> _ = y.zero_()
        >>> z.backward()
        >>> x.grad
        tensor([18., 36.])
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(_copied, _itself)


def _copied(t: Any) -> Any:
    return t.clone()


def _itself(t: Any) -> Any:
    return t


class allow_mutation_on_saved_tensors(Packing):
    """While this is on, what nodes have saved may be changed in place: they get a copy of the old values first.

    Only what is both saved and written while it is on is copied.

        >>> import gradwright
        >>> x = gradwright.tensor([1.0, 2.0], requires_grad=True)
        >>> with gradwright.autograd.graph.allow_mutation_on_saved_tensors():
        ...     y = x * 3
        ...     z = (y * y).sum()
        ...     _ = y.zero_()
        >>> z.backward()
        >>> x.grad
        tensor([18., 36.])

    Raises RuntimeError if it is on already.
    """

    keeps = False

    def __init__(self) -> None:
        self._saved: dict[int, dict[int, weakref.ref[Copyable]]] = {}

    def __enter__(self) -> Any:
        if any(isinstance(watch, allow_mutation_on_saved_tensors) for watch in now().watches):
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        return super().__enter__()

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        self.clear()

    def clear(self) -> None:
        """Forget what was saved: writes to it are errors again."""
        self._saved.clear()

    def replaced(self, owner: Node, entry: tuple[Any, ...], out: bool) -> Any:
        kept, key = Copyable(entry), id(entry[1])
        forget = partial(_forgotten, self._saved, key, id(kept))
        self._saved.setdefault(key, {})[id(kept)] = weakref.ref(kept, forget)
        return kept

    def writing(self, t: Any) -> None:
        copies: dict[int, Any] = {}
        for ref in self._saved.pop(id(t._counter), {}).values():
            kept = ref()
            if kept is None or kept.counter is not t._counter or kept.counter[0] != kept.version:
                continue
            if id(kept.array) not in copies:
                copies[id(kept.array)] = unwritten(kept.array)
            kept.array, kept.counter, kept.version = copies[id(kept.array)], [0], 0


def _forgotten(saved: dict[int, dict[int, Any]], key: int, which: int, ref: object) -> None:
    many = saved.get(key, {})
    many.pop(which, None)
    if not many:
        saved.pop(key, None)


class Copyable(Entry):
    """A saved value that may be replaced by a copy of it."""

    __slots__ = ("array", "counter", "version")

    def __init__(self, entry: tuple[Any, ...]) -> None:
        self.array, self.counter, self.version, self.node = entry

    def entry(self) -> tuple[Any, ...]:
        return self.array, self.counter, self.version, self.node

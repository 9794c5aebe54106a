"""What a user's forward leaves on ctx as attributes: tensors among it are checked for changes, as saved tensors are.

After forward, attributes that hold tensors are taken off the node and packed up, so that the node refers to no tensor
(one of its own outputs would keep it alive for ever); asking for one checks it and gives it back.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gradwright.engine.base import TensorBase
from gradwright.engine.memory import layout
from gradwright.engine.nodes_of_ops import modified, pack, unpack
from gradwright.engine.strict import warn
from gradwright.engine.version import UNTRACKED
from gradwright.function.contract.containers import filled
from gradwright.function.contract.reached import TENSORLESS, held_in
from gradwright.function.ctx import BackwardNode
from gradwright.function.watched.after_backward import check_attribute

_DEPTH = 8
"""Lists in lists deeper than this are not looked into."""


_run = BackwardNode._run


class Keeping(BackwardNode):
    """A node with packed attributes. For each set of names there is a class, with an `_Attribute` for each of them.

    While its backward runs, an attribute is checked when it is first asked for, and from then on an ordinary one: what
    backward itself does to it is its own affair.
    """

    __slots__ = ()
    _frames = 1
    _attributes: _Attributes

    def __delattr__(self, name: str) -> None:
        if self._attributes.pop(name, self) is self or name in self.__dict__:
            super().__delattr__(name)

    def _run(self, xp: Any, g: Any, ran: list[Any] | None = None) -> Sequence[Any]:
        attributes = self._attributes
        attributes.running += 1
        try:
            results = _run(self, xp, g, ran)
            names = [*attributes.given]
        finally:
            attributes.running -= 1
            if attributes.given:
                attributes.take_back(self)
        for part in attributes.parts(names):
            if isinstance(part, _Tensor):
                check_attribute(self, part.name, part.expected())
            else:
                for name, t, packed in part.written():
                    check_attribute(self, name, packed, isinstance(t, TensorBase))
        return results


class _Attribute:
    """A packed attribute, as long as the node has none of its own under that name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, node: Any, cls: type) -> Any:
        if node is None:
            return self
        if self.name not in node._attributes:
            raise AttributeError(f"{cls.__name__!r} object has no attribute {self.name!r}")
        return node._attributes.give(node, self.name)


_MANY = 100
"""After more sets of names than this, the classes for them are made anew."""


def _keeping(cls: Any, names: tuple[str, ...]) -> type[BackwardNode]:
    """The class of the nodes of a Function that have packed attributes of these names."""
    made = cls._keeping
    if len(made) > _MANY:
        made.clear()
    node = cls._node_class
    made[names] = type(node.__name__, (Keeping, node), {"__slots__": (), **{name: _Attribute(name) for name in names}})
    return made[names]


class _Attributes(dict[str, Any]):
    """Packed attributes by name.

    Attributes:
        running: how many runs of backward are under way.
        given: those that they have been given, which are ordinary ones meanwhile.
    """

    __slots__ = ("given", "running")
    running: int
    given: dict[str, Any]

    def give(self, node: Any, name: str) -> Any:
        """The value of an attribute. Raises RuntimeError if a tensor in it was changed in place since forward."""
        value = _unpacked(node, self[name])
        if self.running:
            self.given[name] = node.__dict__[name] = value
        return value

    def arrays(self) -> dict[str, Any]:
        """The arrays in them, by name."""
        found: dict[str, Any] = {}
        for part in self.parts(self):
            if isinstance(part, _Tensor):
                found[part.name] = part.packed[0]
            else:
                found |= {name: getattr(t, "array", t) for name, t, _ in held_in(part.name, part.value)}
        return found

    def parts(self, names: Iterable[str]) -> Iterator[_Tensor | _Shared]:
        """What there is in those of these names: packed tensors, and what is shared."""
        parts = [self[name] for name in names if name in self]
        while parts:
            part = parts.pop()
            if isinstance(part, _Rebuilt):
                parts += part.parts
            elif isinstance(part, (_Tensor, _Shared)):
                yield part

    def take_back(self, node: Any) -> None:
        """Leave on the node only what backward itself has set."""
        own = node.__dict__
        while self.given:
            name, value = self.given.popitem()
            if own.get(name) is value:
                del own[name]


def keep(node: Any, args: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """Pack the attributes of ``node`` that hold tensors, or the memory of what forward was given and has returned.

    Returns the tensors that were found.
    """
    own, packed, packing = node.__dict__, None, None
    for name, value in own.items():
        if value.__class__ in TENSORLESS:
            continue
        if packing is None:
            packing = _Packing(node, args, outputs)
        one = packing.packed(f"ctx.{name}", value, _DEPTH)
        if one is not value:
            if packed is None:
                packed = _Attributes()
            packed[name] = one
    if packing is None:
        return []
    if packed is not None:
        for name in packed:
            del own[name]
        packed.running, packed.given = 0, {}
        node._attributes = packed
        cls, names = node._function, tuple(packed)
        node.__class__ = cls._keeping.get(names) or _keeping(cls, names)
    return packing.found


class _Packing:
    """Packs the attributes of one ctx.

    Attributes:
        found: the tensors among them.
    """

    __slots__ = ("args", "found", "node", "outputs")

    def __init__(self, node: Any, args: Sequence[Any], outputs: Sequence[Any]) -> None:
        self.node, self.args, self.outputs = node, args, outputs
        self.found: list[Any] = []

    def packed(self, name: str, value: Any, depth: int) -> Any:
        """``value`` with its tensors packed; ``value`` itself if there are none in it."""
        if isinstance(value, TensorBase):
            self.found.append(value)
            return value if value._counter[0] is UNTRACKED else _Tensor(self.node, self.outputs, name, value)
        if not isinstance(value, _CONTAINERS) or not depth:
            shared = _Shared(name, value, self)
            return shared if shared.versions else value
        for v in _values(value):
            if v.__class__ not in TENSORLESS:
                break
        else:
            return value
        parts = [
            v if v.__class__ in TENSORLESS else self.packed(f"{name}[{k!r}]", v, depth - 1) for k, v in _items(value)
        ]
        if all(p is v for p, v in zip(parts, _values(value), strict=True)):
            return value
        rebuilt = isinstance(value, tuple) or any(map(_owned, parts))
        return _Rebuilt(value, parts) if rebuilt else _Shared(name, value, self)

    def source(self, part: Any) -> Any:
        """What is to be checked of a tensor, or of an array whose memory is that of one: array, counter, version, node.

        None if nothing is.
        """
        if isinstance(part, TensorBase):
            self.found.append(part)
            if part._counter[0] is UNTRACKED:
                return None
            return (*pack(part)[:3], None if _is_newer(part, self.node) else part._node)
        for t in (*self.args, *self.outputs):
            if isinstance(t, TensorBase) and t._counter[0] is not UNTRACKED and np.may_share_memory(part, layout(t)):
                return (*pack(t)[:3], None)
        return None


_CONTAINERS = (list, tuple, dict)


def _items(value: Any) -> Any:
    return value.items() if isinstance(value, dict) else enumerate(value)


def _values(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value


def _owned(part: Any) -> bool:
    """Whether an output of the node is in there."""
    if isinstance(part, _Tensor):
        return part.index is not None
    return isinstance(part, _Rebuilt) and any(map(_owned, part.parts))


def _unpacked(node: Any, value: Any) -> Any:
    return value.get(node) if isinstance(value, (_Tensor, _Rebuilt, _Shared)) else value


class _Tensor:
    """A packed tensor: the same again while others hold it, else another over the same memory.

    Attributes:
        index: which output of the node it is; -1 if it only shares memory with one, None if neither.
        replaced: how often tensors over this memory had been given another by ``set_``, which leaves what was packed.
    """

    __slots__ = ("index", "name", "packed", "ref", "replaced")

    def __init__(self, node: Any, outputs: Sequence[Any], name: str, t: Any) -> None:
        self.name, self.ref = name, weakref.ref(t)
        self.packed, self.replaced = pack(t), replaced(t._counter)
        self.index: int | None = None
        if _is_newer(t, node) or (t._view is not None and _is_newer(t._view.base, node)):
            self.index = next((k for k, out in enumerate(outputs) if out is t), -1)
            self.packed = (*self.packed[:3], None)

    def expected(self) -> tuple[Any, ...]:
        """What was packed, at the version that its memory has if nothing has written it."""
        array, counter, version, source = self.packed
        more = replaced(counter) - self.replaced
        return (array, counter, version + more, source) if more else self.packed

    def get(self, node: Any) -> Any:
        array, counter, version, source = self.expected()
        if self.index is not None and self.index >= 0:
            source = node._port(self.index)
        check(node, self.name, (array, counter, version, source))
        t = self.ref()
        if t is not None and t.array is array and t._counter is counter and (t._node is source or self.index == -1):
            return t
        return unpack(node, (array, counter, version, source), self.name)


def replaced(counter: list[Any]) -> int:
    """How many of the writes of a version counter were ``set_``, which gives a tensor other memory and writes none."""
    return counter[2] if len(counter) > 2 else 0


def _is_newer(t: Any, node: Any) -> bool:
    return t._node is not None and t._node._seq >= node._seq


def check(node: Any, name: str, packed: tuple[Any, ...]) -> None:
    """Raise RuntimeError if what was packed has been changed in place since."""
    if packed[1][0] != packed[2]:
        raise modified(node, name, packed)


class _Rebuilt:
    """A tuple with tensors in it, or a list or dictionary with outputs of the node: a copy with packed ones in it."""

    __slots__ = ("like", "parts")

    def __init__(self, value: Any, parts: list[Any]) -> None:
        self.like, self.parts = filled(value, list(value), [None] * len(parts)), parts

    def get(self, node: Any) -> Any:
        return filled(self.like, list(self.like), [_unpacked(node, part) for part in self.parts])


class _Shared:
    """Anything else with tensors or arrays in it: others may change it, so it must stay itself.

    Attributes:
        versions: for each of them, by id, what is to be checked, and whether it was there to stay.
    """

    __slots__ = ("name", "value", "versions")

    def __init__(self, name: str, value: Any, packing: _Packing) -> None:
        self.name, self.value = name, value
        found = [(_identity(part), packing.source(part), sure) for _, part, sure in held_in(name, value)]
        self.versions = {which: (packed, sure) for which, packed, sure in found if packed is not None}

    def written(self) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
        """What is in there to stay and has been written: its name, it, and how it was."""
        found = self.versions.items()
        changed = {which: packed for which, (packed, sure) in found if sure and packed[1][0] != packed[2]}
        if changed:
            for name, part, _ in held_in(self.name, self.value):
                if _identity(part) in changed:
                    yield name, part, changed[_identity(part)]

    def get(self, node: Any) -> Any:
        for name, part, _ in held_in(self.name, self.value):
            packed, sure = self.versions.get(_identity(part), (None, True))
            if packed is None:
                continue
            if sure:
                check(node, name, packed)
            elif packed[1][0] != packed[2]:
                warn(str(modified(node, name, packed)))
        return self.value


def _identity(part: Any) -> int:
    return id(part._counter if isinstance(part, TensorBase) else part)

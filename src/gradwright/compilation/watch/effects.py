"""Effects: changes of values from before, and values that code which is not observed is given to read."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from types import FunctionType, MethodType, ModuleType
from typing import Any

from gradwright.compilation.watch import libraries
from gradwright.compilation.watch.contents import UnreadError, lookup
from gradwright.compilation.watch.guards import MISSING, is_atom
from gradwright.compilation.watch.libraries import OBSERVED, root, whose
from gradwright.compilation.watch.reads import Reads, Unknown
from gradwright.engine.base import TensorBase

UNSEEN = "what it reads and does cannot be seen, and would happen only while the step is traced. Call it outside of it."
_ONCE = "would happen only while it is traced. Keep it in a tensor, or do it outside of the step."


class Effects:
    """Judges effects.

    Attributes:
        refuse: is given the reason for each refusal.
    """

    def __init__(self, reads: Reads, refuse: Any) -> None:
        self.reads, self.refuse = reads, refuse

    def name(self, value: Any) -> str:
        """How the program calls an object."""
        known = self.reads.outside.get(id(value))
        return f"`{known.name}`" if known is not None else f"an object of {type(value).__name__}"

    # -- reading whole containers --

    def read(self, value: Any, whole: bool = False, ours: bool = False) -> None:
        """Code that is not observed is given a value, and may read all that is in it: in containers, or the whole.

        Args:
            value: the value.
            whole: whether it looks into objects.
            ours: whether it is gradwright's, which knows what is in its own, and in containers.
        """
        if isinstance(value, Unknown) or (is_atom(value) and not isinstance(value, Enum)):
            return
        try:
            for iterator in self.reads.content(value, whole, ours):
                self.used_up(iterator)
        except UnreadError as error:
            self.refuse(f"{self.name(value)} {error}")

    def held(self, value: Any) -> None:
        """A value is put into a container, or gone over: what is read of dictionaries in there is read elsewhere."""
        with self.reads.in_passing():
            self.read(value)

    def used_up(self, value: Any) -> None:
        """An iterator from outside is gone over."""
        self.refuse(f"{self.name(value)}, made outside of the step, is used up by it: the next call would find another "
                    "element. Make it in the step, or give the element as an argument.")  # fmt: skip

    def object_read(self, value: Any) -> None:
        """Python code that is not observed is given an object, and may read its attributes."""
        if isinstance(value, Enum):
            self.read(value, whole=True)
        if isinstance(value, (TensorBase, type, ModuleType, FunctionType, MethodType)) or is_atom(value):
            return
        self.read(value)
        if self.reads.is_outside(value) and isinstance(getattr(value, "__dict__", None), dict):
            self.read(self.reads.namespace(value))

    # -- what is returned --

    def returned(self, value: Any) -> None:
        """What the step returns, whose containers a program makes anew: none may be one that somebody else has."""
        todo, seen = [value], set()
        while todo:
            one = todo.pop()
            if isinstance(one, tuple):
                todo += one
            elif isinstance(one, (list, dict, deque)) or (is_dataclass(one) and not isinstance(one, type)):
                twice = id(one) in seen
                if twice or self.reads.is_outside(one):
                    what = f"one {type(one).__name__} in two places" if twice else self.name(one)
                    self.refuse(f"it returns {what}, of which a program would return a copy. Return a new one: "
                                "list(...), dict(...).")  # fmt: skip
                    return
                seen.add(id(one))
                todo += _parts(one)

    # -- effects --

    def changes(self, value: Any, how: str) -> None:
        """Something is changed; an effect if it was there before."""
        if isinstance(value, TensorBase):
            return
        if isinstance(value, Unknown):
            if not value.made:
                self.refuse(f"{how} on a value that cannot be followed. Give it a name first: y = ...; y....")
            return
        if self.reads.is_outside(value):
            self.refuse(f"{self.name(value)} is changed by the step ({how}), which {_ONCE}")

    def set_attribute(self, value: Any, name: str, how: str = "set") -> None:
        """``value.name = ...``, or deleted."""
        if isinstance(value, TensorBase):
            found, _ = lookup(type(value), name)
            if found is not MISSING and hasattr(type(found), "__set__"):
                return
            if self.reads.is_outside(value):
                self.refuse(f"the attribute `{name}` of a tensor is {how}, which would happen only while it is traced.")
            return
        if isinstance(value, Unknown):
            self.changes(value, f"its attribute `{name}` is {how}")
            return
        found, _ = lookup(type(value), "__setattr__")
        if isinstance(found, FunctionType) and whose(found.__code__) == OBSERVED:
            return  # its code is observed
        found, _ = lookup(type(value), name)
        if isinstance(found, property) or isinstance(lookup(type(found), "__set__")[0], FunctionType):
            return  # so is that
        if self.reads.is_outside(value):
            known = self.reads.known(value)
            self.refuse(self.says_state(f"{known.name}.{name}", vars_of(value).get(name, MISSING), how))

    @staticmethod
    def says_state(name: str, value: Any, how: str = "set") -> str:
        """A refusal of state that Python keeps."""
        if type(value) in (int, float, bool, complex):
            return frozen(name, "attribute", value)
        return f"`{name}` is {how} by the step, which {_ONCE}"

    def set_item(self, value: Any, key: Any, how: str = "an element is set") -> None:
        """``value[key] = ...``, or deleted."""
        if not isinstance(value, (Unknown, TensorBase)):
            name = "__delitem__" if "deleted" in how else "__setitem__"
            found, _ = lookup(type(value), name)
            if isinstance(found, FunctionType) and not isinstance(value, libraries.CONTAINERS):
                return
        self.changes(value, how)

    def foreign(self, value: Any, how: str) -> None:
        """Something is done to an object whose class is of compiled code that is not known."""
        if isinstance(value, Unknown) or is_plain(value) or root(type(value)) in ("builtins", "numpy", "gradwright"):
            return
        if self.reads.is_outside(value) or not type(value).__flags__ & (1 << 9):
            self.refuse(f"{self.name(value)} is not a Python object: {how}, which cannot be seen.")


def _parts(container: Any) -> Iterable[Any]:
    """The contents of a list, dictionary or dataclass."""
    if isinstance(container, (list, deque)):
        return container
    if isinstance(container, dict):
        return container.values()
    return [getattr(container, f.name, None) for f in fields(container)]  # which may not be set


def frozen(name: str, of: str, value: Any) -> str:
    """A refusal of a number that the step itself changes."""
    return (f"the number `{name}` ({of}, value {value!r}) is changed by the step itself: it would be frozen. Keep it "
            "in a tensor, or change it outside of the step.")  # fmt: skip


def vars_of(value: Any) -> Any:
    """``vars(value)``, or nothing."""
    return getattr(value, "__dict__", {})


def is_plain(value: Any) -> bool:
    """Whether it is an object of a class written in Python, or one of Python's own."""
    return bool(type(value).__flags__ & (1 << 9)) or isinstance(value, (type, FunctionType)) or type(value) is object

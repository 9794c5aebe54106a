"""What is outside of the call, and what of it was read: one `Guard` for each. It runs no Python code."""

from __future__ import annotations

import gc
import types
import weakref
from array import array
from collections import defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from types import FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from gradwright.base.source_line import Place
from gradwright.compilation.watch import guards
from gradwright.compilation.watch.contents import Contents, UnreadError, has_own_ways, held, is_view, lookup
from gradwright.compilation.watch.guards import ITEM, MISSING, VARS, Guard, Kind, Source, Way, is_atom, weakly
from gradwright.compilation.watch.libraries import is_library
from gradwright.compilation.watch.numbers import Numbers
from gradwright.engine.base import TensorBase

_MANY = 5_000
_IN_PLACES = (list, dict, tuple, deque)
"""What is found by its place, not by itself: it cannot be held weakly, and need not be the same object."""
BUFFERS: Any = (bytearray, memoryview, array)
BYTES = "holds bytes that are not compared. Keep them in an array of NumPy's or in a tensor."
_HELD_BY_MODULES = ("_parameters", "_modules", "_buffers")
C_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType,
             types.BuiltinFunctionType)  # fmt: skip
"""What methods written in C are in their classes."""
_ORDINARY = ("builtins", "collections", "functools", "numpy", "types", "itertools", "weakref", "_contextvars")
"""Where classes in C look up attributes as all others do."""
_OF_TENSOR = ("the attribute `{}` is asked of a tensor that is not always the same one, as that of an argument or a "
              "`.grad`. Give it as an argument of its own.")  # fmt: skip
_C_DATA = (types.MemberDescriptorType, types.GetSetDescriptorType, type(vars(namedtuple("_", "a"))["a"]))


class Unknown:
    """A value that cannot be seen.

    Attributes:
        type: of it, if that is known.
        made: whether it is known to have been made in the call.
    """

    __slots__ = ("made", "type")

    def __init__(self, kind: Any = None, made: bool = True) -> None:
        self.type, self.made = kind, made

    def __repr__(self) -> str:
        return "a value that cannot be seen"


UNKNOWN = Unknown(None, False)
PENDING: Any = type("Pending", (), {})()
"""What an attribute or element is found by Python code, which runs next."""


class Known:
    """An object from outside: where it is found, and how the program calls it."""

    __slots__ = ("name", "source", "value")

    def __init__(self, value: Any, source: Source, name: str) -> None:
        self.value, self.source, self.name = value, source, name


class Reads:
    """All that was read in one call.

    Attributes:
        guards: so far.
        place: the line that runs.
        ours: whether it is gradwright's.
        given: containers and tensors among the arguments, by id.
        judge: is given each hook that is found.
        numbers: those that the code takes of tensors.
    """

    def __init__(self, adopt: Callable[[Any], Any], numbers: Numbers) -> None:
        self.adopt, self.numbers = adopt, numbers
        self.guards: list[Guard] = []
        self.place: Place | None = None
        self.ours = False
        self.outside: dict[int, Known] = {}
        self.judge: Callable[[Any], None] = lambda hook: None
        self._made: dict[int, Any] = {}
        self.given: dict[int, Any] = {}
        self._steps: dict[Any, Any] = {}
        self._proxies: dict[type, Any] = {}
        self._seen: set[Any] = set()
        self._adopted: dict[int, Any] = {}
        self._passed: dict[Source, Guard] = {}
        self._passing = False
        self._before = set[int]()

    def forget(self) -> None:
        """Let go of all objects: what has observed a run refers to itself, and is freed late."""
        for kept in (self.outside, self.given, self._made, self._proxies, self._adopted, self._passed):
            kept.clear()
        self._before.clear()

    # -- what there is --

    def meet(self, value: Any) -> None:
        """A tensor is adopted as soon as code has it in hand."""
        if id(value) not in self._adopted:
            self._adopted[id(value)] = value
            self.adopt(value)

    def give(self, value: Any) -> None:
        """A container among the arguments: outside, but its elements are the caller's to compare."""
        self.given[id(value)] = value
        self.register(value, Source.of(value), "an argument")

    def register(self, value: Any, source: Source, name: str) -> Known:
        """Know an object from outside."""
        known = self.outside.get(id(value))
        if known is None:
            if not isinstance(value, MethodType):
                own = Source.of(value)
                if own.weak is not None or not isinstance(value, _IN_PLACES):
                    source = own
            known = self.outside[id(value)] = Known(value, source, name)
        return known

    def is_outside(self, value: Any) -> bool:
        """Whether an object was there before the call: it was read from outside, or it has not been made since."""
        which = id(value)
        if which in self.outside:
            return True
        if which in self._made or isinstance(value, (Unknown, TensorBase)) or (
                is_atom(value) and not isinstance(value, Enum)):  # fmt: skip
            return False
        if isinstance(value, np.ndarray):
            base = value.base
            return base is not None and self.is_outside(base)
        if not gc.is_tracked(value):
            return False
        if self._old(value):
            self.register(value, Source.of(value), f"an object of {type(value).__name__}")
            return True
        self._made[which] = value
        return False

    def _old(self, value: Any) -> bool:
        if gc.get_count()[0] > _MANY:  # to look through all of them each time takes ever longer
            if not self._before:
                self._before = set(map(id, gc.get_objects())).difference(_young())
            if id(value) not in self._before:
                return False
        return id(value) not in _young()  # what was there before may have been freed, and this lie in its place

    def known(self, value: Any) -> Known:
        """The record of an object from outside."""
        known = self.outside.get(id(value))
        if known is None:
            name = getattr(value, "__name__", None)
            known = self.register(value, Source.of(value), name if isinstance(name, str) else type(value).__name__)
        return known

    def step(self, parent: Source, way: Way, key: Any = None) -> Source:
        """The one source of its kind."""
        which = (id(parent), way, type(key), id(key) if way is guards.ITEM_OF else key)
        found = self._steps.get(which)
        if found is None:
            found = self._steps[which] = Source(parent, way, Source.of(key) if way is guards.ITEM_OF else key)
            self._steps[id(found)] = parent  # which stays alive, and keeps its id
        return found

    # -- reading --

    def guard(self, source: Source, kind: Kind, value: Any, name: str, of: str) -> None:
        """Enter one, unless it is there."""
        key = value if kind in (guards.HAS, guards.LACKS, guards.NO_ATTRIBUTE) else None
        which = (id(source), kind, key if is_atom(key) else id(key))
        if which not in self._seen:
            self._seen.add(which)
            self.guards.append(Guard(source, kind, value, name, of, self.place))

    @contextmanager
    def in_passing(self, on: bool = True) -> Iterator[None]:
        """What is read inside is read by an optimiser alone, or by nobody: not its numbers."""
        before, self._passing = self._passing, on
        try:
            yield
        finally:
            self._passing = before

    def ask(self, value: Any, kind: Kind, found: Any, of: str = "container") -> None:
        """Something was asked of an object from outside."""
        known = self.known(value)
        self.guard(known.source, kind, found, known.name, of)

    def note_attribute(self, owner: Any, name: str, value: Any, of: str = "attribute") -> Any:
        """An attribute of an object from outside was read."""
        known = self.known(owner)
        return self.note(self.step(known.source, guards.ATTRIBUTE, name), value, f"{known.name}.{name}", of)

    def register_attribute(self, owner: Any, name: str, value: Any) -> None:
        """An attribute of an object from outside is from outside."""
        known = self.known(owner)
        self.register(value, self.step(known.source, guards.ATTRIBUTE, name), f"{known.name}.{name}")

    def note_variable(self, owner: Any, name: str, value: Any, of: str = "attribute", quiet: bool = False) -> Any:
        """What an object, or a module, from outside has in its ``__dict__`` was read."""
        known = self.known(owner)
        source = self.step(self.step(known.source, VARS), ITEM, name)
        return self.note(source, value, f"{known.name}.{name}", of, quiet)

    def note(self, source: Source, value: Any, name: str, of: str, quiet: bool = False) -> Any:
        """A value was read at a source outside; returns the value."""
        if isinstance(value, TensorBase):
            self.meet(value)
            self.hooked(value)
        if isinstance(value, BUFFERS):
            raise UnreadError(f"`{name}` {BYTES}")
        if not self._passing and source in self._passed:
            self._passed.pop(source).in_passing = False
        if (id(source), "read") in self._seen:
            if not is_atom(value):
                self.register(value, source, name)
            return value
        self._seen.add((id(source), "read"))
        if is_atom(value):
            self.guard(source, guards.EQUAL, value, name, of)
            if self._passing:
                self._passed[source] = self.guards[-1]
                self.guards[-1].in_passing = True
            return value
        before = self.outside.get(id(value))
        known = self.register(value, source, name)
        if known.source is source:
            if not quiet:
                self.guard(source, guards.TYPE, type(value), name, of)
        else:
            self.guard(source, guards.IS, known.source, name, of)
        if before is None:
            if isinstance(value, np.ndarray):
                self.guard(known.source, guards.ARRAY, guards.copied(value), name, of)
            elif isinstance(value, MethodType):
                for part in ("__self__", "__func__"):
                    self.note(self.step(source, guards.ATTRIBUTE, part), getattr(value, part), f"{name}.{part}", of)
            elif isinstance(value, (tuple, frozenset)):
                self.content(value)
        return value

    def hooked(self, tensor: Any) -> None:
        """The hooks of a tensor from outside are read, which the backward pass calls."""
        node = getattr(tensor, "_node", None)
        if node is None or (id(tensor), "hooks") in self._seen:
            return
        self._seen.add((id(tensor), "hooks"))
        source = self.step(self.step(self.known(tensor).source, guards.ATTRIBUTE, "_node"), guards.ATTRIBUTE, "_hooks")
        name = f"hooks of {self.known(tensor).name}"
        hooks = self.note(source, node._hooks, name, "hooks")
        for kind in () if hooks is None else type(hooks).__slots__:
            held = getattr(hooks, kind, None)
            if isinstance(held, dict):
                self.note_attribute(hooks, kind, held, "hooks")
                self.content(held)
                for hook in list(held.values()):
                    self.judge(hook)

    def truth(self, value: Any) -> None:
        """Whether a container is empty was asked."""
        if has_own_ways(value, "__bool__", "__len__"):
            return  # which is seen when it runs
        if isinstance(value, (list, dict, set, deque, MappingProxyType)) and self.is_read(value):
            self.ask(value, guards.FULL if len(value) else guards.EMPTY, None)
        elif is_view(value):
            self.content(value)

    def length(self, value: Any) -> None:
        """The length of a container was asked."""
        if has_own_ways(value, "__len__"):
            return
        if isinstance(value, (list, dict, set, deque, MappingProxyType)) and self.is_read(value):
            self.ask(value, guards.LENGTH, len(value))
        elif is_view(value):
            self.content(value)

    def contains(self, value: Any, key: Any) -> None:
        """Whether a container holds something was asked."""
        if has_own_ways(value, "__contains__"):
            return
        if isinstance(value, (dict, set, MappingProxyType)) and not isinstance(key, Unknown):
            if self.is_read(value):
                self.ask(value, guards.HAS if key in value else guards.LACKS, weakly(key))
        else:
            self.content(value)

    def item(self, container: Any, key: Any) -> Any:
        """An element of a list, tuple, deque or dictionary from outside; `MISSING` if there is none."""
        if id(container) in self.given:
            return self._given_item(container, key)
        known = self.known(container)
        if isinstance(container, (dict, MappingProxyType)):
            value = held(container).get(key, MISSING)
            if value is MISSING:
                if is_atom(key):
                    self.ask(container, guards.LACKS, key)
                else:
                    self.content(container)
                return MISSING
            source = self.step(known.source, ITEM if is_atom(key) else guards.ITEM_OF, key)
        else:
            if type(key) is not int:
                self.content(container)
                return UNKNOWN
            try:
                value = container[key]
            except IndexError:
                self.content(container)
                return MISSING
            source = self.step(known.source, ITEM, key)
        label = repr(key) if is_atom(key) else type(key).__name__
        return self.note(source, value, f"{known.name}[{label}]", "element")

    @staticmethod
    def _given_item(container: Any, key: Any) -> Any:
        if isinstance(container, dict):
            return dict.get(container, key, MISSING)
        if type(key) is not int:
            return UNKNOWN
        return container[key] if -len(container) <= key < len(container) else MISSING

    def is_read(self, value: Any) -> bool:
        """Whether it is outside, and not the caller's to compare."""
        return id(value) not in self.given and self.is_outside(value)

    def content(self, value: Any, whole: bool = False, ours: bool = False) -> list[Any]:
        """All that is in a container was read, and in those inside it, or in all else; returns the iterators in there.

        `UnreadError` if that cannot be done.
        """
        return Contents(self, whole, ours).read(value)

    # -- attributes --

    def attribute(self, value: Any, name: str) -> Any:
        """An attribute: its value, `PENDING`, or `MISSING`. No Python code runs."""
        if isinstance(value, ModuleType):
            return self._of_module(value, name)
        if isinstance(value, type):
            return self._of_class(value, name)
        if isinstance(value, super):
            return self._of_super(value, name)
        kind = type(value)
        if isinstance(value, weakref.ProxyTypes):
            raise UnreadError("an attribute is read through a weak proxy, which is not followed. Use weakref.ref.")
        finder, owner = lookup(kind, "__getattribute__")
        if isinstance(finder, FunctionType) or owner.__module__ not in _ORDINARY:
            return PENDING
        if not is_library(kind):
            self.kind(value)
        found, owner = lookup(kind, name)
        if found is not MISSING and hasattr(type(found), "__set__"):
            self.of_kind(kind, owner, name, found)
            return self._of_descriptor(value, name, found)
        held = _dict(value)
        if id(value) in self.given and isinstance(value, TensorBase) and (found is MISSING or name in (held or ())):
            raise UnreadError(f"the attribute `{name}` of an argument, a tensor, is read, which no other call's is "
                              "compared with. Give it as an argument of its own.")  # fmt: skip
        if held is not None and name in held:
            if isinstance(value, TensorBase) and id(value) not in self.outside and self._old(value):
                raise UnreadError(_OF_TENSOR.format(name))
            return self.note_variable(value, name, held[name]) if self.is_outside(value) else held[name]
        if found is not MISSING:
            self._not_in(value, name, held)
            self.of_kind(kind, owner, name, found)
            return self._bound(value, kind, name, found)
        for which in _HELD_BY_MODULES:
            own = held.get(which) if held is not None else None
            if isinstance(own, dict) and name in own:
                if not self.is_outside(value):
                    return own[name]
                self.own_dict(value, which)
                return self.item(own, name)
        self._not_in(value, name, held)
        if isinstance(value, TensorBase) and not self.ours:
            self._not_of_tensor(value, name)
        return PENDING if _defined(kind, "__getattr__") is not None else MISSING

    def _not_of_tensor(self, value: TensorBase, name: str) -> None:
        """A tensor has no attribute of a name."""
        if id(value) in self.outside and id(value) not in self.given:
            self.ask(value, guards.NO_ATTRIBUTE, name, "attributes")
        elif id(value) in self.given or self._old(value):
            raise UnreadError(_OF_TENSOR.format(name))

    def kind(self, value: Any) -> None:
        """The class of an object was asked for."""
        if isinstance(value, (TensorBase, type)) or is_atom(value) or not self.is_read(value):
            return
        if self.known(value).source.parent is None:
            self.ask(value, guards.TYPE, type(value), "object")

    def own_dict(self, value: Any, name: str) -> Any:
        """A dictionary that an object always has under a name."""
        return self.note_variable(value, name, vars(value)[name], quiet=True)

    def namespace(self, value: Any) -> Any:
        """``value.__dict__``."""
        held = value.__dict__
        if self.is_outside(value):
            known = self.known(value)
            self.register(held, self.step(known.source, VARS), f"vars({known.name})")
        return held

    def _not_in(self, value: Any, name: str, held: Any) -> None:
        if held is None or isinstance(value, TensorBase) or (self.ours and name != "forward"):
            return
        if not self.is_outside(value):
            return
        known = self.known(value)
        self.guard(self.step(known.source, VARS), guards.LACKS, name, f"vars({known.name})", "attributes")

    def _of_descriptor(self, value: Any, name: str, found: Any) -> Any:
        if name == "__class__":
            return type(value)
        if name == "__dict__":
            return self.namespace(value)
        if name == "_version" and isinstance(value, TensorBase) and self.is_outside(value):
            return self.note_attribute(value, name, value._version)  # type: ignore[attr-defined]
        if isinstance(found, _C_DATA):
            try:
                got = getattr(value, name)
            except AttributeError:
                return MISSING
            if self.is_outside(value) and not isinstance(value, np.ndarray):
                self.note_attribute(value, name, got)
            return got
        return PENDING

    def of_kind(self, kind: type, owner: type, name: str, found: Any) -> None:
        """Something was found in a class, of which a user may make something else."""
        if not self.is_outside(owner) or (is_library(owner) and ((self.ours and name != "forward") or _is_c(owner))):
            return
        if isinstance(found, (classmethod, staticmethod)) or (
            hasattr(type(found), "__get__")
            and not isinstance(found, (FunctionType, property, types.MemberDescriptorType))
        ):
            for above in kind.__mro__[: kind.__mro__.index(owner)]:
                self._not_in_class(above, name)
            self.note(self.step(self.proxy(owner), ITEM, name), found, f"{owner.__name__}.{name}", "class")
        else:
            source = self.step(self.known(kind).source, guards.ATTRIBUTE, name)
            self.note(source, found, f"{kind.__name__}.{name}", "class")

    def _not_in_class(self, owner: type, name: str) -> None:
        if not is_library(owner) and self.is_outside(owner):
            self.guard(self.proxy(owner), guards.LACKS, name, owner.__name__, "class")

    def special(self, value: Any, name: str) -> None:
        """It was asked whether the class of an object has a special method."""
        found, owner = lookup(type(value), name)
        if found is MISSING:
            self.missing(value, name)
        else:
            self.of_kind(type(value), owner, name, found)

    def missing(self, value: Any, name: str) -> None:
        """It was asked whether an object has an attribute, and it has none."""
        for owner in (value if isinstance(value, type) else type(value)).__mro__:
            self._not_in_class(owner, name)

    def proxy(self, owner: type) -> Source:
        """The contents of a class."""
        held = self._proxies.setdefault(owner, owner.__dict__)
        return self.known(held).source

    def _bound(self, value: Any, kind: type, name: str, found: Any) -> Any:
        if isinstance(found, FunctionType):
            return MethodType(found, value)
        if isinstance(found, staticmethod):
            return found.__func__
        if isinstance(found, classmethod):
            return MethodType(found.__func__, kind)
        if not hasattr(type(found), "__get__"):
            return found
        return getattr(value, name) if isinstance(found, C_METHODS) else PENDING

    def _of_module(self, value: ModuleType, name: str) -> Any:
        held = value.__dict__
        if name == "__dict__":
            return self.namespace(value)
        if name not in held:
            known = self.known(value)
            self.guard(self.step(known.source, VARS), guards.LACKS, name, known.name, "module")
            return PENDING if "__getattr__" in held or not _is_c(type(value)) else MISSING
        if is_library(value) and not is_state(held[name]) and (self.ours or isinstance(held[name], ModuleType)):
            return held[name]
        return self.note_variable(value, name, held[name], "module")

    def _of_class(self, value: type, name: str) -> Any:
        above, maker = lookup(type(value), name)
        if above is not MISSING and hasattr(type(above), "__set__"):
            if name == "__dict__":
                return value.__dict__
            return getattr(value, name) if _is_c(type(above)) and type(above) is not property else PENDING
        found, owner = lookup(value, name)
        if found is MISSING:
            self.missing(value, name)
            if above is not MISSING:
                self.of_kind(type(value), maker, name, above)
            if above is not MISSING and isinstance(above, FunctionType):
                return MethodType(above, value)
            if above is not MISSING and _is_c(type(above)):
                return getattr(value, name)
            return PENDING if _defined(type(value), "__getattr__") or above is not MISSING else MISSING
        self.of_kind(value, owner, name, found)
        if isinstance(found, staticmethod):
            return found.__func__
        if isinstance(found, classmethod):
            return MethodType(found.__func__, value)
        if isinstance(found, (FunctionType, property)) or not hasattr(type(found), "__get__"):
            return found
        return getattr(value, name) if _is_c(type(found)) and not isinstance(value, type(Enum)) else PENDING

    def _of_super(self, value: Any, name: str) -> Any:
        kind = value.__self_class__
        mro = kind.__mro__
        for owner in mro[mro.index(value.__thisclass__) + 1 :]:
            if name in owner.__dict__:
                found = owner.__dict__[name]
                self.of_kind(owner, owner, name, found)
                if isinstance(value.__self__, type) and isinstance(found, FunctionType):
                    return found
                return self._bound(value.__self__, kind, name, found)
        return PENDING


def _young() -> set[int]:
    """The ids of what was made since the run has begun: nothing is collected meanwhile."""
    return set(map(id, gc.get_objects(generation=0)))


def missing_makes(value: Any, key: Any) -> bool:
    """Whether asking a dictionary for a key puts it there."""
    return isinstance(value, defaultdict) and value.default_factory is not None and key not in value


def is_state(value: Any) -> bool:
    """Whether what a library's module has under a name may be another thing later."""
    return not isinstance(value, (FunctionType, type, ModuleType, types.BuiltinFunctionType)) and not callable(value)


def _defined(kind: type, name: str) -> Any:
    found, _ = lookup(kind, name)
    return None if found is MISSING else found


def _is_c(kind: type) -> bool:
    """Whether a class is one of C's."""
    return not kind.__flags__ & (1 << 9)


def _dict(value: Any) -> dict[str, Any] | None:
    try:
        return object.__getattribute__(value, "__dict__")
    except (AttributeError, TypeError):
        return None

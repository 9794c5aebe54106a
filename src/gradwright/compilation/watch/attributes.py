"""Attributes: where they are found, without running any Python code."""

from __future__ import annotations

from collections import namedtuple
from enum import Enum
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from gradwright.compilation.watch.files import is_library
from gradwright.compilation.watch.guards import MISSING, Source, is_atom
from gradwright.compilation.watch.reads import PENDING, Reads, UnreadError, lookup
from gradwright.engine.base import TensorBase

_HELD_BY_MODULES = ("_parameters", "_modules", "_buffers")
C_METHODS = (MethodDescriptorType, WrapperDescriptorType, ClassMethodDescriptorType, BuiltinFunctionType)
"""What methods written in C are in their classes."""
_ORDINARY = ("builtins", "collections", "functools", "numpy", "types", "itertools", "weakref", "_contextvars")
"""Where classes in C look up attributes as all others do."""
_C_DATA = (MemberDescriptorType, GetSetDescriptorType, type(vars(namedtuple("_", "a"))["a"]))


class Attributes(Reads):
    """The part of `Reads` that reads attributes."""

    def attribute(self, value: Any, name: str) -> Any:
        """An attribute: its value, `PENDING`, or `MISSING`. No Python code runs."""
        if isinstance(value, ModuleType):
            return self._of_module(value, name)
        if isinstance(value, type):
            return self._of_class(value, name)
        if isinstance(value, super):
            return self._of_super(value, name)
        kind = type(value)
        way, owner = lookup(kind, "__getattribute__")
        if isinstance(way, FunctionType) or owner.__module__ not in _ORDINARY:
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
            return self._of_instance(value, name, held[name])
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
        return PENDING if _defined(kind, "__getattr__") is not None else MISSING

    def kind(self, value: Any) -> None:
        """The class of an object was asked for."""
        if not isinstance(value, (TensorBase, type)) and not is_atom(value) and self.is_read(value):
            known = self.known(value)
            if known.source.parent is None:
                self.guard(known.source, "type", type(value), known.name, "object")

    def own_dict(self, value: Any, name: str) -> Any:
        """A dictionary that an object always has under a name."""
        known = self.known(value)
        source = self.step(self.step(known.source, "vars"), "[]", name)
        return self.note(source, vars(value)[name], f"{known.name}.{name}", "attribute", quiet=True)

    def namespace(self, value: Any) -> Any:
        """``value.__dict__``."""
        held = value.__dict__
        if self.is_outside(value):
            known = self.known(value)
            self.register(held, self.step(known.source, "vars"), f"vars({known.name})")
        return held

    def _of_instance(self, value: Any, name: str, found: Any) -> Any:
        if not self.is_outside(value):
            return found
        known = self.known(value)
        source = self.step(self.step(known.source, "vars"), "[]", name)
        return self.note(source, found, f"{known.name}.{name}", "attribute")

    def _not_in(self, value: Any, name: str, held: Any) -> None:
        if held is None or isinstance(value, TensorBase) or (self.ours and name != "forward"):
            return
        if not self.is_outside(value):
            return
        known = self.known(value)
        self.guard(self.step(known.source, "vars"), "absent", name, f"vars({known.name})", "attributes")

    def _of_descriptor(self, value: Any, name: str, found: Any) -> Any:
        if name == "__class__":
            return type(value)
        if name == "__dict__":
            return self.namespace(value)
        if name == "_version" and isinstance(value, TensorBase) and self.is_outside(value):
            known = self.known(value)
            source = self.step(known.source, ".", name)
            return self.note(source, value._version, f"{known.name}.{name}", "attribute")  # type: ignore[attr-defined]
        if isinstance(found, _C_DATA):
            try:
                got = getattr(value, name)
            except AttributeError:
                return MISSING
            if self.is_outside(value) and not isinstance(value, np.ndarray):
                known = self.known(value)
                self.note(self.step(known.source, ".", name), got, f"{known.name}.{name}", "attribute")
            return got
        return PENDING

    def of_kind(self, kind: type, owner: type, name: str, found: Any) -> None:
        """Something was found in a class, of which a user may make something else."""
        if self._is_made_class(owner) or (is_library(owner) and ((self.ours and name != "forward") or _is_c(owner))):
            return
        if isinstance(found, (classmethod, staticmethod)) or (
            hasattr(type(found), "__get__") and not isinstance(found, (FunctionType, property, MemberDescriptorType))
        ):
            for above in kind.__mro__[: kind.__mro__.index(owner)]:
                self._not_in_class(above, name)
            self.note(self.step(self._proxy(owner), "[]", name), found, f"{owner.__name__}.{name}", "class")
        else:
            self.note(self.step(self.known(kind).source, ".", name), found, f"{kind.__name__}.{name}", "class")

    def _not_in_class(self, owner: type, name: str) -> None:
        if not is_library(owner) and self.is_outside(owner):
            self.guard(self._proxy(owner), "absent", name, owner.__name__, "class")

    def missing(self, value: Any, name: str) -> None:
        """It was asked whether an object has an attribute, and it has none."""
        for owner in (value if isinstance(value, type) else type(value)).__mro__:
            self._not_in_class(owner, name)

    def _proxy(self, owner: type) -> Source:
        held = self._proxies.setdefault(owner, owner.__dict__)
        return self.known(held).source

    def _is_made_class(self, owner: type) -> bool:
        return not self.is_outside(owner)

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
        known = self.known(value)
        if name not in held:
            self.guard(self.step(known.source, "vars"), "absent", name, known.name, "module")
            return PENDING if "__getattr__" in held or not _is_c(type(value)) else MISSING
        if is_library(value) and not is_state(held[name]) and (self.ours or isinstance(held[name], ModuleType)):
            return held[name]
        source = self.step(self.step(known.source, "vars"), "[]", name)
        return self.note(source, held[name], f"{known.name}.{name}", "module")

    def _of_class(self, value: type, name: str) -> Any:
        above, maker = lookup(type(value), name)
        if above is not MISSING and hasattr(type(above), "__set__"):
            if name == "__dict__":
                return value.__dict__
            return getattr(value, name) if _is_c(type(above)) and type(above) is not property else PENDING
        found, owner = lookup(value, name)
        if found is MISSING:
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


def is_state(value: Any) -> bool:
    """Whether what a library's module has under a name may be another thing later."""
    return not isinstance(value, (FunctionType, type, ModuleType, BuiltinFunctionType)) and not callable(value)


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

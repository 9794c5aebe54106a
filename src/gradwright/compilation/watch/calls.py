"""Calls and effects: what a call does beside its result, as far as it is not Python code that is observed itself."""

from __future__ import annotations

import functools
import operator
import sys
import types
import weakref
from collections import deque
from contextvars import ContextVar
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from gradwright.compilation.watch import pure
from gradwright.compilation.watch.attributes import Attributes
from gradwright.compilation.watch.effects import UNSEEN, is_plain
from gradwright.compilation.watch.files import OBSERVED, root, whose
from gradwright.compilation.watch.guards import MISSING, is_atom
from gradwright.compilation.watch.libraries import Libraries
from gradwright.compilation.watch.reads import (
    PENDING,
    UNKNOWN,
    Unknown,
    has_own_ways,
    is_iterator,
    lookup,
    missing_makes,
)
from gradwright.compilation.watch.results import Made, Result
from gradwright.engine.base import TensorBase

_PARTIAL: Any = functools.partial
_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
_BOUND = (BuiltinFunctionType, types.MethodWrapperType)
_SUSPENDED = 0x80 | 0x200  # coroutines and asynchronous generators


class Calls(Libraries):
    """Judges calls.

    Attributes:
        generators: generator functions that were called, by the ids of their code.
    """

    def __init__(self, reads: Attributes, refuse: Any) -> None:
        super().__init__(reads, refuse)
        reads.judge = lambda hook: self.given_callables([getattr(hook, "fn", hook)])
        self.generators: dict[int, Any] = {}

    def call(self, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Result:
        """A call is about to be made."""
        if isinstance(callee, Made):
            return Result(Unknown(), code=callee.code)
        if isinstance(callee, Unknown):
            return Result(any=True)
        if isinstance(callee, MethodType):
            return self.call(callee.__func__, [callee.__self__, *args], kwargs)
        if isinstance(callee, FunctionType):
            return self.python(callee, args, kwargs)
        if isinstance(callee, functools.partial):
            self.reads.content(list(callee.args))
            self.known_partial(callee)
            return self.call(callee.func, [*callee.args, *args], {**callee.keywords, **kwargs})
        if isinstance(callee, type):
            return self.construct(callee, args, kwargs)
        if isinstance(callee, _METHODS):
            return self.method(args[0] if args else UNKNOWN, callee.__name__, args[1:], kwargs, callee)
        if isinstance(callee, _BOUND) and not isinstance(callee.__self__, (ModuleType, type(None))):
            return self.method(callee.__self__, callee.__name__, args, kwargs, callee)
        if isinstance(callee, BuiltinFunctionType):
            return self.builtin(callee, args, kwargs)
        if isinstance(callee, staticmethod):
            return self.call(callee.__func__, args, kwargs)
        return self.object(callee, args, kwargs)

    def known_partial(self, callee: Any) -> None:
        """The parts of a partial from outside are from outside."""
        if self.reads.is_outside(callee):
            known = self.reads.known(callee)
            for name in ("func", "args"):
                value = getattr(callee, name)
                if not is_atom(value):
                    self.reads.register(value, self.reads.step(known.source, ".", name), f"{known.name}.{name}")
            source = self.reads.step(known.source, ".", "keywords")
            self.reads.register(callee.keywords, source, f"{known.name}.keywords")
            self.reads.content(callee.args)
            self.reads.content(callee.keywords)

    def python(self, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Result:
        """A Python function."""
        code = callee.__code__
        kind = whose(code)
        if code.co_flags & _SUSPENDED:
            self.refuse(f"`{callee.__qualname__}` is asynchronous: it runs later, where the program is not.")
        if kind != OBSERVED:
            self.library(callee, kind, args, kwargs)
        if code.co_flags & 0x20:  # a generator, which runs later
            self.generators[id(code)] = callee
            return Result(Unknown(types.GeneratorType), function=callee)
        return Result(code=code, function=callee)

    def object(self, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Result:
        """An object that can be called."""
        found, owner = lookup(type(callee), "__call__")
        if isinstance(found, FunctionType):
            self.reads.of_kind(type(callee), owner, "__call__", found)
            return self.python(found, [callee, *args], kwargs)
        package = root(type(callee))
        if type(callee) is weakref.ref and not args:
            return Result(self.noted(callee, "()", callee()))
        if type(callee) is operator.itemgetter:
            for value in args:
                self.read(value)
            return Result()
        if package == "numpy":
            name, module = getattr(callee, "__name__", type(callee).__name__), getattr(callee, "__module__", None)
            self.numpy(name, module or "", args, kwargs)
            old = any(isinstance(v, np.ndarray) and self.reads.is_outside(v) for v in (*args, *kwargs.values()))
            for value in (*args, *kwargs.values()):
                self.read(value)
            return Result(UNKNOWN if old else Unknown(np.ndarray))
        if root(callee) != "gradwright" and package != "gradwright" and not self.is_typing(callee):
            what = getattr(callee, "__qualname__", None) or type(callee).__name__
            why = ("remembers what it has returned" if hasattr(callee, "cache_info") else
                   "is not Python code: what it reads and does cannot be seen")  # fmt: skip
            self.refuse(f"`{what}` is called, which {why}. Call it outside of the step, or make it a "
                        "gradwright.autograd.Function.")  # fmt: skip
        for value in (*args, *kwargs.values()):
            self.read(value)
        return Result()

    @staticmethod
    def is_typing(callee: Any) -> bool:
        """Whether it is ``list[int]`` and the like."""
        return isinstance(callee, types.GenericAlias) or type(callee).__module__ == "typing"

    def construct(self, callee: type, args: list[Any], kwargs: dict[str, Any]) -> Result:
        """A class is called."""
        above, _ = lookup(type(callee), "__call__")
        if isinstance(above, FunctionType) and whose(above.__code__) == OBSERVED:
            return Result(code=above.__code__)
        if callee is type and len(args) == 1:
            self.reads.kind(args[0])
            return Result(UNKNOWN if isinstance(args[0], Unknown) else type(args[0]))
        package = root(callee)
        written = any(isinstance(lookup(callee, name)[0], FunctionType) for name in ("__init__", "__new__"))
        if callee in pure.TYPES or callee in (np.dtype, np.ndarray) or issubclass(callee, BaseException):
            pass
        elif package == "gradwright":
            if (callee.__module__ or "").startswith(pure.OWN_PACKAGES):
                self.refuse(f"gradwright's `{callee.__qualname__}` is made, which acts on more than tensors.")
        elif package == "numpy":
            self.numpy(callee.__name__, callee.__module__, args, kwargs)
        elif package in sys.stdlib_module_names and package != "__main__":
            if (callee.__module__ or "").partition(".")[0] not in pure.MODULES:
                self.refuse(f"`{callee.__module__}.{callee.__qualname__}` is called: {UNSEEN}")
        elif not written and not callee.__flags__ & (1 << 9):
            self.refuse(f"`{callee.__qualname__}` is a class of compiled code: {UNSEEN}")
        if not written or package in ("gradwright", "numpy") or package in sys.stdlib_module_names:
            for value in (*args, *kwargs.values()):
                self.read(value)
        if callee in (map, filter) or callee.__module__ == "itertools":
            self.given_callables(args)
        known = not any(isinstance(value, Unknown) for value in args) and not kwargs
        if callee is functools.partial and not any(isinstance(v, Unknown) for v in (*args, *kwargs.values())):
            return Result(_PARTIAL(*args, **kwargs))
        if callee is super and args and known:
            return Result(super(*args))
        if callee in (tuple, int, float, str, bool) and known and all(map(is_atom, args)):
            return Result(_tried(callee, args))
        return Result(Unknown(callee), instance=callee)

    def method(self, value: Any, name: str, args: list[Any], kwargs: dict[str, Any], callee: Any) -> Result:
        """A method written in C."""
        if isinstance(value, Unknown):
            return self.of_unknown(value, name, args, kwargs)
        if isinstance(value, type):
            return self.of_class(value, name, args, kwargs)
        if name in ("__setattr__", "__delattr__"):
            if args and isinstance(args[0], str):
                self.set_attribute(value, args[0])
            else:
                self.changes(value, name)
            return Result()
        if type(value) is ContextVar and name == "get" and not args and (found := _tried(value.get, [])) is not UNKNOWN:
            return Result(self.noted(value, "get", found))
        if name == "__getattribute__" and args and isinstance(args[0], str):
            return Result(self.reads.attribute(value, args[0]), any=True)
        for one in (*args, *kwargs.values()):
            self.read(one)
        if isinstance(value, (TensorBase, *pure.IMMUTABLE)):
            if isinstance(value, tuple):
                self.read(value)
            seen = isinstance(value, (str, int, float)) and not kwargs and all(map(is_atom, args))
            if not seen:
                return Result(Unknown(str if isinstance(value, str) else None))
            return Result(_tried(callee if isinstance(callee, _BOUND) else getattr(value, name, None), args))
        if isinstance(value, dict) and not is_changed_by(value, name):
            return self.of_dict(value, name, args)
        for kind, readers in pure.READERS.items():
            if isinstance(value, kind):
                self.of_container(value, name, readers, args)
                return Result()
        if isinstance(value, (np.ndarray, np.generic, np.dtype)):
            self.of_array(value, name, args, kwargs)
        elif isinstance(value, np.ufunc):
            if name == "at":
                self.changes(args[0] if args else UNKNOWN, f"NumPy's `{value.__name__}.at`")
            self.numpy(name, "", args, kwargs)
        elif name.startswith("__") and name.endswith("__") and not is_iterator(value) and is_plain(value):
            if name in pure.SPECIAL_CHANGES and name != "__init__":
                self.changes(value, f"`{name}`")
        elif isinstance(value, types.GeneratorType) or is_iterator(value):
            self.read(value)
        elif not self.is_pure_object(value):
            self.refuse(f"`{name}` of {self.name(value)} is called, which is not Python code: {UNSEEN}")
        return Result()

    @staticmethod
    def is_pure_object(value: Any) -> bool:
        """Whether all methods of an object, written in C, only compute."""
        kind = type(value)
        return kind in (operator.itemgetter, property, memoryview, types.GenericAlias) or kind.__module__ in (
            "re", "fractions", "typing") or isinstance(value, (FunctionType, BaseException))  # fmt: skip

    def of_unknown(self, value: Unknown, name: str, args: list[Any], kwargs: dict[str, Any]) -> Result:
        """A method of a value that cannot be seen."""
        for one in (*args, *kwargs.values()):
            self.read(one)
        if name in ("__setattr__", "__delattr__", *pure.SPECIAL_CHANGES):
            self.changes(value, f"`{name}`")
        return Result()

    def of_class(self, value: type, name: str, args: list[Any], kwargs: dict[str, Any]) -> Result:
        """A class method written in C, or ``object.__new__``."""
        for one in (*args, *kwargs.values()):
            self.read(one)
        if name in ("__setattr__", "__delattr__"):
            self.set_attribute(value, args[0] if args and isinstance(args[0], str) else "?")
        elif name not in pure.OF_CLASSES:
            self.refuse(f"`{value.__qualname__}.{name}` is called, which is not Python code: {UNSEEN}")
        return Result()

    def of_dict(self, value: dict[Any, Any], name: str, args: list[Any]) -> Result:
        """A dictionary is read, or asked for an element that it has."""
        outside = self.reads.is_outside(value)
        if name in ("get", "setdefault", "__getitem__") and args and not isinstance(args[0], Unknown):
            if name == "setdefault" and args[0] not in value and outside:
                self.changes(value, "setdefault")
            found = self.reads.item(value, args[0]) if outside else dict.get(value, args[0], MISSING)
            return Result(found if found is not MISSING else args[1] if len(args) > 1 else None)
        if name == "__contains__" and args:
            self.reads.contains(value, args[0])
        elif name == "__len__":
            self.reads.length(value)
        elif name != "__init__":
            self.read(value)
        return Result()

    def of_container(self, value: Any, name: str, readers: frozenset[str], args: list[Any]) -> None:
        """A method of a list, set, deque or dictionary."""
        special = name.startswith("__")
        if name == "__len__":
            self.reads.length(value)
        elif name in readers or (special and name not in pure.SPECIAL_CHANGES):
            self.read(value)
        elif name != "__init__" or not self.reads.is_outside(value) or args:
            self.changes(value, name)

    def of_array(self, value: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> None:
        """A method of an array."""
        if name in pure.ARRAY_EFFECTS:
            self.refuse(f"an array is written to a file (`{name}`).")
        elif name in pure.ARRAY_CHANGES:
            self.changes(value, f"`{name}`")
        self.numpy("", "", args, kwargs)

    def builtin(self, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Result:
        """A function written in C."""
        module = callee.__module__ or ""
        name = callee.__name__
        if callee in (getattr, hasattr) and len(args) > 1:
            return self.getattr(callee, args)
        if callee in (setattr, delattr) and args:
            how = "set" if callee is setattr else "deleted"
            self.set_attribute(args[0], args[1] if isinstance(args[1], str) else "?", how)
            return Result()
        if callee is len and args:
            self.reads.length(args[0])
            sized = isinstance(args[0], (str, tuple, list, dict, set, frozenset, range))
            return Result(len(args[0]) if sized and not has_own_ways(args[0]) else UNKNOWN, any=not sized)
        if callee is vars and args and not isinstance(args[0], Unknown):
            return Result(self.reads.namespace(args[0]))
        if callee is id and args and isinstance(args[0], TensorBase) and id(args[0]) in self.reads.given:
            self.refuse("`id` of an argument, which may be another one at the next call. Compare tensors by `is`.")
        if callee in (isinstance, issubclass, callable, id):
            self.reads.kind(args[0] if args else None)
            self.read(args[-1] if args and isinstance(args[-1], tuple) else None)
            self.registered(callee, *args)
            return Result(Unknown(bool))
        if callee is next and args and not isinstance(args[0], Unknown):
            if isinstance(lookup(type(args[0]), "__next__")[0], FunctionType):
                return Result(any=True)
            self.read(args[0])
            return Result(any=isinstance(args[0], types.GeneratorType))
        self.given_callables((*args, *kwargs.values()))
        if callee in pure.CHANGES_FIRST and args:
            self.changes(args[0], f"operator.{name}")
        for value in (*args, *kwargs.values()):
            self.read(value)
        if name == "__build_class__":
            return Result()
        if module.startswith("numpy"):
            self.numpy(name, module, args, kwargs)
        elif callee not in pure.FUNCTIONS and module != "gradwright" and not module.startswith("gradwright."):
            self.refuse(f"`{name if module == 'builtins' else f'{module}.{name}'}` is called: {UNSEEN}")
        if len(args) == 1 and (callee is sum or (callee is iter and isinstance(args[0], (list, tuple, dict, set)))):
            return Result(Unknown(), any=callee is sum)
        if callee is operator.getitem and len(args) == 2:
            return Result(self.subscript(args[0], args[1]), any=True)
        if not kwargs and args and callee in pure.OF_ATOMS and all(map(is_atom, args)):
            return Result(_tried(callee, args))
        if callee in pure.MAY_RETURN_THEIRS:
            return Result()
        return Result(Unknown(list) if callee is sorted else Unknown())

    def given_callables(self, values: Any) -> None:
        """Functions that compiled code is given, and may call."""
        for value in values:
            if isinstance(value, BuiltinFunctionType) and value in (getattr, hasattr, setattr, delattr, next):
                self.refuse(f"`{value.__name__}` is called by compiled code: {UNSEEN}")
            elif callable(value) and not isinstance(value, (FunctionType, TensorBase, Unknown)):
                self.call(value, [UNKNOWN], {})

    def getattr(self, callee: Any, args: list[Any]) -> Result:
        """``getattr`` and ``hasattr``."""
        value, name = args[0], args[1]
        if isinstance(value, Unknown):
            self.changes(value, f"{callee.__name__} of {name!r}")
            return Result()
        if not isinstance(name, str):
            if self.reads.is_outside(value):
                self.refuse(f"`{callee.__name__}` of {self.name(value)} by a name that cannot be followed. Give that a "
                            "name first: name = ...; getattr(..., name)")  # fmt: skip
            return Result(any=True)
        found = self.reads.attribute(value, name)
        if found is MISSING and not isinstance(value, (TensorBase, ModuleType)):
            self.reads.missing(value, name)
        if callee is hasattr:
            return Result(Unknown(bool) if found is PENDING else found is not MISSING)
        if found is MISSING:
            return Result(args[2] if len(args) > 2 else UNKNOWN)
        return Result(any=True) if found is PENDING else Result(found)

    def subscript(self, value: Any, key: Any) -> Any:
        """``value[key]``: what is there, `PENDING` or a value that cannot be seen."""
        if isinstance(value, Unknown):
            return UNKNOWN if not value.made or value.type in (list, dict, tuple, None) else Unknown()
        found, _ = lookup(type(value), "__getitem__")
        if isinstance(found, FunctionType) or isinstance(value, (type, TensorBase)):
            if not isinstance(found, FunctionType) or whose(found.__code__) != OBSERVED:
                self.read(key)
            return PENDING
        if isinstance(value, (str, bytes, range)) or is_atom(value):
            return _tried(operator.getitem, [value, key]) if is_atom(key) else Unknown()
        if isinstance(value, (dict, list, tuple, deque, types.MappingProxyType)):
            if isinstance(key, (Unknown, slice)):
                self.read(value)
                return UNKNOWN
            if not self.reads.is_outside(value):
                return PENDING if missing_makes(value, key) else _tried(operator.getitem, [value, key])
            if missing_makes(value, key):
                self.changes(value, f"its element {key!r} is made by asking for it")
                return UNKNOWN
            got = self.reads.item(value, key)
            return PENDING if got is MISSING else got
        if isinstance(value, (np.ndarray, np.generic)) or type(value).__module__ == "typing":
            return Unknown(np.ndarray) if not self.reads.is_outside(value) else UNKNOWN
        if self.reads.is_outside(value):
            self.refuse(f"an element of {self.name(value)} is found by compiled code: {UNSEEN}")
        return UNKNOWN


def is_changed_by(value: Any, name: str) -> bool:
    """Whether a dictionary is changed by a method."""
    return name not in pure.READERS[dict] and name != "setdefault" and (
        not name.startswith("__") or name in pure.SPECIAL_CHANGES)  # fmt: skip


def _tried(function: Any, args: list[Any]) -> Any:
    """What a function that only computes makes of plain values; a value that cannot be seen if it raises."""
    if function is None:
        return UNKNOWN
    try:
        return function(*args)
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError):
        return UNKNOWN

"""Calls: what one does beside its result, as far as it is not Python code that is observed itself."""

from __future__ import annotations

import functools
import operator
import sys
import types
import weakref
from abc import ABCMeta, get_cache_token
from collections import deque
from contextlib import nullcontext
from contextvars import ContextVar
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, get_args

import numpy as np

from gradwright.compilation.watch import libraries
from gradwright.compilation.watch.contents import has_own_ways, is_iterator, is_view, lookup
from gradwright.compilation.watch.effects import UNSEEN, Effects, is_plain
from gradwright.compilation.watch.guards import ATTRIBUTE, CALLED, DERIVED, GOT, MISSING, UNSET_CELL, Way, is_atom
from gradwright.compilation.watch.libraries import NUMPY, OBSERVED, OWN, STANDARD, is_library, root, whose
from gradwright.compilation.watch.reads import PENDING, UNKNOWN, Reads, Unknown, missing_makes
from gradwright.engine.base import TensorBase
from gradwright.function.contract.reached import is_closed

_PARTIAL: Any = functools.partial
_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
_BOUND = (BuiltinFunctionType, types.MethodWrapperType)
_IN_C = (*_BOUND, functools.partial)
_SUSPENDED = 0x80 | 0x200  # coroutines and asynchronous generators


class Made(Unknown):
    """A function that the call itself has defined."""

    __slots__ = ("code",)

    def __init__(self, code: Any) -> None:
        super().__init__(FunctionType)
        self.code = code


class Result:
    """What is known of what a call will return.

    Attributes:
        value: it, if that is known.
        code: the Python code that returns it, if it is that of a function.
        any: whether whatever Python code is called returns it.
        instance: the class of which it is a new object.
        function: the Python function that is called, if it is known.
    """

    __slots__ = ("any", "code", "function", "instance", "value")

    def __init__(self, value: Any = UNKNOWN, code: Any = None, any: bool = False, instance: Any = None,
                 function: Any = None) -> None:  # fmt: skip
        self.value, self.code, self.any, self.instance, self.function = value, code, any, instance, function


class Calls:
    """Judges calls.

    Attributes:
        effects: judges what they change.
        refuse: is given the reason for each refusal.
        generators: generator functions that were called, by the ids of their code.
    """

    def __init__(self, reads: Reads, effects: Effects) -> None:
        self.reads, self.effects, self.refuse = reads, effects, effects.refuse
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
            if self.reads.is_outside(callee):
                self.reads.note_attribute(callee, "__self__", callee.__self__)
            return self.method(callee.__self__, callee.__name__, args, kwargs, callee)
        if isinstance(callee, BuiltinFunctionType):
            return self.builtin(callee, args, kwargs)
        if isinstance(callee, staticmethod):
            return self.call(callee.__func__, args, kwargs)
        return self.object(callee, args, kwargs)

    def known_partial(self, callee: Any) -> None:
        """The parts of a partial from outside are from outside."""
        if self.reads.is_outside(callee):
            for name in ("func", "args"):
                self.reads.note_attribute(callee, name, getattr(callee, name))
            self.reads.register_attribute(callee, "keywords", callee.keywords)
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
            return Result(self.noted(callee, CALLED, callee()))
        if type(callee) is operator.itemgetter:
            for value in args:
                self.effects.read(value)
            return Result()
        if type(callee) is operator.attrgetter and len(args) == 1 and not isinstance(args[0], Unknown):
            return self.attributes(callee, args[0])
        if package == "numpy":
            name, module = getattr(callee, "__name__", type(callee).__name__), getattr(callee, "__module__", None)
            self.numpy(name, module or "", args, kwargs)
            old = any(isinstance(v, np.ndarray) and self.reads.is_outside(v) for v in (*args, *kwargs.values()))
            for value in (*args, *kwargs.values()):
                self.effects.read(value)
            return Result(UNKNOWN if old else Unknown(np.ndarray))
        if root(callee) != "gradwright" and package != "gradwright" and not self.is_typing(callee):
            what = getattr(callee, "__qualname__", None) or type(callee).__name__
            why = ("remembers what it has returned" if hasattr(callee, "cache_info") else
                   "is not Python code: what it reads and does cannot be seen")  # fmt: skip
            self.refuse(f"`{what}` is called, which {why}. Call it outside of the step, or make it a "
                        "gradwright.autograd.Function.")  # fmt: skip
        for value in (*args, *kwargs.values()):
            self.effects.read(value)
        return Result()

    def attributes(self, callee: Any, value: Any) -> Result:
        """Attributes are read by an ``operator.attrgetter``; none may be Python code's to find."""
        found = []
        for path in callee.__reduce__()[1]:
            one = value
            for name in path.split("."):
                one = self.reads.attribute(one, name)
                if one is PENDING:
                    self.refuse(f"the attribute `{name}` is found by compiled code: {UNSEEN}")
                if one is PENDING or one is MISSING:
                    return Result()
            found.append(one)
        return Result(found[0] if len(found) == 1 else tuple(found))

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
        if callee in libraries.TYPES or callee in (np.dtype, np.ndarray) or issubclass(callee, BaseException):
            pass
        elif package == "gradwright":
            if (callee.__module__ or "").startswith(libraries.OWN_PACKAGES):
                self.refuse(f"gradwright's `{callee.__qualname__}` is made, which acts on more than tensors.")
        elif package == "numpy":
            self.numpy(callee.__name__, callee.__module__, args, kwargs)
        elif package in sys.stdlib_module_names and package != "__main__":
            if (callee.__module__ or "").partition(".")[0] not in libraries.MODULES:
                self.refuse(f"`{callee.__module__}.{callee.__qualname__}` is called: {UNSEEN}")
        elif not written and not callee.__flags__ & (1 << 9):
            self.refuse(f"`{callee.__qualname__}` is a class of compiled code: {UNSEEN}")
        if not written or package in ("gradwright", "numpy") or package in sys.stdlib_module_names:
            with self.reads.in_passing() if callee in libraries.ITERATE else nullcontext():
                for value in (*args, *kwargs.values()):
                    self.given(value)
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
                self.effects.set_attribute(value, args[0])
            else:
                self.effects.changes(value, name)
            return Result()
        if type(value) is ContextVar and name == "get" and not args and (found := _tried(value.get, [])) is not UNKNOWN:
            return Result(self.noted(value, GOT, found))
        if name == "__getattribute__" and args and isinstance(args[0], str):
            return Result(self.reads.attribute(value, args[0]), any=True)
        whole = name in libraries.READ_WHOLE
        for one in (*args, *kwargs.values()):
            self.effects.read(one, whole)
        if whole:
            self.effects.read(value, whole)
        if isinstance(value, (TensorBase, *libraries.IMMUTABLE)):
            if isinstance(value, tuple):
                self.effects.read(value)
            seen = isinstance(value, (str, int, float)) and not kwargs and all(map(is_atom, args))
            if not seen:
                return Result(Unknown(str if isinstance(value, str) else None))
            return Result(_tried(callee if isinstance(callee, _BOUND) else getattr(value, name, None), args))
        if isinstance(value, dict) and not is_changed_by(value, name):
            return self.of_dict(value, name, args)
        for kind, readers in libraries.READERS.items():
            if isinstance(value, kind):
                self.of_container(value, name, readers, args)
                return Result()
        if isinstance(value, (np.ndarray, np.generic, np.dtype)):
            self.of_array(value, name, args, kwargs)
        elif isinstance(value, np.ufunc):
            if name == "at":
                self.effects.changes(args[0] if args else UNKNOWN, f"NumPy's `{value.__name__}.at`")
            self.numpy(name, "", args, kwargs)
        elif name.startswith("__") and name.endswith("__") and not is_iterator(value) and is_plain(value):
            if name in libraries.SPECIAL_CHANGES and name != "__init__":
                self.effects.changes(value, f"`{name}`")
        elif isinstance(value, types.GeneratorType) or is_iterator(value):
            self.effects.read(value)
        elif not self.is_pure_object(value):
            self.refuse(f"`{name}` of {self.effects.name(value)} is called, which is not Python code: {UNSEEN}")
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
            self.effects.read(one)
        if name in ("__setattr__", "__delattr__", *libraries.SPECIAL_CHANGES):
            self.effects.changes(value, f"`{name}`")
        return Result()

    def of_class(self, value: type, name: str, args: list[Any], kwargs: dict[str, Any]) -> Result:
        """A class method written in C, or ``object.__new__``."""
        for one in (*args, *kwargs.values()):
            self.effects.read(one)
        if name in ("__setattr__", "__delattr__"):
            self.effects.set_attribute(value, args[0] if args and isinstance(args[0], str) else "?")
        elif name not in libraries.OF_CLASSES:
            self.refuse(f"`{value.__qualname__}.{name}` is called, which is not Python code: {UNSEEN}")
        return Result()

    def of_dict(self, value: dict[Any, Any], name: str, args: list[Any]) -> Result:
        """A dictionary is read, or asked for an element that it has."""
        outside = self.reads.is_outside(value)
        if name in ("get", "setdefault", "__getitem__") and args and not isinstance(args[0], Unknown):
            if name == "setdefault" and args[0] not in value and outside:
                self.effects.changes(value, "setdefault")
            found = self.reads.item(value, args[0]) if outside else dict.get(value, args[0], MISSING)
            return Result(found if found is not MISSING else args[1] if len(args) > 1 else None)
        if name == "__contains__" and args:
            self.reads.contains(value, args[0])
        elif name == "__len__":
            self.reads.length(value)
        elif name != "__init__":
            self.effects.read(value)
        return Result()

    def of_container(self, value: Any, name: str, readers: frozenset[str], args: list[Any]) -> None:
        """A method of a list, set, deque or dictionary."""
        special = name.startswith("__")
        if name == "__len__":
            self.reads.length(value)
        elif name in readers or (special and name not in libraries.SPECIAL_CHANGES):
            self.effects.read(value)
        elif name != "__init__" or not self.reads.is_outside(value) or args:
            self.effects.changes(value, name)

    def of_array(self, value: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> None:
        """A method of an array."""
        if name in libraries.ARRAY_EFFECTS:
            self.refuse(f"an array is written to a file (`{name}`).")
        elif name in libraries.ARRAY_CHANGES:
            self.effects.changes(value, f"`{name}`")
        if value.dtype.hasobject:
            self.effects.read(value, whole=True)
        self.numpy("", "", args, kwargs)

    def given(self, value: Any) -> None:
        """A value is taken by code in C, which calls what Python code it has."""
        self.effects.read(value)
        if callable(value) or is_iterator(value) or is_view(value) or libraries.is_handle(value, ours=False):
            return
        if is_closed(type(value)) and self.reads.is_outside(value):
            self.refuse(f"{self.effects.name(value)} is taken by compiled code: {UNSEEN}")

    def builtin(self, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Result:
        """A function written in C."""
        module = callee.__module__ or ""
        name = callee.__name__
        if callee in (getattr, hasattr) and len(args) > 1:
            return self.getattr(callee, args)
        if callee in (setattr, delattr) and args:
            how = "set" if callee is setattr else "deleted"
            self.effects.set_attribute(args[0], args[1] if isinstance(args[1], str) else "?", how)
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
            self.effects.read(args[-1] if args and isinstance(args[-1], tuple) else None)
            if callee is callable and args and not isinstance(args[0], Unknown):
                self.reads.special(args[0], "__call__")
            self.registered(callee, *args)
            return Result(Unknown(bool))
        if callee is next and args and not isinstance(args[0], Unknown):
            if isinstance(lookup(type(args[0]), "__next__")[0], FunctionType):
                return Result(any=True)
            self.effects.read(args[0])
            return Result(any=isinstance(args[0], types.GeneratorType))
        self.given_callables((*args, *kwargs.values()))
        if callee in libraries.CHANGES_FIRST and args:
            self.effects.changes(args[0], f"operator.{name}")
        for value in (*args, *kwargs.values()):
            self.given(value)
        if name == "__build_class__":
            return Result()
        if module.startswith("numpy"):
            self.numpy(name, module, args, kwargs)
        elif callee not in libraries.FUNCTIONS and module != "gradwright" and not module.startswith("gradwright."):
            self.refuse(f"`{name if module == 'builtins' else f'{module}.{name}'}` is called: {UNSEEN}")
        if len(args) == 1 and (callee is sum or (callee is iter and isinstance(args[0], (list, tuple, dict, set)))):
            return Result(Unknown(), any=callee is sum)
        if callee is operator.getitem and len(args) == 2:
            return Result(self.subscript(args[0], args[1]), any=True)
        if not kwargs and args and callee in libraries.OF_ATOMS and all(map(is_atom, args)):
            return Result(_tried(callee, args))
        if callee in libraries.MAY_RETURN_THEIRS:
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
            self.effects.changes(value, f"{callee.__name__} of {name!r}")
            return Result()
        if not isinstance(name, str):
            if self.reads.is_outside(value):
                self.refuse(f"`{callee.__name__}` of {self.effects.name(value)} by a name that cannot be followed. "
                            "Give that a name first: name = ...; getattr(..., name)")  # fmt: skip
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
                self.effects.read(key)
            return PENDING
        if isinstance(value, (str, bytes, range)) or is_atom(value):
            return _tried(operator.getitem, [value, key]) if is_atom(key) else Unknown()
        if isinstance(value, (dict, list, tuple, deque, types.MappingProxyType)):
            if isinstance(key, (Unknown, slice)):
                self.effects.read(value)
                return UNKNOWN
            if not self.reads.is_outside(value):
                return PENDING if missing_makes(value, key) else _tried(operator.getitem, [value, key])
            if missing_makes(value, key):
                self.effects.changes(value, f"its element {key!r} is made by asking for it")
                return UNKNOWN
            got = self.reads.item(value, key)
            return PENDING if got is MISSING else got
        if isinstance(value, (np.ndarray, np.generic)) or type(value).__module__ == "typing":
            return Unknown(np.ndarray) if not self.reads.is_outside(value) else UNKNOWN
        if self.reads.is_outside(value):
            self.refuse(f"an element of {self.effects.name(value)} is found by compiled code: {UNSEEN}")
        return UNKNOWN

    # -- functions of libraries --

    def library(self, callee: Any, kind: str, args: list[Any], kwargs: dict[str, Any]) -> None:
        """A function that is not observed."""
        module, name = callee.__globals__.get("__name__") or "", callee.__name__
        if kind == STANDARD:
            self.closure(callee)
        if kind == STANDARD and module.partition(".")[0] not in libraries.MODULES and not module.startswith("_frozen"):
            self.refuse(f"`{module}.{callee.__qualname__}` is called: {UNSEEN}")
        elif kind == NUMPY:
            self.numpy(name, module, args, kwargs)
        elif kind == OWN:
            self.own(module, name, args)
        for value in (*args, *kwargs.values()):
            self.effects.read(value)
            if isinstance(value, _IN_C):
                self.call(value, [Unknown(None, False)], {})

    def closure(self, function: Any) -> None:
        """What a function of Python's library shares with its maker is read: so `singledispatch` keeps them."""
        todo, done = [function], set()
        while todo:
            one = todo.pop()
            one = one.dispatcher if isinstance(one, functools.singledispatchmethod) else one
            if isinstance(one, (dict, list, set)):
                self.effects.read(one)
            elif isinstance(one, FunctionType) and one not in done and whose(one.__code__) == STANDARD:
                done.add(one)
                todo += [cell.cell_contents for cell in one.__closure__ or () if cell != UNSET_CELL]

    def noted(self, value: Any, way: Way, found: Any) -> Any:
        """The value of a weak reference or a context variable now."""
        if not self.reads.is_outside(value):
            return found
        known = self.reads.known(value)
        if way is CALLED and isinstance(found, TensorBase):
            self.refuse(f"`{known.name}` refers weakly to a tensor, which a program would keep alive: hold the tensor.")
        return self.reads.note(self.reads.step(known.source, way), found, f"{known.name}()", type(value).__name__)

    def registered(self, asked: Any, one: Any = None, kinds: Any = ()) -> None:
        """It was asked about abstract classes, with which others can be registered: what they say was read."""
        cls = one if asked is issubclass else one.type if isinstance(one, Unknown) else type(one)
        for kind in kinds if isinstance(kinds, tuple) else get_args(kinds) or (kinds,):
            if isinstance(kind, tuple):
                self.registered(asked, one, kind)
            elif isinstance(kind, ABCMeta):
                try:
                    answer = issubclass(cls, kind)
                except TypeError:  # the class is not known, or a protocol says it of instances alone: all are counted
                    source = self.reads.step(self.reads.known(get_cache_token).source, CALLED)
                    self.reads.note(source, get_cache_token(), "abc.get_cache_token()", "abstract classes")
                else:
                    source = self.reads.step(self.reads.known(kind).source, DERIVED, cls)
                    said = f"issubclass({cls.__name__}, {kind.__name__})"
                    self.reads.note(source, answer, said, "abstract class")

    def own(self, module: str, name: str, args: list[Any]) -> None:
        """A function of gradwright."""
        if name == "apply" and args and isinstance(args[0], type):
            self.function(args[0])
        if name in libraries.OWN_EFFECTS or (module.startswith(libraries.OWN_PACKAGES) and not name.startswith("__")):
            self.refuse(f"gradwright's `{name}` is called, which acts on more than tensors. Call it outside.")
        elif args and (name.startswith("register_") or name in libraries.OWN_CHANGES) and self.is_changed(args[0]):
            self.effects.changes(args[0], f"`{name}`")
        elif module.startswith("gradwright.optim") and args and name not in ("__init__", "add_param_group"):
            self.optimizer(args[0], name)
        elif module == "gradwright.nn.hooks" and name == "run" and args:
            self.hooks(args[0])

    def function(self, cls: type) -> None:
        """A Function is applied: what it computes by is read off its class."""
        for name in ("forward", "setup_context", "backward", "vjp", "jvp", "vmap"):
            found, owner = lookup(cls, name)
            if found is not MISSING and not is_library(owner):
                self.reads.of_kind(cls, owner, name, found)

    def is_changed(self, value: Any) -> bool:
        """Whether it is a module, an optimiser or a handle from outside."""
        return not isinstance(value, (type, TensorBase, Unknown)) and self.reads.is_outside(value)

    def hooks(self, module: Any) -> None:
        """The hooks of a module, and those that hold everywhere, are called."""
        everywhere = module.__call__.__func__.__globals__.get("_everywhere", ())
        self.effects.read(everywhere)
        for hooks in (vars(module).get("_hooks"), *everywhere):
            if hooks is not None and self.reads.is_outside(hooks):
                for kind in type(hooks).__slots__:
                    self.registry(self.reads.note_attribute(hooks, kind, getattr(hooks, kind), "hooks"))

    def optimizer(self, value: Any, name: str) -> None:
        """An optimiser reads its groups, its state and its hooks."""
        if not isinstance(getattr(value, "param_groups", None), list) or not self.reads.is_outside(value):
            return
        groups = self.reads.own_dict(value, "param_groups")
        if name == "zero_grad":
            self.reads.length(groups)
            for k in range(len(groups)):
                self.effects.read(self.reads.item(self.reads.item(groups, k), "params"))
            return
        with self.reads.in_passing() if name == "step" else nullcontext():
            self.effects.read(groups)
        self.effects.read(self.reads.own_dict(value, "state"))
        if "differentiable" in value.defaults:
            self.reads.item(self.reads.own_dict(value, "defaults"), "differentiable")
        for name in vars(value):
            if name.endswith(("step_pre_hooks", "step_post_hooks")):
                self.registry(self.reads.own_dict(value, name))
        module = sys.modules["gradwright.optim.optimizer"]
        for name in ("_before_any_step", "_after_any_step"):
            source = self.reads.step(self.reads.known(module).source, ATTRIBUTE, name)
            self.registry(self.reads.note(source, getattr(module, name), name, "optimisers"))

    def registry(self, held: Any) -> None:
        """Hooks are looked through."""
        self.reads.truth(held)
        if held:
            self.effects.read(held)
            for hook in list(held.values()):
                self.reads.judge(hook)

    def numpy(self, name: str, module: str, args: list[Any], kwargs: dict[str, Any]) -> None:
        """A function of NumPy's."""
        if ".random" in module or name in libraries.NUMPY_EFFECTS:
            self.refuse(f"NumPy's `{name}` is called, whose result does not depend on its arguments alone. Use "
                        "gradwright's random numbers, or call it outside of the step.")  # fmt: skip
        elif name in libraries.NUMPY_CHANGES and args:
            self.effects.changes(args[0], f"NumPy's `{name}`")
        for value in (*args, *kwargs.values()):
            self.effects.read(value, whole=True)
        out = kwargs.get("out")
        for one in out if isinstance(out, tuple) else (out,):
            if one is not None:
                self.effects.changes(one, f"NumPy's `{name}` with out=")


def is_changed_by(value: Any, name: str) -> bool:
    """Whether a dictionary is changed by a method."""
    return name not in libraries.READERS[dict] and name != "setdefault" and (
        not name.startswith("__") or name in libraries.SPECIAL_CHANGES)  # fmt: skip


def _tried(function: Any, args: list[Any]) -> Any:
    """What a function that only computes makes of plain values; a value that cannot be seen if it raises."""
    if function is None:
        return UNKNOWN
    try:
        return function(*args)
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError):
        return UNKNOWN

"""Instructions that load and store: names, attributes, elements, and operators on them."""

from __future__ import annotations

import builtins
import operator
import sys
from collections import deque
from types import FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from gradwright.compilation.watch.attributes import C_METHODS, is_state
from gradwright.compilation.watch.effects import UNSEEN, frozen
from gradwright.compilation.watch.files import is_library
from gradwright.compilation.watch.guards import MISSING, Source, is_atom
from gradwright.compilation.watch.reads import PENDING, UNKNOWN, Unknown, lookup
from gradwright.compilation.watch.results import Result
from gradwright.compilation.watch.stack import NULL, LostError, Shadow
from gradwright.compilation.watch.steps import Step
from gradwright.engine.base import TensorBase

LATE_NULL = sys.version_info >= (3, 13)
"""Whether the place of ``self`` comes after what is called."""
_BUILTINS = dict(vars(builtins))
_OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
               "/": operator.truediv, "&": operator.and_, "|": operator.or_, "^": operator.xor}  # fmt: skip
_SMALL = 1 << 64
_COMMON = (AssertionError, NotImplementedError, tuple, all, any, list, set)


class Bound(Unknown):
    """A method in C of a value that cannot be seen, but whose type is known."""

    __slots__ = ("found", "name", "value")

    def __init__(self, value: Unknown, found: Any, name: str) -> None:
        super().__init__()
        self.value, self.found, self.name = value, found, name


def in_python(value: Any) -> bool:
    """Whether operators on a value are Python code, whose result is theirs."""
    return bool(type(value).__flags__ & (1 << 9)) and not isinstance(value, (list, dict, set, tuple, Unknown))


class Values(Shadow):
    """The stack with these instructions."""

    # -- variables --

    def local(self, frame: Any, name: str) -> Any:
        """A variable of the frame."""
        if name in self.code.co_freevars or name in self.code.co_cellvars:
            return UNKNOWN  # the cell, for a closure
        return self.see(frame.f_locals.get(name, UNKNOWN))

    def cells(self, name: str) -> list[Source]:
        """Where a variable of the enclosing functions is found, as far as that is outside of the call."""
        if name not in self.code.co_freevars:
            return []
        found = self.outer.cells(name) if self.outer is not None else []
        if self.outer is None and not self.functions:
            raise LostError(f"the closure with `{name}`")
        for function in self.functions:
            cell = function.__closure__[self.code.co_freevars.index(name)]
            found.append(self.reads.step(self.reads.known(cell).source, "cell"))
        return found

    def of_closure(self, frame: Any, name: str) -> Any:
        """The value of a variable that functions share."""
        value = frame.f_locals.get(name, MISSING)
        if value is MISSING:
            for source in self.cells(name):
                if source.parent is not None:
                    self.reads.guard(source.parent, "unset", None, name, "closure")
            return UNKNOWN
        if name != "__class__" and not (self.ours and callable(value) and is_library(value)):
            for source in self.cells(name):
                self.reads.note(source, value, name, f"closure of {self.code.co_name}")
        return self.see(value)

    def of_globals(self, frame: Any, name: str) -> Any:
        """A global variable, or a builtin."""
        held = frame.f_globals
        if name in held:
            value = held[name]
            if self.ours and not is_state(value):
                return value
            return self.reads.note(self.reads.step(self.globals(held), "[]", name), value, name, "global")
        value = frame.f_builtins.get(name, UNKNOWN)
        if not self.ours:
            self.reads.guard(self.globals(held), "absent", name, "globals()", "global")
            if value is not _BUILTINS.get(name, UNKNOWN) and value is not UNKNOWN:
                self.reads.note(self.reads.step(self.globals(frame.f_builtins), "[]", name), value, name, "builtin")
        return value

    def globals(self, held: dict[str, Any]) -> Source:
        """The source of a module's variables; the module is there as long as its functions are."""
        known = self.reads.outside.get(id(held))
        if known is None:
            module = sys.modules.get(held.get("__name__", ""))
            if module is not None and vars(module) is held:
                source = self.reads.step(self.reads.known(module).source, "vars")
            else:
                source = Source.of(held)
            known = self.reads.register(held, source, "globals()")
        return known.source

    def refuse_variable(self, name: str, value: Any, what: str) -> None:
        """A variable outside of the call is set."""
        if type(value) in (int, float, complex, bool):
            self.calls.refuse(frozen(name, what, value))
        else:
            self.calls.refuse(f"`{name}` ({what}) is set by the step, which would happen only while it is traced. "
                              "Return the value, or write it into a tensor.")  # fmt: skip

    def set_tensor(self, step: Step, held: Any, read: Any, frame: Any) -> bool:
        """Whether a variable that holds a tensor is set: ``a -= x`` sets it to what it is, which the end shows."""
        if not step.name.startswith("STORE") or not isinstance(held.get(step.value), TensorBase):
            return False
        read(frame, step.value)
        return True

    def holds_tensor(self, value: Any, read: Any, at: Any) -> bool:
        """The same of an attribute or an element of an object from outside: ``s.n += 1``, ``params[k] -= x``."""
        if isinstance(value, (Unknown, TensorBase)) or not self.reads.is_outside(value):
            return False
        return isinstance(read(value, at), TensorBase)

    # -- instructions: names --

    def op_load_fast(self, step: Step, frame: Any) -> None:
        names = step.value if isinstance(step.value, tuple) else (step.value,)
        self.stack += [self.local(frame, name) for name in names]

    def op_load_fast_and_clear(self, step: Step, frame: Any) -> None:
        self.stack.append(UNKNOWN)

    def op_store_fast_load_fast(self, step: Step, frame: Any) -> None:
        value = self.stack.pop()
        first, second = step.value
        self.stack.append(value if first == second else self.local(frame, second))
        self.stored = first if first == second and isinstance(value, Unknown) else ""

    def op_load_const(self, step: Step, frame: Any) -> None:
        self.stack.append(step.value)

    def op_load_small_int(self, step: Step, frame: Any) -> None:
        self.stack.append(step.arg)

    def op_load_common_constant(self, step: Step, frame: Any) -> None:
        self.stack.append(_COMMON[step.arg] if step.arg < len(_COMMON) else UNKNOWN)

    def op_load_assertion_error(self, step: Step, frame: Any) -> None:
        self.stack.append(AssertionError)

    def op_load_build_class(self, step: Step, frame: Any) -> None:
        self.stack.append(builtins.__build_class__)

    def op_push_null(self, step: Step, frame: Any) -> None:
        self.stack.append(NULL)

    def op_load_global(self, step: Step, frame: Any) -> None:
        value = self.of_globals(frame, step.value)
        if step.arg & 1:
            self.stack += [value, NULL] if LATE_NULL else [NULL, value]
        else:
            self.stack.append(value)

    def op_load_deref(self, step: Step, frame: Any) -> None:
        self.stack.append(self.of_closure(frame, step.value))

    def op_load_classderef(self, step: Step, frame: Any) -> None:
        if step.name == "LOAD_FROM_DICT_OR_DEREF":
            self.stack.pop()
        self.stack.append(self.of_closure(frame, step.value))

    def op_load_name(self, step: Step, frame: Any) -> None:
        if step.name == "LOAD_FROM_DICT_OR_GLOBALS":
            self.stack.pop()
        local = frame.f_locals
        known = step.value in local and local is not frame.f_globals
        self.stack.append(self.see(local[step.value]) if known else self.of_globals(frame, step.value))

    def op_store_name(self, step: Step, frame: Any) -> None:
        self.stack.pop()
        if frame.f_locals is frame.f_globals and not self.set_tensor(step, frame.f_globals, self.of_globals, frame):
            self.refuse_variable(step.value, frame.f_globals.get(step.value), "global")

    def op_store_global(self, step: Step, frame: Any) -> None:
        if step.name == "STORE_GLOBAL":
            self.stack.pop()
        if not self.set_tensor(step, frame.f_globals, self.of_globals, frame):
            self.refuse_variable(step.value, frame.f_globals.get(step.value), "global")

    def op_store_deref(self, step: Step, frame: Any) -> None:
        if step.name == "STORE_DEREF":
            self.stack.pop()
        if self.cells(step.value) and not self.set_tensor(step, frame.f_locals, self.of_closure, frame):
            self.refuse_variable(step.value, frame.f_locals.get(step.value), "closure")

    def op_import_name(self, step: Step, frame: Any) -> None:
        _, members = self.pop(2)
        name = step.value
        if name not in sys.modules:
            self.calls.refuse(f"the module `{name}` is imported by the step for the first time. Import it before.")
            self.stack.append(UNKNOWN)
        else:
            first = name if members else name.partition(".")[0]
            found = sys.modules[first]
            if not is_library(found):
                known = self.reads.known(sys.modules)
                self.reads.note(self.reads.step(known.source, "[]", first), found, first, "module")
            self.stack.append(found)

    def op_import_from(self, step: Step, frame: Any) -> None:
        found = self.attribute(self.stack[-1], step.value)
        self.stack.append(UNKNOWN if found in (PENDING, MISSING) else found)

    # -- instructions: attributes and elements --

    def attribute(self, value: Any, name: str) -> Any:
        """An attribute of a value on the stack."""
        if isinstance(value, Unknown):
            if not value.made:
                self.calls.refuse(f"the attribute `{name}` is read of a value that cannot be followed. Give it a name "
                                  f"first: y = ...; y.{name}")  # fmt: skip
            elif isinstance(value.type, type):
                return self.of_made(value, name)
            return Unknown()
        return self.reads.attribute(value, name)

    def of_made(self, value: Any, name: str) -> Any:
        """An attribute of an object of a known class, that was made in the call."""
        found, owner = lookup(value.type, name)
        if found is MISSING:
            return UNKNOWN
        self.reads.of_kind(value.type, owner, name, found)
        if isinstance(found, staticmethod):
            return found.__func__
        if isinstance(found, C_METHODS):
            return Bound(value, found, name)
        return found if not hasattr(type(found), "__get__") else Unknown()

    def op_load_attr(self, step: Step, frame: Any) -> None:
        value = self.stack.pop()
        name = step.value
        found = self.attribute(value, name)
        method = step.name == "LOAD_METHOD" or (sys.version_info >= (3, 12) and step.arg & 1)
        if method and not LATE_NULL:
            self.stack.append(NULL)
        if found is MISSING and not isinstance(value, (ModuleType, TensorBase)):
            self.reads.missing(value, name)
        self.leave(Result(any=True) if found is PENDING or found is MISSING else Result(found))
        if found is PENDING and not isinstance(value, TensorBase) and not (self.ours and is_library(type(value))):
            self.expects = name if self.reads.is_outside(value) else ""
        if method and LATE_NULL:
            self.stack.append(NULL)

    def op_load_super_attr(self, step: Step, frame: Any) -> None:
        _, kind, value = self.pop(3)
        found: Any = UNKNOWN
        if isinstance(kind, type) and not isinstance(value, Unknown):
            found = self.reads.attribute(super(kind, value), step.value)
        method = step.arg & 1
        if method and not LATE_NULL:
            self.stack.append(NULL)
        self.leave(Result(any=True) if found is PENDING or found is MISSING else Result(found))
        if method and LATE_NULL:
            self.stack.append(NULL)

    def op_load_special(self, step: Step, frame: Any) -> None:
        value = self.stack.pop()
        name = ("__enter__", "__exit__", "__aenter__", "__aexit__")[step.arg]
        self.managed(value)
        self.stack += [self.special(value, name), NULL]

    def op_store_attr(self, step: Step, frame: Any) -> None:
        value = self.stack.pop()
        self.stack.pop()
        if not self.holds_tensor(value, self.reads.attribute, step.value):
            self.calls.set_attribute(value, step.value)

    def op_delete_attr(self, step: Step, frame: Any) -> None:
        self.calls.set_attribute(self.stack.pop(), step.value, "deleted")

    def op_binary_subscr(self, step: Step, frame: Any) -> None:
        value, key = self.pop(2)
        found = self.calls.subscript(value, key)
        self.leave(Result(any=True) if found is PENDING else Result(found))

    def op_binary_slice(self, step: Step, frame: Any) -> None:
        value, _, _ = self.pop(3)
        found = self.calls.subscript(value, slice(None))
        known = found if isinstance(value, TensorBase) and found is PENDING else UNKNOWN
        self.leave(Result(any=True) if found is PENDING else Result(known))

    def op_store_subscr(self, step: Step, frame: Any) -> None:
        _, value, key = self.pop(3)
        self.calls.read(key)
        if not self.holds_tensor(value, self.calls.subscript, key):
            self.calls.set_item(value, key)

    def op_store_slice(self, step: Step, frame: Any) -> None:
        value = self.pop(4)[1]
        self.calls.set_item(value, UNKNOWN)

    def op_delete_subscr(self, step: Step, frame: Any) -> None:
        value, key = self.pop(2)
        self.calls.set_item(value, key, "an element is deleted")

    # -- instructions: operators --

    def op_binary_op(self, step: Step, frame: Any) -> None:
        sign = step.text
        if sign == "[]":
            self.op_binary_subscr(step, frame)
            return
        a, b = self.pop(2)
        if sign.endswith("="):
            self.in_place(a, sign)
            sign = sign[:-1]
        for value in (a, b):
            self.given(value, "an operator is applied to it")
        self.leave(Result(self.computed(sign, a, b), any=in_python(a) or in_python(b)))

    def in_place(self, a: Any, sign: str) -> None:
        """``a += ...``: an effect on a container or an array."""
        if isinstance(a, (list, dict, set, deque, np.ndarray)) or (isinstance(a, Unknown) and not a.made):
            self.calls.changes(a, f"`{sign}`")

    @staticmethod
    def computed(sign: str, a: Any, b: Any) -> Any:
        """The value of an operator on small plain values."""
        done = _OPERATIONS.get(sign)
        if isinstance(a, Unknown) or isinstance(b, Unknown) or not (is_atom(a) and is_atom(b)):
            return Unknown() if is_atom(a) and is_atom(b) else UNKNOWN
        sizes = [v if type(v) in (int, bool) else len(v) if isinstance(v, (str, bytes, tuple)) else 0 for v in (a, b)]
        if done is None or any(abs(n) > _SMALL for n in sizes) or (sign == "*" and isinstance(a, (str, bytes, tuple))):
            return Unknown(type(a))
        try:
            return done(a, b)
        except (TypeError, ValueError, ArithmeticError):
            return UNKNOWN

    def given(self, value: Any, how: str) -> None:
        """A value is taken by code that is not observed."""
        self.calls.read(value)
        if not isinstance(value, (TensorBase, Unknown)):
            self.calls.foreign(value, how)

    def op_compare_op(self, step: Step, frame: Any) -> None:
        a, b = self.pop(2)
        for value in (a, b):
            self.given(value, "it is compared")
        self.leave(Result(Unknown(), any=in_python(a) or in_python(b)))

    def op_contains_op(self, step: Step, frame: Any) -> None:
        key, value = self.pop(2)
        if isinstance(value, (dict, set, MappingProxyType)):
            self.reads.contains(value, key)
        else:
            self.given(value, "it is searched")
        self.stack.append(Unknown(bool))

    def op_unary(self, step: Step, frame: Any) -> None:
        value = self.stack.pop()
        self.given(value, "an operator is applied to it")
        known = type(value) in (int, float) and step.name == "UNARY_NEGATIVE"
        self.leave(Result(-value if known else UNKNOWN, any=in_python(value)))

    def op_truth(self, step: Step, frame: Any) -> None:
        value = self.stack.pop()
        self.reads.truth(value)
        if step.name in ("TO_BOOL", "UNARY_NOT"):
            self.stack.append(Unknown(bool))

    def op_keep_or_pop(self, step: Step, frame: Any) -> None:
        self.reads.truth(self.stack[-1])

    def op_pop_one(self, step: Step, frame: Any) -> None:
        self.stack.pop()

    def special(self, value: Any, name: str) -> Any:
        """A special method, bound."""
        found, _ = lookup(type(value), name)
        return MethodType(found, value) if isinstance(found, FunctionType) else UNKNOWN

    def managed(self, value: Any) -> None:
        """``with value``: of compiled code, it is a lock or a file."""
        if isinstance(value, Unknown) or not isinstance(lookup(type(value), "__enter__")[0], FunctionType):
            if not (isinstance(value, Unknown) and value.made):
                self.calls.refuse(f"`with` on {self.calls.name(value)}: {UNSEEN}")
        elif self.special(value, "__enter__") is not UNKNOWN:
            self.calls.call(self.special(value, "__enter__"), [], {})

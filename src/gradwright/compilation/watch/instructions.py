"""What each instruction does to the stack of a frame, as far as it can be known: a table of opcodes.

What an instruction reads is noted, and what it changes is judged, before it runs. Those of `SIMPLE` only move values.
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections import deque
from collections.abc import Callable
from types import CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from gradwright.compilation.watch.calls import Made, Result
from gradwright.compilation.watch.contents import is_iterator, lookup
from gradwright.compilation.watch.effects import UNSEEN, frozen
from gradwright.compilation.watch.guards import ITEM, MISSING, is_atom
from gradwright.compilation.watch.libraries import is_library
from gradwright.compilation.watch.reads import C_METHODS, PENDING, UNKNOWN, Unknown
from gradwright.compilation.watch.stack import NULL, LostError, Stack, Step
from gradwright.engine.base import TensorBase

Opcode = Callable[[Stack, Step, Any], object]
OPCODES: dict[str, Opcode] = {}
"""By the name of an instruction its effect on a stack, given the step that it is and Python's frame."""
LATE_NULL = sys.version_info >= (3, 13)
"""Whether the place of ``self`` comes after what is called."""
_OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
               "/": operator.truediv, "&": operator.and_, "|": operator.or_, "^": operator.xor}  # fmt: skip
_SMALL = 1 << 64
_COMMON = (AssertionError, NotImplementedError, tuple, all, any, list, set)
_BUILT = {"BUILD_LIST": list, "BUILD_MAP": dict, "BUILD_CONST_KEY_MAP": dict, "BUILD_SET": set, "BUILD_TUPLE": tuple,
          "BUILD_STRING": str}  # fmt: skip


def opcode(names: str) -> Callable[[Opcode], Opcode]:
    """Declare what the instructions of these names do."""

    def declare(f: Opcode) -> Opcode:
        OPCODES.update(dict.fromkeys(names.split(), f))
        return f

    return declare


def pushing(names: str, value: Callable[[Stack, Step, Any], Any]) -> None:
    """Declare instructions that put one value on the stack."""
    opcode(names)(lambda s, step, frame: s.stack.append(value(s, step, frame)))


pushing("LOAD_FAST_AND_CLEAR", lambda s, step, frame: UNKNOWN)
pushing("LOAD_CONST LOAD_CONST_IMMORTAL LOAD_CONST_MORTAL", lambda s, step, frame: step.value)
pushing("LOAD_SMALL_INT", lambda s, step, frame: step.arg)
pushing("LOAD_COMMON_CONSTANT", lambda s, step, frame: _COMMON[step.arg] if step.arg < len(_COMMON) else UNKNOWN)
pushing("LOAD_ASSERTION_ERROR", lambda s, step, frame: AssertionError)
pushing("LOAD_BUILD_CLASS", lambda s, step, frame: builtins.__build_class__)
pushing("PUSH_NULL", lambda s, step, frame: NULL)
pushing("LOAD_DEREF", lambda s, step, frame: s.of_closure(frame, step.value))
pushing("COPY", lambda s, step, frame: s.stack[-step.arg])
opcode("SET_FUNCTION_ATTRIBUTE")(lambda s, step, frame: s.stack.pop(-2))
opcode("DELETE_ATTR")(lambda s, step, frame: s.effects.set_attribute(s.stack.pop(), step.value, "deleted"))
opcode("STORE_SLICE")(lambda s, step, frame: s.effects.set_item(s.pop(4)[1], UNKNOWN))
opcode("RAISE_VARARGS")(lambda s, step, frame: s.pop(step.arg))


class Bound(Unknown):
    """A method in C of a value that cannot be seen, but whose type is known."""

    __slots__ = ("found", "name", "value")

    def __init__(self, value: Unknown, found: Any, name: str) -> None:
        super().__init__()
        self.value, self.found, self.name = value, found, name


def in_python(value: Any) -> bool:
    """Whether operators on a value are Python code, whose result is theirs."""
    return bool(type(value).__flags__ & (1 << 9)) and not isinstance(value, (list, dict, set, tuple, Unknown))


# -- names --


def set_variable(s: Stack, step: Step, frame: Any, held: Any, read: Any, what: str) -> None:
    """A variable outside of the call is set: refused unless it holds a tensor.

    ``a -= x`` sets it to the tensor that it is, which the end shows.
    """
    name = step.value
    value = held.get(name)
    if step.name.startswith("STORE") and isinstance(value, TensorBase):
        read(frame, name)
    elif type(value) in (int, float, complex, bool):
        s.calls.refuse(frozen(name, what, value))
    else:
        s.calls.refuse(f"`{name}` ({what}) is set by the step, which would happen only while it is traced. "
                       "Return the value, or write it into a tensor.")  # fmt: skip


def holds_tensor(s: Stack, value: Any, read: Any, at: Any) -> bool:
    """The same of an attribute or an element of an object from outside: ``s.n += 1``, ``params[k] -= x``."""
    if isinstance(value, (Unknown, TensorBase)) or not s.reads.is_outside(value):
        return False
    return isinstance(read(value, at), TensorBase)


@opcode("LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_LOAD_FAST LOAD_FAST_BORROW LOAD_FAST_BORROW_LOAD_FAST_BORROW")
def _load_fast(s: Stack, step: Step, frame: Any) -> None:
    names = step.value if isinstance(step.value, tuple) else (step.value,)
    s.stack += [s.local(frame, name) for name in names]


@opcode("STORE_FAST_LOAD_FAST")
def _store_fast_load_fast(s: Stack, step: Step, frame: Any) -> None:
    value = s.stack.pop()
    first, second = step.value
    s.stack.append(value if first == second else s.local(frame, second))
    s.stored = first if first == second and isinstance(value, Unknown) else ""


@opcode("LOAD_GLOBAL")
def _load_global(s: Stack, step: Step, frame: Any) -> None:
    value = s.of_globals(frame, step.value)
    if step.arg & 1:
        s.stack += [value, NULL] if LATE_NULL else [NULL, value]
    else:
        s.stack.append(value)


@opcode("LOAD_CLASSDEREF LOAD_FROM_DICT_OR_DEREF")
def _load_classderef(s: Stack, step: Step, frame: Any) -> None:
    if step.name == "LOAD_FROM_DICT_OR_DEREF":
        s.stack.pop()
    s.stack.append(s.of_closure(frame, step.value))


@opcode("LOAD_NAME LOAD_FROM_DICT_OR_GLOBALS")
def _load_name(s: Stack, step: Step, frame: Any) -> None:
    if step.name == "LOAD_FROM_DICT_OR_GLOBALS":
        s.stack.pop()
    local = frame.f_locals
    known = step.value in local and local is not frame.f_globals
    s.stack.append(s.see(local[step.value]) if known else s.of_globals(frame, step.value))


@opcode("STORE_NAME")
def _store_name(s: Stack, step: Step, frame: Any) -> None:
    s.stack.pop()
    if frame.f_locals is frame.f_globals:
        set_variable(s, step, frame, frame.f_globals, s.of_globals, "global")


@opcode("STORE_GLOBAL DELETE_GLOBAL")
def _store_global(s: Stack, step: Step, frame: Any) -> None:
    if step.name == "STORE_GLOBAL":
        s.stack.pop()
    set_variable(s, step, frame, frame.f_globals, s.of_globals, "global")


@opcode("STORE_DEREF DELETE_DEREF")
def _store_deref(s: Stack, step: Step, frame: Any) -> None:
    if step.name == "STORE_DEREF":
        s.stack.pop()
    if s.cells(step.value):
        set_variable(s, step, frame, frame.f_locals, s.of_closure, "closure")


@opcode("IMPORT_NAME")
def _import_name(s: Stack, step: Step, frame: Any) -> None:
    _, members = s.pop(2)
    name = step.value
    if name not in sys.modules:
        s.calls.refuse(f"the module `{name}` is imported by the step for the first time. Import it before.")
        s.stack.append(UNKNOWN)
    else:
        first = name if members else name.partition(".")[0]
        found = sys.modules[first]
        if not is_library(found):
            known = s.reads.known(sys.modules)
            s.reads.note(s.reads.step(known.source, ITEM, first), found, first, "module")
        s.stack.append(found)


@opcode("IMPORT_FROM")
def _import_from(s: Stack, step: Step, frame: Any) -> None:
    found = attribute(s, s.stack[-1], step.value)
    s.stack.append(UNKNOWN if found in (PENDING, MISSING) else found)


# -- attributes and elements --


def attribute(s: Stack, value: Any, name: str) -> Any:
    """An attribute of a value on the stack."""
    if isinstance(value, Unknown):
        if not value.made:
            s.calls.refuse(f"the attribute `{name}` is read of a value that cannot be followed. Give it a name "
                              f"first: y = ...; y.{name}")  # fmt: skip
        elif isinstance(value.type, type):
            return of_made(s, value, name)
        return Unknown()
    return s.reads.attribute(value, name)


def of_made(s: Stack, value: Any, name: str) -> Any:
    """An attribute of an object of a known class, that was made in the call."""
    found, owner = lookup(value.type, name)
    if found is MISSING:
        return UNKNOWN
    s.reads.of_kind(value.type, owner, name, found)
    if isinstance(found, staticmethod):
        return found.__func__
    if isinstance(found, C_METHODS):
        return Bound(value, found, name)
    return found if not hasattr(type(found), "__get__") else Unknown()


def leave_found(s: Stack, found: Any, method: Any) -> None:
    """Leave an attribute; beside a method there is a place for ``self``."""
    if method and not LATE_NULL:
        s.stack.append(NULL)
    s.leave(Result(any=True) if found is PENDING or found is MISSING else Result(found))
    if method and LATE_NULL:
        s.stack.append(NULL)


@opcode("LOAD_ATTR LOAD_METHOD")
def _load_attr(s: Stack, step: Step, frame: Any) -> None:
    value = s.stack.pop()
    name = step.value
    found = attribute(s, value, name)
    if found is MISSING and not isinstance(value, (ModuleType, TensorBase)):
        s.reads.missing(value, name)
    leave_found(s, found, step.name == "LOAD_METHOD" or (sys.version_info >= (3, 12) and step.arg & 1))
    if found is PENDING and not isinstance(value, TensorBase) and not (s.ours and is_library(type(value))):
        s.expects = name if s.reads.is_outside(value) else ""


@opcode("LOAD_SUPER_ATTR LOAD_SUPER_METHOD LOAD_ZERO_SUPER_ATTR LOAD_ZERO_SUPER_METHOD")
def _load_super_attr(s: Stack, step: Step, frame: Any) -> None:
    _, kind, value = s.pop(3)
    known = isinstance(kind, type) and not isinstance(value, Unknown)
    leave_found(s, s.reads.attribute(super(kind, value), step.value) if known else UNKNOWN, step.arg & 1)


@opcode("LOAD_SPECIAL")
def _load_special(s: Stack, step: Step, frame: Any) -> None:
    value = s.stack.pop()
    name = ("__enter__", "__exit__", "__aenter__", "__aexit__")[step.arg]
    managed(s, value)
    s.stack += [special(s, value, name), NULL]


@opcode("STORE_ATTR")
def _store_attr(s: Stack, step: Step, frame: Any) -> None:
    value = s.stack.pop()
    s.stack.pop()
    if not holds_tensor(s, value, s.reads.attribute, step.value):
        s.effects.set_attribute(value, step.value)


@opcode("BINARY_SUBSCR")
def _binary_subscr(s: Stack, step: Step, frame: Any) -> None:
    value, key = s.pop(2)
    found = s.calls.subscript(value, key)
    s.leave(Result(any=True) if found is PENDING else Result(found))


@opcode("BINARY_SLICE")
def _binary_slice(s: Stack, step: Step, frame: Any) -> None:
    value, _, _ = s.pop(3)
    s.leave(Result(any=s.calls.subscript(value, slice(None)) is PENDING))


@opcode("STORE_SUBSCR")
def _store_subscr(s: Stack, step: Step, frame: Any) -> None:
    _, value, key = s.pop(3)
    s.effects.read(key)
    if not holds_tensor(s, value, s.calls.subscript, key):
        s.effects.set_item(value, key)


@opcode("DELETE_SUBSCR")
def _delete_subscr(s: Stack, step: Step, frame: Any) -> None:
    value, key = s.pop(2)
    s.effects.set_item(value, key, "an element is deleted")


# -- operators --


@opcode("BINARY_OP")
def _binary_op(s: Stack, step: Step, frame: Any) -> None:
    sign = step.text
    if sign == "[]":
        _binary_subscr(s, step, frame)
        return
    a, b = s.pop(2)
    if sign.endswith("="):
        in_place(s, a, sign)
        sign = sign[:-1]
    for value in (a, b):
        given(s, value, "an operator is applied to it")
    s.leave(Result(computed(sign, a, b), any=in_python(a) or in_python(b)))


def in_place(s: Stack, a: Any, sign: str) -> None:
    """``a += ...``: an effect on a container or an array."""
    if isinstance(a, (list, dict, set, deque, np.ndarray)) or (isinstance(a, Unknown) and not a.made):
        s.effects.changes(a, f"`{sign}`")


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


def given(s: Stack, value: Any, how: str) -> None:
    """A value is taken by code that is not observed."""
    s.effects.read(value)
    if not isinstance(value, (TensorBase, Unknown)):
        s.effects.foreign(value, how)


@opcode("COMPARE_OP")
def _compare_op(s: Stack, step: Step, frame: Any) -> None:
    a, b = s.pop(2)
    for value in (a, b):
        given(s, value, "it is compared")
    s.leave(Result(Unknown(), any=in_python(a) or in_python(b)))


@opcode("CONTAINS_OP")
def _contains_op(s: Stack, step: Step, frame: Any) -> None:
    key, value = s.pop(2)
    if isinstance(value, (dict, set, MappingProxyType)):
        s.reads.contains(value, key)
    else:
        given(s, value, "it is searched")
    s.stack.append(Unknown(bool))


@opcode("UNARY_NEGATIVE UNARY_POSITIVE UNARY_INVERT")
def _unary(s: Stack, step: Step, frame: Any) -> None:
    value = s.stack.pop()
    given(s, value, "an operator is applied to it")
    known = type(value) in (int, float) and step.name == "UNARY_NEGATIVE"
    s.leave(Result(-value if known else UNKNOWN, any=in_python(value)))


@opcode("""
    UNARY_NOT TO_BOOL POP_JUMP_IF_TRUE POP_JUMP_IF_FALSE POP_JUMP_FORWARD_IF_TRUE POP_JUMP_FORWARD_IF_FALSE
    POP_JUMP_BACKWARD_IF_TRUE POP_JUMP_BACKWARD_IF_FALSE JUMP_IF_TRUE_OR_POP JUMP_IF_FALSE_OR_POP""")
def _truth(s: Stack, step: Step, frame: Any) -> None:
    s.reads.truth(s.stack[-1])
    if step.name in ("TO_BOOL", "UNARY_NOT"):
        s.stack[-1] = Unknown(bool)
    elif step.name.startswith("POP"):
        s.stack.pop()


def special(s: Stack, value: Any, name: str) -> Any:
    """A special method, bound."""
    found, _ = lookup(type(value), name)
    return MethodType(found, value) if isinstance(found, FunctionType) else UNKNOWN


def managed(s: Stack, value: Any) -> None:
    """``with value``: of compiled code, it is a lock or a file."""
    if isinstance(value, Unknown) or not isinstance(lookup(type(value), "__enter__")[0], FunctionType):
        if not (isinstance(value, Unknown) and value.made):
            s.calls.refuse(f"`with` on {s.effects.name(value)}: {UNSEEN}")
    elif special(s, value, "__enter__") is not UNKNOWN:
        s.calls.call(special(s, value, "__enter__"), [], {})


# -- iteration and unpacking --


@opcode("GET_ITER GET_YIELD_FROM_ITER")
def _get_iter(s: Stack, step: Step, frame: Any) -> None:
    value = s.stack.pop()
    with s.reads.in_passing():
        given(s, value, "its elements are read")
    made = not isinstance(value, Unknown) and is_iterator(value) and not s.reads.is_outside(value)
    found = value if made else Unknown()
    s.leave(Result(found, any=isinstance(lookup(type(value), "__iter__")[0], FunctionType)))


@opcode("FOR_ITER SEND")
def _next(s: Stack, step: Step, frame: Any) -> None:
    if step.name == "SEND":
        s.stack.pop()
    s.leave(Result(any=True))


@opcode("UNPACK_SEQUENCE UNPACK_EX")
def _unpack(s: Stack, step: Step, frame: Any) -> None:
    value = s.stack.pop()
    with s.reads.in_passing():
        given(s, value, "it is unpacked")
    count = step.arg if step.name == "UNPACK_SEQUENCE" else (step.arg & 255) + 1 + (step.arg >> 8)
    if type(value) in (tuple, list) and len(value) == count and step.name == "UNPACK_SEQUENCE":
        s.stack += [s.see(v) for v in reversed(value)]
    else:
        s.stack += [UNKNOWN] * count


# -- what is built --


@opcode("BUILD_TUPLE BUILD_LIST BUILD_SET BUILD_MAP BUILD_CONST_KEY_MAP BUILD_STRING BUILD_SLICE")
def _build(s: Stack, step: Step, frame: Any) -> None:
    name, count = step.name, step.arg
    count = 2 * count if name == "BUILD_MAP" else count + 1 if name == "BUILD_CONST_KEY_MAP" else count
    values = s.pop(count)
    for value in values:
        s.effects.held(value)
    if name == "BUILD_TUPLE" and not any(isinstance(v, Unknown) or v is NULL for v in values):
        s.stack.append(tuple(values))
    elif name == "BUILD_STRING" and all(type(v) is str for v in values):
        s.stack.append("".join(values))
    elif name == "BUILD_SLICE" and not any(isinstance(v, Unknown) for v in values):
        s.stack.append(slice(*values))
    else:
        s.stack.append(Unknown(_BUILT.get(name)))


@opcode("LIST_APPEND SET_ADD MAP_ADD LIST_EXTEND SET_UPDATE DICT_UPDATE DICT_MERGE")
def _extend(s: Stack, step: Step, frame: Any) -> None:
    for value in s.pop(2 if step.name == "MAP_ADD" else 1):
        given(s, value, "its elements are read")


@opcode("FORMAT_VALUE FORMAT_SIMPLE FORMAT_WITH_SPEC")
def _format(s: Stack, step: Step, frame: Any) -> None:
    spec = step.name == "FORMAT_WITH_SPEC" or (step.name == "FORMAT_VALUE" and step.arg & 4)
    values = s.pop(2 if spec else 1)
    for value in values:
        given(s, value, "it is written as text")
    converts = step.name == "FORMAT_VALUE" and step.arg & 3
    s.stack.append(format(*values) if all(map(is_atom, values)) and not converts else Unknown(str))


@opcode("CALL_INTRINSIC_1 LIST_TO_TUPLE PRINT_EXPR")
def _intrinsic(s: Stack, step: Step, frame: Any) -> None:
    given(s, s.stack.pop(), "it is read")
    if step.arg in (1, 2):
        s.calls.refuse("something is printed or imported by the step.")
    s.stack.append(Unknown(tuple) if step.name == "LIST_TO_TUPLE" or step.arg == 6 else UNKNOWN)


@opcode("MAKE_FUNCTION")
def _make_function(s: Stack, step: Step, frame: Any) -> None:
    count = 1 + step.arg.bit_count() if sys.version_info < (3, 13) else 1
    code = s.pop(count)[-1]
    if isinstance(code, CodeType):
        s.made[id(code)] = s
    s.stack.append(Made(code))


@opcode("GET_LEN")
def _get_len(s: Stack, step: Step, frame: Any) -> None:
    s.reads.length(s.stack[-1])
    s.stack.append(Unknown(int))


@opcode("MATCH_KEYS")
def _match_keys(s: Stack, step: Step, frame: Any) -> None:
    value, keys = s.stack[-2:]
    s.followed(value)
    if isinstance(value, (dict, MappingProxyType)) and not isinstance(lookup(type(value), "get")[0], FunctionType):
        found = [s.reads.item(value, key) if s.reads.is_outside(value) else value.get(key, MISSING) for key in keys]
    else:
        given(s, value, "it is matched")
        found = [UNKNOWN]
    s.stack.append(UNKNOWN if _hidden(found) else tuple(found))


@opcode("MATCH_CLASS")
def _match_class(s: Stack, step: Step, frame: Any) -> None:
    value, kind, names = s.pop(3)
    s.followed(value)
    found: list[Any] = [UNKNOWN]
    s.calls.call(isinstance, [value, kind], {})
    if not isinstance(value, Unknown) and isinstance(kind, type) and isinstance(value, kind):
        named = s.reads.attribute(kind, "__match_args__") if step.arg else ()
        positional = named[: step.arg] if isinstance(named, tuple) else ()
        found = [s.reads.attribute(value, name) for name in (*positional, *names)]
        if step.arg and named is MISSING:  # of one of Python's own, which is matched itself
            found = [value, *found]
    s.stack.append(UNKNOWN if _hidden(found) else tuple(found))


def _hidden(found: list[Any]) -> bool:
    """Whether one of the values that are matched is found by other code, or not at all."""
    return any(value is PENDING or value is MISSING or value is UNKNOWN for value in found)


# -- calls --


@opcode("KW_NAMES")
def _kw_names(s: Stack, step: Step, frame: Any) -> None:
    s.names = s.code.co_consts[step.arg]


@opcode("CALL CALL_KW")
def _call(s: Stack, step: Step, frame: Any) -> None:
    names = s.names
    s.names = ()
    if step.name == "CALL_KW":
        (names,) = s.pop(1)
    items = s.pop(step.arg + 2)
    a, b = items[:2]
    args = items[2:]
    callee = b if a is NULL else a
    if a is not NULL and b is not NULL:
        args = [b, *args]
    split = len(args) - len(names)
    called(s, callee, args[:split], dict(zip(names, args[split:], strict=True)), frame)


@opcode("CALL_FUNCTION_EX")
def _call_function_ex(s: Stack, step: Step, frame: Any) -> None:
    kwargs: Any = {}
    if step.arg & 1 or sys.version_info >= (3, 14):
        (kwargs,) = s.pop(1)
    a, b, args = s.pop(3)
    callee = b if a is NULL else a
    for value in (args, kwargs):
        if value is not NULL:
            given(s, value, "its elements are read")
    known = args if isinstance(args, (tuple, list)) else (UNKNOWN,)
    called(s, callee, list(known), kwargs if isinstance(kwargs, dict) else {}, frame)


def called(s: Stack, callee: Any, args: list[Any], kwargs: dict[str, Any], frame: Any) -> None:
    """A call is about to be made."""
    if callee is builtins.globals and "globals" not in frame.f_globals:
        s.globals(frame.f_globals)
        s.leave(Result(frame.f_globals))
        return
    if callee is super and not args:
        s.leave(Result(zero_argument_super(s, frame)))
        return
    if callee is locals or (callee is vars and not args):
        s.reads.numbers.close()
        s.leave(Result(Unknown(dict)))
        return
    if isinstance(callee, Bound):
        s.leave(s.calls.method(callee.value, callee.name, args, kwargs, callee.found))
        return
    result = s.calls.call(callee, args, kwargs)
    number = None if kwargs else s.reads.numbers.call(callee, args, (frame.f_code, frame.f_lasti))
    s.leave(result if number is None else Result(number))
    if isinstance(callee, Unknown) and not isinstance(callee, Made):
        s.unseen = True


def zero_argument_super(s: Stack, frame: Any) -> Any:
    """``super()``."""
    local = frame.f_locals
    kind = local.get("__class__")
    first = local.get(s.code.co_varnames[0]) if s.code.co_argcount else None
    return super(kind, first) if isinstance(kind, type) and first is not None else UNKNOWN


@opcode("BEFORE_WITH")
def _before_with(s: Stack, step: Step, frame: Any) -> None:
    value = s.stack.pop()
    managed(s, value)
    s.stack.append(special(s, value, "__exit__"))
    entering = special(s, value, "__enter__")
    s.leave(Result(any=entering is not UNKNOWN))


@opcode("SWAP")
def _swap(s: Stack, step: Step, frame: Any) -> None:
    stack = s.stack
    stack[-step.arg], stack[-1] = stack[-1], stack[-step.arg]


@opcode("GET_AWAITABLE GET_AITER GET_ANEXT BEFORE_ASYNC_WITH END_ASYNC_FOR")
def _suspend(s: Stack, step: Step, frame: Any) -> None:
    s.calls.refuse("the step is asynchronous: it runs later, where the program is not.")
    raise LostError(step.name)

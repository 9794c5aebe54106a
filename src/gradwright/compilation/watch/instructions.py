"""Instructions that go over elements, build, call and leave; and the table of all."""

from __future__ import annotations

import builtins
import sys
from types import CodeType, FunctionType
from typing import Any, ClassVar

from gradwright.compilation.watch.guards import is_atom
from gradwright.compilation.watch.reads import PENDING, UNKNOWN, Unknown, is_iterator, lookup
from gradwright.compilation.watch.results import Made, Result
from gradwright.compilation.watch.stack import NULL, LostError
from gradwright.compilation.watch.steps import Step
from gradwright.compilation.watch.values import Bound, Values

_BUILT = {"BUILD_LIST": list, "BUILD_MAP": dict, "BUILD_CONST_KEY_MAP": dict, "BUILD_SET": set, "BUILD_TUPLE": tuple,
          "BUILD_STRING": str}  # fmt: skip


class Instructions(Values):
    """The stack with all instructions."""

    # -- instructions: iteration and unpacking --

    def op_get_iter(self, step: Step, frame: Any) -> None:
        value = self.stack.pop()
        self.given(value, "its elements are read")
        found: Any = Unknown()
        if not isinstance(value, Unknown) and is_iterator(value) and not self.reads.is_outside(value):
            found = value
        self.leave(Result(found, any=isinstance(lookup(type(value), "__iter__")[0], FunctionType)))

    def op_for_iter(self, step: Step, frame: Any) -> None:
        self.leave(Result(any=True))

    def op_end_for(self, step: Step, frame: Any) -> None:
        self.pop(2 if sys.version_info < (3, 13) else 1)

    def op_send(self, step: Step, frame: Any) -> None:
        self.stack.pop()
        self.leave(Result(any=True))

    def op_unpack(self, step: Step, frame: Any) -> None:
        value = self.stack.pop()
        self.given(value, "it is unpacked")
        count = step.arg if step.name == "UNPACK_SEQUENCE" else (step.arg & 255) + 1 + (step.arg >> 8)
        if type(value) in (tuple, list) and len(value) == count and step.name == "UNPACK_SEQUENCE":
            self.stack += [self.see(v) for v in reversed(value)]
        else:
            self.stack += [UNKNOWN] * count

    # -- instructions: what is built --

    def op_build(self, step: Step, frame: Any) -> None:
        name, count = step.name, step.arg
        count = 2 * count if name == "BUILD_MAP" else count + 1 if name == "BUILD_CONST_KEY_MAP" else count
        values = self.pop(count)
        for value in values:
            self.calls.read(value)
        if name == "BUILD_TUPLE" and not any(isinstance(v, Unknown) or v is NULL for v in values):
            self.stack.append(tuple(values))
        elif name == "BUILD_STRING" and all(type(v) is str for v in values):
            self.stack.append("".join(values))
        elif name == "BUILD_SLICE" and not any(isinstance(v, Unknown) for v in values):
            self.stack.append(slice(*values))
        else:
            self.stack.append(Unknown(_BUILT.get(name)))

    def op_extend(self, step: Step, frame: Any) -> None:
        for value in self.pop(2 if step.name == "MAP_ADD" else 1):
            self.given(value, "its elements are read")

    def op_format(self, step: Step, frame: Any) -> None:
        spec = step.name == "FORMAT_WITH_SPEC" or (step.name == "FORMAT_VALUE" and step.arg & 4)
        values = self.pop(2 if spec else 1)
        for value in values:
            self.given(value, "it is written as text")
        converts = step.name == "FORMAT_VALUE" and step.arg & 3
        self.stack.append(format(*values) if all(map(is_atom, values)) and not converts else Unknown(str))

    def op_intrinsic(self, step: Step, frame: Any) -> None:
        self.given(self.stack.pop(), "it is read")
        if step.arg in (1, 2):
            self.calls.refuse("something is printed or imported by the step.")
        self.stack.append(Unknown(tuple) if step.name == "LIST_TO_TUPLE" or step.arg == 6 else UNKNOWN)

    def op_make_function(self, step: Step, frame: Any) -> None:
        count = 1 + step.arg.bit_count() if sys.version_info < (3, 13) else 1
        code = self.pop(count)[-1]
        if isinstance(code, CodeType):
            self.made[id(code)] = self
        self.stack.append(Made(code))

    def op_set_function_attribute(self, step: Step, frame: Any) -> None:
        _, function = self.pop(2)
        self.stack.append(function)

    def op_get_len(self, step: Step, frame: Any) -> None:
        self.reads.length(self.stack[-1])
        self.stack.append(Unknown(int))

    def op_match_keys(self, step: Step, frame: Any) -> None:
        self.given(self.stack[-2], "it is matched")
        self.stack.append(UNKNOWN)

    def op_match_class(self, step: Step, frame: Any) -> None:
        value, _, names = self.pop(3)
        if not isinstance(value, Unknown) and self.reads.is_outside(value) and isinstance(names, tuple):
            names += tuple(getattr(type(value), "__match_args__", ()))
            for name in names:
                if self.reads.attribute(value, name) is PENDING:
                    self.given(value, f"its attribute {name} is matched")
        self.stack.append(UNKNOWN)

    # -- instructions: calls --

    def op_kw_names(self, step: Step, frame: Any) -> None:
        self.names = self.code.co_consts[step.arg]

    def op_call(self, step: Step, frame: Any) -> None:
        names = self.names
        self.names = ()
        if step.name == "CALL_KW":
            (names,) = self.pop(1)
        items = self.pop(step.arg + 2)
        a, b = items[:2]
        args = items[2:]
        callee = b if a is NULL else a
        if a is not NULL and b is not NULL:
            args = [b, *args]
        split = len(args) - len(names)
        self.called(callee, args[:split], dict(zip(names, args[split:], strict=True)), frame)

    def op_call_function_ex(self, step: Step, frame: Any) -> None:
        given: Any = {}
        if step.arg & 1 or sys.version_info >= (3, 14):
            (given,) = self.pop(1)
        a, b, args = self.pop(3)
        callee = b if a is NULL else a
        for value in (args, given):
            if value is not NULL:
                self.given(value, "its elements are read")
        known = args if isinstance(args, (tuple, list)) else (UNKNOWN,)
        self.called(callee, list(known), given if isinstance(given, dict) else {}, frame)

    def called(self, callee: Any, args: list[Any], kwargs: dict[str, Any], frame: Any) -> None:
        """A call is about to be made."""
        if callee is builtins.globals and "globals" not in frame.f_globals:
            self.globals(frame.f_globals)
            self.leave(Result(frame.f_globals))
            return
        if callee is super and not args:
            self.leave(Result(self.zero_argument_super(frame)))
            return
        if callee is locals or (callee is vars and not args):
            self.reads.numbers.close()
            self.leave(Result(Unknown(dict)))
            return
        if isinstance(callee, Bound):
            self.leave(self.calls.method(callee.value, callee.name, args, kwargs, callee.found))
            return
        result = self.calls.call(callee, args, kwargs)
        number = None if kwargs else self.reads.numbers.call(callee, args, (frame.f_code, frame.f_lasti))
        self.leave(result if number is None else Result(number))
        if isinstance(callee, Unknown) and not isinstance(callee, Made):
            self.unseen = True

    def zero_argument_super(self, frame: Any) -> Any:
        """``super()``."""
        local = frame.f_locals
        kind = local.get("__class__")
        first = local.get(self.code.co_varnames[0]) if self.code.co_argcount else None
        return super(kind, first) if isinstance(kind, type) and first is not None else UNKNOWN

    def op_before_with(self, step: Step, frame: Any) -> None:
        value = self.stack.pop()
        self.managed(value)
        self.stack.append(self.special(value, "__exit__"))
        entering = self.special(value, "__enter__")
        self.leave(Result(any=entering is not UNKNOWN))

    def op_copy(self, step: Step, frame: Any) -> None:
        self.stack.append(self.stack[-step.arg])

    def op_swap(self, step: Step, frame: Any) -> None:
        stack = self.stack
        stack[-step.arg], stack[-1] = stack[-1], stack[-step.arg]

    def op_raise(self, step: Step, frame: Any) -> None:
        self.pop(step.arg)

    def op_async(self, step: Step, frame: Any) -> None:
        self.calls.refuse("the step is asynchronous: it runs later, where the program is not.")
        raise LostError(step.name)

    table: ClassVar[dict[str, Any]] = {}


for _method, _names in {
    Instructions.op_load_fast: ("LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_LOAD_FAST LOAD_FAST_BORROW "
                                "LOAD_FAST_BORROW_LOAD_FAST_BORROW"),
    Instructions.op_load_fast_and_clear: "LOAD_FAST_AND_CLEAR",
    Instructions.op_store_fast_load_fast: "STORE_FAST_LOAD_FAST",
    Instructions.op_load_const: "LOAD_CONST LOAD_CONST_IMMORTAL LOAD_CONST_MORTAL",
    Instructions.op_load_small_int: "LOAD_SMALL_INT",
    Instructions.op_load_common_constant: "LOAD_COMMON_CONSTANT",
    Instructions.op_load_assertion_error: "LOAD_ASSERTION_ERROR",
    Instructions.op_load_build_class: "LOAD_BUILD_CLASS",
    Instructions.op_push_null: "PUSH_NULL",
    Instructions.op_load_global: "LOAD_GLOBAL",
    Instructions.op_load_deref: "LOAD_DEREF",
    Instructions.op_load_classderef: "LOAD_CLASSDEREF LOAD_FROM_DICT_OR_DEREF",
    Instructions.op_load_name: "LOAD_NAME LOAD_FROM_DICT_OR_GLOBALS",
    Instructions.op_store_name: "STORE_NAME",
    Instructions.op_store_global: "STORE_GLOBAL DELETE_GLOBAL",
    Instructions.op_store_deref: "STORE_DEREF DELETE_DEREF",
    Instructions.op_import_name: "IMPORT_NAME",
    Instructions.op_import_from: "IMPORT_FROM",
    Instructions.op_load_attr: "LOAD_ATTR LOAD_METHOD",
    Instructions.op_load_super_attr: "LOAD_SUPER_ATTR LOAD_SUPER_METHOD LOAD_ZERO_SUPER_ATTR LOAD_ZERO_SUPER_METHOD",
    Instructions.op_load_special: "LOAD_SPECIAL",
    Instructions.op_store_attr: "STORE_ATTR",
    Instructions.op_delete_attr: "DELETE_ATTR",
    Instructions.op_binary_subscr: "BINARY_SUBSCR",
    Instructions.op_binary_slice: "BINARY_SLICE",
    Instructions.op_store_subscr: "STORE_SUBSCR",
    Instructions.op_store_slice: "STORE_SLICE",
    Instructions.op_delete_subscr: "DELETE_SUBSCR",
    Instructions.op_binary_op: "BINARY_OP",
    Instructions.op_compare_op: "COMPARE_OP",
    Instructions.op_contains_op: "CONTAINS_OP",
    Instructions.op_unary: "UNARY_NEGATIVE UNARY_POSITIVE UNARY_INVERT",
    Instructions.op_truth: ("UNARY_NOT TO_BOOL POP_JUMP_IF_TRUE POP_JUMP_IF_FALSE POP_JUMP_FORWARD_IF_TRUE "
                            "POP_JUMP_FORWARD_IF_FALSE POP_JUMP_BACKWARD_IF_TRUE POP_JUMP_BACKWARD_IF_FALSE"),
    Instructions.op_keep_or_pop: "JUMP_IF_TRUE_OR_POP JUMP_IF_FALSE_OR_POP",
    Instructions.op_pop_one: ("POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE POP_JUMP_FORWARD_IF_NONE "
                              "POP_JUMP_FORWARD_IF_NOT_NONE POP_JUMP_BACKWARD_IF_NONE POP_JUMP_BACKWARD_IF_NOT_NONE"),
    Instructions.op_get_iter: "GET_ITER GET_YIELD_FROM_ITER",
    Instructions.op_for_iter: "FOR_ITER",
    Instructions.op_end_for: "END_FOR",
    Instructions.op_send: "SEND",
    Instructions.op_unpack: "UNPACK_SEQUENCE UNPACK_EX",
    Instructions.op_build: ("BUILD_TUPLE BUILD_LIST BUILD_SET BUILD_MAP BUILD_CONST_KEY_MAP BUILD_STRING "
                            "BUILD_SLICE"),
    Instructions.op_extend: "LIST_APPEND SET_ADD MAP_ADD LIST_EXTEND SET_UPDATE DICT_UPDATE DICT_MERGE",
    Instructions.op_format: "FORMAT_VALUE FORMAT_SIMPLE FORMAT_WITH_SPEC",
    Instructions.op_intrinsic: "CALL_INTRINSIC_1 LIST_TO_TUPLE PRINT_EXPR",
    Instructions.op_make_function: "MAKE_FUNCTION",
    Instructions.op_set_function_attribute: "SET_FUNCTION_ATTRIBUTE",
    Instructions.op_get_len: "GET_LEN",
    Instructions.op_match_keys: "MATCH_KEYS",
    Instructions.op_match_class: "MATCH_CLASS",
    Instructions.op_kw_names: "KW_NAMES",
    Instructions.op_call: "CALL CALL_KW",
    Instructions.op_call_function_ex: "CALL_FUNCTION_EX",
    Instructions.op_before_with: "BEFORE_WITH",
    Instructions.op_copy: "COPY",
    Instructions.op_swap: "SWAP",
    Instructions.op_raise: "RAISE_VARARGS",
    Instructions.op_async: "GET_AWAITABLE GET_AITER GET_ANEXT BEFORE_ASYNC_WITH END_ASYNC_FOR",
}.items():
    Instructions.table |= dict.fromkeys(_names.split(), _method)

"""The values that a running frame works on, followed from instruction to instruction.

The interpreter does not show its stack of values. What is on it is known from what was loaded and from what calls have
returned; a value that cannot be known so is an `Unknown` until it is in a variable, where it can be seen.
"""

from __future__ import annotations

import builtins
import dis
import sys
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from gradwright.compilation.watch.calls import Calls, Result
from gradwright.compilation.watch.guards import CONTENT, ITEM, LACKS, MISSING, UNSET, VARS, Source
from gradwright.compilation.watch.libraries import is_library, is_ours
from gradwright.compilation.watch.reads import UNKNOWN, Unknown, is_state
from gradwright.engine.base import TensorBase

_BUILTINS = dict(vars(builtins))
_UNCHANGED = ("NOP", "RESUME", "COPY_FREE_VARS", "MAKE_CELL", "PRECALL", "CACHE", "RETURN_GENERATOR", "NOT_TAKEN",
              "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "SETUP_ANNOTATIONS", "EXTENDED_ARG",
              "ANNOTATIONS_PLACEHOLDER", "INTERPRETER_EXIT", "ENTER_EXECUTOR", "EXIT_INIT_CHECK",
              "DELETE_FAST")  # fmt: skip
SIMPLE: dict[str, tuple[int, int]] = dict.fromkeys(_UNCHANGED, (0, 0)) | {
    "POP_TOP": (1, 0), "POP_EXCEPT": (1, 0), "RETURN_VALUE": (1, 0), "RETURN_CONST": (0, 0), "POP_ITER": (1, 0),
    "LOAD_CLOSURE": (0, 1), "LOAD_LOCALS": (0, 1), "PUSH_EXC_INFO": (1, 2), "CHECK_EXC_MATCH": (1, 1),
    "CHECK_EG_MATCH": (2, 2), "PREP_RERAISE_STAR": (2, 1), "CALL_INTRINSIC_2": (2, 1), "WITH_EXCEPT_START": (0, 1),
    "RERAISE": (0, 0), "YIELD_VALUE": (1, 1), "CLEANUP_THROW": (3, 2), "IS_OP": (2, 1), "END_SEND": (2, 1),
    "BUILD_SLICE": (0, 0), "MATCH_MAPPING": (0, 1), "MATCH_SEQUENCE": (0, 1), "STORE_FAST": (1, 0),
    "STORE_FAST_MAYBE_NULL": (1, 0), "STORE_FAST_STORE_FAST": (2, 0), "ASYNC_GEN_WRAP": (1, 1), "CONVERT_VALUE": (1, 1),
    "DELETE_NAME": (0, 0), "DELETE_DEREF": (0, 0), "END_FOR": (2 if sys.version_info < (3, 13) else 1, 0),
} | {f"POP_JUMP_{way}IF_{what}": (1, 0) for way in ("", "FORWARD_", "BACKWARD_") for what in ("NONE", "NOT_NONE")}
"""How many values an instruction takes from the stack and puts there, where that is all that matters of it."""


class Step(NamedTuple):
    """One instruction.

    Attributes:
        at, after: where it and the next one begin.
        name, arg, value: what it is, its argument as it stands, and what that means.
        target: where it jumps, or None.
        text: the argument in words.
    """

    at: int
    after: int
    name: str
    arg: int
    value: Any
    target: int | None
    text: str


@lru_cache(maxsize=2048)
def steps(code: CodeType) -> dict[int, Step]:
    """The instructions by offset; one with a long argument stands at the beginning of that, too."""
    found: dict[int, Step] = {}
    listed = list(dis.get_instructions(code))
    long: list[int] = []
    for k, i in enumerate(listed):
        if i.opname == "EXTENDED_ARG":
            long.append(i.offset)
            continue
        after = listed[k + 1].offset if k + 1 < len(listed) else -1
        jumps = i.opcode in dis.hasjrel or i.opcode in dis.hasjabs
        step = Step(i.offset, after, i.opname, i.arg or 0, i.argval, i.argval if jumps else None, i.argrepr or "")
        for at in (*long, i.offset):
            found[at] = step
        long = []
    return found


class Handler(NamedTuple):
    """The handler of an exception raised from ``start`` to ``end``."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


@lru_cache(maxsize=2048)
def handlers(code: CodeType) -> tuple[Handler, ...]:
    """The exception table of a code object."""
    table, data, k = [], code.co_exceptiontable, 0

    def number() -> int:
        nonlocal k
        byte = data[k]
        found = byte & 63
        while byte & 64:
            k += 1
            byte = data[k]
            found = found << 6 | byte & 63
        k += 1
        return found

    while k < len(data):
        start, length, target, depth = number() * 2, number() * 2, number() * 2, number()
        table.append(Handler(start, start + length, target, depth >> 1, bool(depth & 1)))
    return tuple(table)


NULL: Any = type("Null", (), {"__repr__": lambda self: "NULL"})()


class LostError(Exception):
    """The stack could not be followed."""


class Stack:
    """The stack of one frame.

    Attributes:
        stack: what is on it; the last is on top.
        functions: whose frame it may be: those from outside.
        table: what each instruction does to it, by name; those in `SIMPLE` only move values.
        outer: the `Stack` in which its function was defined, if that was in this call.
        result: what is known of what the running instruction will leave.
        lost: whether it could not be followed.
        unseen: whether something is called that is not known; then it must be Python code, which is seen when it runs.
        expects: the attribute that Python code must find, or "".
    """

    def __init__(self, calls: Calls, code: CodeType, functions: list[Any], outer: Stack | None,
                 table: dict[str, Any]) -> None:  # fmt: skip
        self.calls, self.code, self.functions, self.outer, self.table = calls, code, functions, outer, table
        self.reads, self.effects = calls.reads, calls.effects
        self.steps, self.ours = steps(code), is_ours(code)
        self.stack: list[Any] = []
        self.last: Step | None = None
        self.result: Result | None = None
        self.hole = -1
        self.raised = False
        self.names: tuple[str, ...] = ()
        self.lost = self.unseen = False
        self.expects = self.stored = ""
        self.entered = -1
        self.made: dict[int, Stack] = {}

    def advance(self, frame: Any, made: dict[int, Stack]) -> None:
        """The instruction at ``frame.f_lasti`` is about to run. Raises `LostError`."""
        at, last = frame.f_lasti, self.last
        step = self.steps.get(at)
        if step is None:
            raise LostError(f"an instruction at {at}")
        if last is not None:
            if step is last and at == step.at and at != self.entered:
                self.entered = at
                return  # it has been seen at its long argument
            self.settle(last, at)
        if self.stored:  # and loaded by one instruction, before it could be seen
            self.stack[-1] = self.see(frame.f_locals.get(self.stored, UNKNOWN))
            self.stored = ""
        self.last, self.entered, self.result, self.hole = step, at, None, -1
        self.raised = False
        self.made = made
        self.reads.numbers.follow(step.name, step.arg, self.stack, lambda: self.do(step, frame))

    def do(self, step: Step, frame: Any) -> None:
        """Do to the stack what an instruction does. Raises `LostError`."""
        handler = self.table.get(step.name)
        if handler is not None:
            handler(self, step, frame)
            return
        effect = SIMPLE.get(step.name)
        if effect is None:
            raise LostError(step.name)
        pops, pushes = effect
        if pops:
            del self.stack[-pops:]
        if pushes:
            self.stack.extend([UNKNOWN] * pushes)

    def settle(self, last: Step, at: int) -> None:
        """The last instruction is over, and the one at ``at`` is next."""
        if (self.raised or last.name in ("RERAISE", "RAISE_VARARGS")) and self.unwound(last, at):
            return
        if at == last.after:
            if last.name in ("JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP"):
                self.stack.pop()
            return
        target = last.target
        if target is not None and target <= at <= target + 4:
            if last.name == "FOR_ITER":
                after = self.steps.get(at)
                if after is not None and after.name == "END_FOR":
                    return
                self.stack.pop()
                if sys.version_info < (3, 14):
                    self.stack.pop()
            elif last.name == "SEND" and sys.version_info < (3, 12):
                del self.stack[-2:]
                self.stack.append(UNKNOWN)
            return
        if self.unwound(last, at):
            return
        skipped: Step | None = self.steps.get(last.after)
        for _ in range(3):  # instructions that leave the stack as it is may not be shown
            if skipped is None or SIMPLE.get(skipped.name) != (0, 0):
                break
            if at in (skipped.after, skipped.target):
                return
            skipped = self.steps.get(skipped.after)
        raise LostError(f"from {last.name} to {self.steps[at].name}")

    def unwound(self, last: Step, at: int) -> bool:
        """Whether an exception has led here; then the stack is cut."""
        for handler in handlers(self.code):
            if handler.target == at and handler.start <= last.at < handler.end:
                del self.stack[handler.depth :]
                self.stack += [UNKNOWN] * (1 + handler.lasti)
                return True
        return False

    def returned(self, code: CodeType, value: Any) -> bool:
        """Python code that the running instruction has called returns; whether that is known to leave the value."""
        result = self.result
        if result is None or self.hole < 0 or value is NotImplemented:
            return False
        if code is result.code or (result.any and result.code is None):
            self.stack[self.hole] = value
            self.see(value)
        return code is result.code

    def begun(self, code: CodeType, first: Any) -> None:
        """Python code that the running instruction has called begins, with this first argument."""
        result = self.result
        if result is not None and result.instance is not None and self.hole >= 0 and type(first) is result.instance:
            self.stack[self.hole] = first
            result.instance = None

    def see(self, value: Any) -> Any:
        """A value is in hand."""
        if isinstance(value, TensorBase):
            self.reads.meet(value)
        return value

    def followed(self, value: Any) -> None:
        """A value is looked into: refused if it cannot be seen, and may be from outside."""
        if isinstance(value, Unknown) and not value.made:
            self.calls.refuse("a value that cannot be followed is matched here. Give it a name first: y = ...")

    def leave(self, result: Result) -> None:
        """Put the result of the running instruction on the stack; it may become known while that runs."""
        self.result, self.hole = result, len(self.stack)
        self.stack.append(self.see(result.value))

    def pop(self, count: int) -> list[Any]:
        """The last values, taken from the stack."""
        if not count:
            return []
        if len(self.stack) < count:
            raise LostError("too few values")
        found = self.stack[-count:]
        del self.stack[-count:]
        return found

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
            found.append(self.reads.step(self.reads.known(cell).source, CONTENT))
        return found

    def of_closure(self, frame: Any, name: str) -> Any:
        """The value of a variable that functions share."""
        value = frame.f_locals.get(name, MISSING)
        if value is MISSING:
            for source in self.cells(name):
                if source.parent is not None:
                    self.reads.guard(source.parent, UNSET, None, name, "closure")
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
            return self.reads.note(self.reads.step(self.globals(held), ITEM, name), value, name, "global")
        value = frame.f_builtins.get(name, UNKNOWN)
        if not self.ours:
            self.reads.guard(self.globals(held), LACKS, name, "globals()", "global")
            if value is not _BUILTINS.get(name, UNKNOWN) and value is not UNKNOWN:
                self.reads.note(self.reads.step(self.globals(frame.f_builtins), ITEM, name), value, name, "builtin")
        return value

    def globals(self, held: dict[str, Any]) -> Source:
        """The source of a module's variables; the module is there as long as its functions are."""
        known = self.reads.outside.get(id(held))
        if known is None:
            module = sys.modules.get(held.get("__name__", ""))
            if module is not None and vars(module) is held:
                source = self.reads.step(self.reads.known(module).source, VARS)
            else:
                source = Source.of(held)
            known = self.reads.register(held, source, "globals()")
        return known.source

"""The values that a running frame works on, followed from instruction to instruction.

The interpreter does not show its stack of values. What is on it is known from what was loaded and from what calls have
returned; a value that cannot be known so is an `Unknown` until it is in a variable, where it can be seen.
"""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any, ClassVar

from gradwright.compilation.watch.attributes import Attributes
from gradwright.compilation.watch.calls import Calls
from gradwright.compilation.watch.files import is_ours
from gradwright.compilation.watch.guards import Source
from gradwright.compilation.watch.reads import UNKNOWN
from gradwright.compilation.watch.results import Result
from gradwright.compilation.watch.steps import SIMPLE, Step, handlers, steps
from gradwright.engine.base import TensorBase

NULL: Any = type("Null", (), {"__repr__": lambda self: "NULL"})()


class LostError(Exception):
    """The stack could not be followed."""


class Shadow:
    """The stack of one frame.

    Attributes:
        stack: what is on it; the last is on top.
        functions: whose frame it may be: those from outside.
        outer: the `Shadow` in which its function was defined, if that was in this call.
        result: what is known of what the running instruction will leave.
        lost: whether it could not be followed.
        unseen: whether something is called that is not known; then it must be Python code, which is seen when it runs.
        expects: the attribute that Python code must find, or "".
    """

    table: ClassVar[dict[str, Any]] = {}
    """What is done for each instruction, by name; those in `SIMPLE` only move values."""

    def __init__(self, reads: Attributes, calls: Calls, code: CodeType, functions: list[Any],
                 outer: Shadow | None) -> None:  # fmt: skip
        self.reads, self.calls, self.code, self.functions, self.outer = reads, calls, code, functions, outer
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
        self.made: dict[int, Shadow] = {}

    def cells(self, name: str) -> list[Source]:
        """Where a variable of the enclosing functions is found, as far as that is outside of the call."""
        raise NotImplementedError

    def advance(self, frame: Any, made: dict[int, Shadow]) -> None:
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

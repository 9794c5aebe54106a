"""Bytecode made ready to be followed: the instructions of a code object by offset, and where exceptions lead."""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

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
    "DELETE_NAME": (0, 0), "DELETE_DEREF": (0, 0),
}  # fmt: skip
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
    """Where an exception raised from ``start`` to ``end`` leads."""

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

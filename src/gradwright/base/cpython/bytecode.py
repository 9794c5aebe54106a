"""Reading what functions do from their bytecode: the names they use, and what they return.

No source is needed, and nothing runs. Asked of the interpreter: that small functions read as they are written. Else
every name in the code counts as used and as set, and what is returned is not known.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from types import CodeType
from typing import Any

_STORES = ("STORE_ATTR", "STORE_GLOBAL", "LOAD_CONST")  # the last for setattr
_LOADS = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME", "LOAD_CONST", "STORE_ATTR",
          "STORE_GLOBAL", "STORE_DEREF", "IMPORT_NAME")  # fmt: skip
_NOT_PLAIN = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def names(code: CodeType, loaded: set[str], stored: set[str]) -> Iterator[str]:
    """The globals that code names; adds to the names that it loads and stores, attributes included."""
    if not READS:
        yield from _all_names(code, loaded, stored)
        return
    for instruction in dis.get_instructions(code):
        kind, name = instruction.opname, instruction.argval
        if isinstance(name, CodeType):
            yield from names(name, loaded, stored)
        elif isinstance(name, str) and (kind != "LOAD_CONST" or name.isidentifier()):
            if kind in _STORES or (kind == "STORE_DEREF" and name in code.co_freevars):
                stored.add(name)
            if kind in _LOADS:
                loaded.add(name)
            if kind.endswith(("_GLOBAL", "_NAME")):
                yield name


def _all_names(code: CodeType, loaded: set[str], stored: set[str]) -> Iterator[str]:
    """The same of an interpreter whose instructions are not known."""
    texts = [c for c in code.co_consts if isinstance(c, str) and c.isidentifier()]
    for known in (loaded, stored):
        known.update(code.co_names, code.co_freevars, texts)
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _all_names(inner, loaded, stored)


def returned(code: CodeType) -> list[tuple[int, int]]:
    """For each ``return``: how many items its literal tuple has, and how many last ones may be None.

    Empty if one of them returns anything else, or that cannot be known.
    """
    if not READS or code.co_flags & _NOT_PLAIN:
        return []
    counts: list[tuple[int, int]] = []
    for before in _before_returns(code):
        last = before[-1] if before else None
        if last is not None and last.opname in ("LOAD_CONST", "RETURN_CONST") and type(last.argval) is tuple:
            counts.append((len(last.argval), _spare([v is None for v in last.argval])))
        elif last is not None and last.opname == "BUILD_TUPLE" and last.arg:
            maybe_none: list[bool] = []
            for i in before[:-1]:
                loads = i.opname.count("LOAD_FAST") or int(i.opname == "LOAD_CONST" and i.argval is None)
                maybe_none += [True] * loads or [False]
            counts.append((last.arg, last.arg if last.is_jump_target else min(_spare(maybe_none), last.arg)))
        else:
            return []
    return counts


def _spare(maybe_none: list[bool]) -> int:
    """How many of the last items may be None."""
    return next((k for k, may in enumerate(reversed(maybe_none)) if not may), len(maybe_none))


def _before_returns(code: CodeType) -> Iterator[list[dis.Instruction]]:
    """What runs before each ``return``, the last few instructions; nothing if that is not clear."""
    done: list[dis.Instruction] = []
    for i in dis.get_instructions(code):
        if i.opname == "RETURN_CONST":
            yield [i]
        elif i.opname == "RETURN_VALUE":
            yield [] if i.is_jump_target else done[-20:]
        if i.opname not in ("NOP", "CACHE", "EXTENDED_ARG"):
            done.append(i)


def _example(ctx: Any, g: Any) -> Any:
    if ctx.asked:
        return g, None
    ctx.stored = _NOT_PLAIN
    return g, g, g * 2


def reads_as_written() -> bool:
    """Whether bytecode is what is read here."""
    loaded: set[str] = set()
    stored: set[str] = set()
    found = [*names(_example.__code__, loaded, stored)]
    said = (found, loaded, stored, returned(_example.__code__))
    return said == (["_NOT_PLAIN"], {"asked", "stored", "_NOT_PLAIN"}, {"stored"}, [(2, 2), (3, 0)])


READS = True
READS = reads_as_written()

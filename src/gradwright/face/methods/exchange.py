"""Functions that ask their arguments' classes first: the same objects, whose code is exchanged when that is needed.

A name that a program, or a layer, has bound before stays what it is, and a table of functions by `torch.mean` finds it.
Until `ask_from_now_on` no function asks, and it costs nothing; after it, one look at the class of each argument.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from gradwright.base.cpython.frames import ASKING
from gradwright.native import core

Ask = Callable[[Any, Any, tuple[Any, ...], dict[str, Any]], Any]

KNOWN: set[type] = set()
"""The classes of which nothing is asked."""
if core is not None:
    core.known_classes(KNOWN)

_ANY = '''
def bind({free}):
    def call(*_args, **_named):
        if 0: ({free})
        _ask = "ask"
        _function = "function"
        for _x in _args:
            if _x.__class__ not in "known":
                return _ask("public", _function, _args, _named)
        return _ask("public", _function, _args, _named) if _named{or_none} else _function(*_args)
'''


def exchange(function: FunctionType, public: Any, ask: Ask) -> None:
    """Let ``function`` give ``ask(public, itself as it was, args, kwargs)`` when it is called with a class not `KNOWN`.

    ``public`` is what programs have it as. A function of any number of arguments asks without any, too.
    """
    before = function.__code__
    if any(c is ask for c in before.co_consts):
        return  # it was, before something failed at a later one
    as_it_was = FunctionType(before, function.__globals__, function.__name__, function.__defaults__,
                             function.__closure__)  # fmt: skip
    as_it_was.__kwdefaults__, as_it_was.__annotations__ = function.__kwdefaults__, function.__annotations__
    as_it_was.__qualname__ = function.__qualname__  # by which Python's errors name it
    meant = {"known": KNOWN, "ask": ask, "public": public, "function": as_it_was}
    names, text = before.co_varnames[: before.co_argcount], function.__globals__.get("TEXT")
    quick = before.co_filename.startswith("<gradwright quick path")
    without = not names and bool(before.co_flags & _STARS)
    template = _quick(before.co_filename, names, text) if quick else _template(before.co_freevars, without)
    consts = tuple([meant.get(c, c) if type(c) is str else c for c in template.co_consts])
    function.__code__ = template.replace(co_consts=consts, co_name=before.co_name, co_qualname=before.co_qualname)
    if template.co_flags & _STARS:
        function.__defaults__ = function.__kwdefaults__ = None
        function.__dict__.setdefault("__wrapped__", as_it_was)


_STARS = 4
"""The flag of code that takes ``*args``."""


@functools.cache
def _template(free: tuple[str, ...], without: bool) -> CodeType:
    """The code of a function that asks, and otherwise calls another one; asks ``without`` arguments, too."""
    return _call(_ANY.format(free=", ".join(free), or_none=" or not _args" * without), ASKING)


@functools.cache
def _quick(filename: str, names: tuple[str, ...], text: str) -> CodeType:
    """The code of a quick callable (`gradwright.engine.apply`) that asks, and otherwise does what it did."""
    unknown = " or ".join(f'{name}.__class__ not in "known"' for name in names)
    given = f"({', '.join(names)},)"
    lines = []
    for line in text.splitlines(keepends=True):
        lines.append(line)
        if line.startswith("    def call("):
            lines += [f"        if {unknown}:\n",
                      f'            _ask = "ask"; return _ask("public", "function", {given}, {{}})\n']  # fmt: skip
    return _call("".join(lines), filename)


def _call(text: str, filename: str) -> CodeType:
    """The code of ``call``, in ``bind``."""
    bind = next(_codes(compile(text, filename, "exec", dont_inherit=True)))
    return next(_codes(bind))


def _codes(code: CodeType) -> Iterator[CodeType]:
    return (c for c in code.co_consts if isinstance(c, CodeType))

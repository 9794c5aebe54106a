"""An argument given by a name that there is not: the nearest one, or all that there are.

Python says so itself from 3.13 on. Here it is said where arguments pass through other hands anyway, where objects are
made, which happens seldom enough to look, and, of all other functions, when their error is shown: see `hint`.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from types import FunctionType
from typing import Any

from gradwright.base.lazy import nearest
from gradwright.engine.base import TensorBase

_SIMPLE = {"bool", "float", "int", "str", "None"}
_NAMESPACES = tuple(f"gradwright{namespace}" for namespace in (
    "", ".nn.functional", ".linalg", ".func", ".autograd", ".nn.utils", ".nn.utils.rnn", ".nn.init", ".fft", ".special",
    ".distributions", ".viz",
))  # fmt: skip
_CLASSES = (("gradwright", "Tensor"), ("gradwright.nn", "Module"), ("gradwright.optim", "Optimizer"))


def names_of(function: Callable[..., Any]) -> tuple[str, ...] | None:
    """The names that a function's arguments may be given by; None if any may."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARKEYWORDS:
        return None
    names = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    return tuple(name for name in names if name != "self")


def unexpected(function: str, given: Iterable[str], names: Sequence[str], *others: str) -> TypeError:
    """The error for the first name of those ``given`` that is not in ``names``, of which ``others`` are other names."""
    wrong = next(name for name in given if name not in names)
    mend = nearest(wrong, (*names, *others)) or f"; it takes {', '.join(names) or 'none'}"
    return TypeError(f"{function}() got an unexpected keyword argument {wrong!r}{mend}")


def hint(error: BaseException) -> None:
    """Note on Python's own error for a wrong keyword of one of gradwright's functions what it takes.

    It looks when an error is shown, and so costs calls nothing.
    """
    said = re.fullmatch(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'", str(error))
    at = error.__traceback__
    if at is None or said is None or not isinstance(error, TypeError) or sys.version_info >= (3, 13):
        return
    while at.tb_next is not None:
        at = at.tb_next
    own = at.tb_frame.f_globals.get(said[1].partition(".")[0])
    for function in [own] if own is not None else _called(said[1]):
        written = function.__globals__.get("__name__", "") if isinstance(function, FunctionType) else ""
        is_ours = written.startswith("gradwright")
        names = names_of(function) if is_ours else None
        if names and said[2] not in names:
            mend = nearest(said[2], names).removeprefix("; ") or f"it takes {', '.join(names)}"
            note = f"gradwright's {said[1].rpartition('.')[2]}(): {mend}"
            if note not in getattr(error, "__notes__", ()):
                error.add_note(note)
            return


def hint_attribute(error: BaseException) -> None:
    """Note on the error for an attribute that an object of gradwright's has not the nearest one, as Python shows it."""
    if mend := nearest_attribute(error):
        error.add_note(mend.removeprefix("; "))


def nearest_attribute(error: BaseException | None) -> str:
    """`nearest` for such an error; "" for any other, and for one that says so itself."""
    if not isinstance(error, AttributeError) or not error.name or error.obj is None:
        return ""
    ours = any(base.__module__.partition(".")[0] == "gradwright" for base in type(error.obj).__mro__)
    mend = nearest(error.name, dir(error.obj)) if ours else ""
    return mend if mend.removeprefix("; ") not in str(error) else ""


def _called(name: str) -> list[Any]:
    """What is called so: functions, or, with the name of a class and a dot before it, methods."""
    cls, _, name = name.rpartition(".")
    if not cls:
        return [vars(sys.modules[namespace]).get(name) for namespace in _NAMESPACES if namespace in sys.modules]
    tops = [getattr(sys.modules[namespace], top) for namespace, top in _CLASSES if namespace in sys.modules]
    return [vars(base).get(name) for top in tops for base in top.__mro__ if base.__qualname__ == cls]


def told_keywords(scope: Mapping[str, Any], names: Iterable[str]) -> None:
    """Let those classes among the ``names`` in ``scope`` that have an ``__init__`` look at its keywords first.

    One that a class has of a base which is not among them it has under its own name.
    """
    homes = {}
    for name in names:
        if isinstance(cls := scope.get(name), type):
            homes[cls] = next(base for base in cls.__mro__ if "__init__" in vars(base))
    for cls, home, init in [(cls, home, vars(home)["__init__"]) for cls, home in homes.items()]:
        if not isinstance(init, FunctionType) or (home is not cls and home in homes):
            continue
        if home.__module__.startswith("gradwright") and (known := names_of(init)) is not None:
            called = init.__qualname__ if home is cls else f"{cls.__name__}.__init__"
            cls.__init__ = _looking(init, known, called)  # type: ignore[misc]


def _looking(init: Any, names: tuple[str, ...], called: str) -> Any:
    known = frozenset(names)
    kinds = init.__annotations__.get(names[0], "") if names and init.__module__.startswith("gradwright.nn.") else ""
    simple = kinds != "" and _SIMPLE.issuperset(re.findall(r"\w+", kinds))

    @wraps(init)
    def look(self: Any, *args: Any, **kwargs: Any) -> None:
        if not known.issuperset(kwargs):
            raise unexpected(called, kwargs, names)
        if simple and args and isinstance(args[0], TensorBase) and args[0].array.size > 1:
            made = called.partition(".")[0]
            raise TypeError(f"{made}(): argument {names[0]!r} must be {kinds}, not Tensor: this makes the layer, "
                            f"which is then called with the tensor: {made}(...)(x)")  # fmt: skip
        init(self, *args, **kwargs)

    return look

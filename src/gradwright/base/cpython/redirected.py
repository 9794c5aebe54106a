"""A Python function whose calls go through another, under whatever names it has been imported.

The code of the function is exchanged, so that the function itself is the same object; what it was is a new one. Frames
of this kind leave no trace in tracebacks: see `unseen`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType, TracebackType
from typing import Any


class Unseen:
    """A context manager: what its block raises does not tell of the frame that the block is in."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None and trace is not None:
            error.__traceback__ = trace.tb_next


unseen = Unseen()


HIDDEN = "<gradwright, which warnings pass over as they do importlib._bootstrap>"


def hidden(function: Any) -> Any:
    """A function that is no level of the stack to `warnings.warn`: a warning is the program's line's, as without it."""
    function.__code__ = function.__code__.replace(co_filename=HIDDEN)
    return function


@hidden
def _stub(*args: Any, **kwargs: Any) -> Any:
    with "unseen":  # type: ignore[attr-defined]
        through: Any = "through"
        return through(*args, **kwargs)


def redirect(function: FunctionType, through: Callable[..., Any]) -> Callable[[], None]:
    """Have ``function(...)`` call ``through(plain, ...)``, where ``plain`` is what it was; returns what undoes it."""
    code, defaults, kwdefaults, inside = (function.__code__, function.__defaults__, function.__kwdefaults__,
                                          dict(vars(function)))  # fmt: skip
    plain = FunctionType(code, function.__globals__, function.__name__, defaults, function.__closure__)
    plain.__kwdefaults__, plain.__doc__, plain.__qualname__ = kwdefaults, function.__doc__, function.__qualname__
    plain.__module__, plain.__annotations__ = function.__module__, function.__annotations__
    vars(plain).update(inside)
    put = {"unseen": unseen, "through": partial(through, plain)}
    consts = tuple(put.get(c, c) if isinstance(c, str) else c for c in _stub.__code__.co_consts)
    function.__code__ = _stub.__code__.replace(co_consts=consts, co_freevars=code.co_freevars, co_name=code.co_name)
    function.__defaults__ = function.__kwdefaults__ = None
    vars(function)["__wrapped__"] = plain  # whose signature it shows

    def undo() -> None:
        function.__code__, function.__defaults__, function.__kwdefaults__ = code, defaults, kwdefaults
        vars(function).clear()
        vars(function).update(inside)

    return undo

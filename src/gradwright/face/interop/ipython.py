"""In IPython and its notebooks: errors without the frames inside gradwright, and a line that counts what is done.

``%xmode Verbose`` shows all frames.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from gradwright.base.source_line import is_own
from gradwright.face.reading.keywords import hint, hint_attribute

_LINKS = ("__traceback__", "__cause__", "__suppress_context__")  # in this order: a cause suppresses the context


def shell() -> Any:
    """The IPython that runs this program; None if none does."""
    find = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return find() if find is not None else None


def shorten_errors() -> None:
    """Let IPython leave out gradwright's frames, unless errors are handled by somebody else there."""
    here = shell()
    if here is not None and not here.custom_exceptions:
        here.set_custom_exc((Exception,), _show)


def _show(here: Any, kind: type[BaseException], error: BaseException, tb: TracebackType | None,
          tb_offset: int | None = None) -> None:  # fmt: skip
    hint(error)
    hint_attribute(error)
    if here.InteractiveTB.mode in ("Verbose", "Docs"):
        here.showtraceback((kind, error, tb), tb_offset=tb_offset)
        return
    with _shortened(error):
        here.showtraceback((kind, error, error.__traceback__), tb_offset=tb_offset)


@contextmanager
def _shortened(error: BaseException) -> Iterator[None]:
    """Within this, the error and those it came from have the user's frames alone, or are left out if they have none."""
    before: list[tuple[BaseException, dict[str, Any]]] = []
    one: BaseException | None = error
    while one is not None and all(one is not seen for seen, _ in before):
        before.append((one, {name: getattr(one, name) for name in _LINKS}))
        one.__traceback__ = users(one.__traceback__) or one.__traceback__
        came_from = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
        if came_from is not None and came_from.__traceback__ is not None and users(came_from.__traceback__) is None:
            one.__cause__ = came_from = None  # which hides the context, too
        one = came_from
    try:
        yield
    finally:
        for one, links in before:
            for name, value in links.items():
                setattr(one, name, value)


def users(tb: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames in gradwright's own files."""
    kept = []
    while tb is not None:
        if not is_own(tb.tb_frame.f_code.co_filename):
            kept.append(tb)
        tb = tb.tb_next
    found = None
    for one in reversed(kept):
        found = TracebackType(found, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return found


def counter(doing: str) -> Callable[[int, int, object], None]:
    """Tells, in a notebook, how many are done of how many, in one line; elsewhere it does nothing."""
    if not hasattr(shell(), "kernel"):
        return lambda done, of, last: None
    from IPython.display import display  # noqa: PLC0415 - it is there: it runs this

    line = display({"text/plain": f"{doing} ..."}, raw=True, display_id=True)
    return lambda done, of, last: line.update({"text/plain": f"{doing}: {done} of {of}"}, raw=True)

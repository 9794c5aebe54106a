"""A profile as a Chrome trace: the JSON that tracing pages open.

The format is Google's "Trace Event Format": complete events (``ph`` X) with times in microseconds, flow events (s and
f) that draw an arrow from an operation to its backward, and metadata (M) that name the process and its threads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from gradwright.base.pages import files


def trace(events: Iterable[Any], threads: Mapping[int, str]) -> dict[str, Any]:
    """The trace of events, which are in order; ``threads``: their names."""
    events = list(events)
    pid = os.getpid()
    zero = events[0].start if events else 0
    made: list[dict[str, Any]] = [_meta("process_name", pid, 0, "gradwright")]
    made += [_meta("thread_name", pid, tid, name) for tid, name in threads.items()]
    made += [_complete(event, pid, zero) for event in events]
    for number, event in enumerate(e for e in events if e.made_by is not None and e.made_by.end):
        flow = {"name": "backward", "cat": "forward and backward", "id": number, "pid": pid}
        made.append(flow | {"ph": "s", "ts": (event.made_by.start - zero) / 1e3, "tid": event.made_by.thread})
        made.append(flow | {"ph": "f", "bp": "e", "ts": (event.start - zero) / 1e3, "tid": event.thread})
    return {"traceEvents": made, "displayTimeUnit": "ns"}


def _meta(what: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}}


def _complete(event: Any, pid: int, zero: int) -> dict[str, Any]:
    args: dict[str, Any] = {}
    if event.inputs:
        args = {"shapes": [list(shape) for shape, _ in event.inputs], "dtypes": [dtype for _, dtype in event.inputs]}
    args |= {key: n for key, n in (("output bytes", event.output), ("saved bytes", event.saved)) if n}
    if event.place is not None:
        args["line"] = str(event.place)
    return {
        "ph": "X", "name": event.name, "cat": event.kind, "ts": (event.start - zero) / 1e3, "dur": event.duration / 1e3,
        "pid": pid, "tid": event.thread, "args": args,
    }  # fmt: skip


def write(events: Iterable[Any], threads: Mapping[int, str], path: str | os.PathLike[str]) -> None:
    """Write a trace to a file, at once: it appears, or replaces another, when it is complete."""
    path = os.fspath(path)
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"export_chrome_trace: there is no directory {folder!r} for the file {path!r}")
    if os.path.isdir(path):
        raise IsADirectoryError(f"export_chrome_trace: {path!r} is a directory; give the name of a file to write")
    files.write(json.dumps(trace(events, threads)), path)

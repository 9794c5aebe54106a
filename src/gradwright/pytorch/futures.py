"""``torch.futures``: what will be known later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwright.pytorch.jit import Future

__all__ = ["Future", "collect_all", "wait_all"]


def wait_all(futures: Sequence[Future]) -> list[Any]:
    """What they have returned, when all are done; raises what the first that failed has raised."""
    return [future.wait() for future in futures]


def collect_all(futures: Sequence[Future]) -> Future:
    """A future of all of them, when all are done."""
    out = Future()
    left = list(futures)

    def done(_: Any) -> None:
        if all(f.done() for f in left) and not out.done():
            out.set_result(left)

    for future in left:
        future.add_done_callback(done)
    if not left:
        out.set_result([])
    return out

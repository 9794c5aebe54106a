"""What the processes of one program say to each other beside computing: by JAX's coordinator, with a time limit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from zlib import crc32

import numpy as np
from jax._src.distributed import global_state  # nothing public gives the coordinator's store

_FOLDER = "gradwright"


class _Session:
    """Attributes: how many times all have met, how long one waits (s), whether values are read by all at once."""

    met = 0
    limit = 300.0
    together = False


def client() -> Any:
    """What speaks to the coordinator; None in a program of one process."""
    return global_state.client if global_state.num_processes > 1 else None


def set_limit(seconds: float) -> None:
    """How long to wait for the others before that is an error."""
    _Session.limit = seconds


def reading_together() -> bool:
    """Whether values are read by all processes at once."""
    return _Session.together


@contextmanager
def together() -> Iterator[None]:
    """All processes do what the block does: values that lie in several of them are gathered when they are read."""
    before, _Session.together = _Session.together, True
    try:
        yield
    finally:
        _Session.together = before


def meet(what: str) -> dict[str, str]:
    """Wait for all processes, and return their answers, each with the ranks that gave it.

    RuntimeError, naming those who are missing, if that takes longer than the limit.
    """
    own = client()
    if own is None:
        return {what: "0"}
    n, _Session.met = _Session.met, _Session.met + 1
    rank, folder = global_state.process_id, f"{_FOLDER}/met/{n}"
    own.key_value_set(f"{folder}/{rank}", what)
    wait(f"{folder}", what)
    said: dict[str, list[str]] = {}
    for key, value in own.key_value_dir_get(f"{folder}/"):
        said.setdefault(value, []).append(key.rpartition("/")[2])
    if rank == 0 and n:
        own.key_value_delete(f"{_FOLDER}/met/{n - 1}")  # all have read it: they came here
    return {value: ", ".join(sorted(ranks, key=int)) for value, ranks in said.items()}


def wait(name: str, what: str) -> None:
    """Wait until all processes have come to the point of this name; RuntimeError after the limit."""
    own = client()
    if own is None:
        return
    try:
        own.wait_at_barrier(name, int(_Session.limit * 1000))
    except (RuntimeError, ValueError) as e:
        raise RuntimeError(
            f"process {global_state.process_id} of {global_state.num_processes} has waited {_Session.limit:.0f} s for "
            f"the others at: {what}. {_missing(str(e))}. Every process has to make the same calls in the same order"
        ) from e


def _missing(text: str) -> str:
    """What JAX says of who did not come, in one line."""
    return " ".join(text.split())[:400]


def agree(what: str, mend: str) -> None:
    """Raise RuntimeError, saying who says what, unless all processes say the same here."""
    said = meet(what)
    if len(said) > 1:
        raise RuntimeError("the processes differ: " + "; ".join(f"process {who}: {one}" for one, who in said.items())
                           + f". {mend}")  # fmt: skip


def agree_on_values(array: Any) -> None:
    """Raise RuntimeError unless all processes bring the same array."""
    if client() is not None:
        digest = crc32(np.ascontiguousarray(array).tobytes()) if array.size else 0
        agree(f"{array.dtype} of shape {array.shape} with checksum {digest:08x}",
              "A tensor on a mesh of several processes is made of the same values in all of them: start them from "
              "one seed, or say gradwright.distributed.shard(..., local=True) where each has its own part")  # fmt: skip

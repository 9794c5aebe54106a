"""State that lies on many devices, in one file."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from gradwright.distributed.session import barrier, get_rank, get_world_size
from gradwright.serialization.public import save as save_here


class _Nowhere:
    """A file that keeps nothing."""

    def write(self, data: Any) -> int:
        return memoryview(data).nbytes


def save(obj: object, f: str | os.PathLike[str]) -> None:
    """`gradwright.save` in a program of several processes: every process calls it, and process 0 writes the file.

    The file holds whole tensors, as if one device had them all; any number of processes and devices, one included,
    reads it with `gradwright.load`, and ``load_state_dict`` puts each value where and as the tensor of the module
    or optimiser lies. When it returns, the file is complete, in every process. Tensors are gathered one by one.

    Raises what `gradwright.save` raises; in the other processes RuntimeError, after the time limit, if process 0 has
    failed to write.
    """
    if get_world_size() == 1:
        save_here(obj, f)
        return
    with import_module("gradwright.backends.jax_processes").together():
        target: Any = f if get_rank() == 0 else _Nowhere()
        save_here(obj, target)
    barrier()

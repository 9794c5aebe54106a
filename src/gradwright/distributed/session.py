"""Several processes: how they find each other, and what they load and save."""

from __future__ import annotations

import atexit
import os
import socket
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from zlib import crc32

from gradwright.distributed import watch
from gradwright.serialization.public import save as save_here
from gradwright.utils.data import Sampler

_TORCHS = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_CLUSTERS = {"SLURM_PROCID": "SLURM_NTASKS", "OMPI_COMM_WORLD_RANK": "OMPI_COMM_WORLD_SIZE"}
"""What clusters whose processes JAX finds by itself call the rank, and the number of processes."""


class _Session:
    """Attributes: this process's rank, how many there are, whether `init` has been called."""

    rank = 0
    size = 1
    begun = False


def is_available() -> bool:
    """Whether JAX is installed, which this stands on."""
    return find_spec("jax") is not None


def is_initialized() -> bool:
    """Whether `init` has been called."""
    return _Session.begun


def get_rank() -> int:
    """This process's number, from 0 on: 0 before `init`, and in a program of one process."""
    return _Session.rank


def get_world_size() -> int:
    """How many processes there are: 1 before `init`."""
    return _Session.size


def init(coordinator: str | None = None, world_size: int | None = None, rank: int | None = None, *,
         heartbeat: float | None = None, timeout: float | None = None) -> None:  # fmt: skip
    """Make this process one of several that compute together. Called once, before the first tensor on a device.

    Without arguments, who takes part is read from the environment: PyTorch's variables (RANK, WORLD_SIZE, MASTER_ADDR,
    MASTER_PORT), as ``gradwright launch`` and torchrun set them, or those of Slurm and Open MPI. Where there is none of
    them, the program is one process, and all goes on as ever.

    Args:
        coordinator: "host:port", where process 0 can be reached.
        world_size: how many processes there are.
        rank: which one this is, from 0 on.
        heartbeat: a process that is not heard of for so many seconds is gone, and the others end with an error that
            names it. 20, or what the environment variable GRADWRIGHT_HEARTBEAT says.
        timeout: how many seconds to wait for others, at the start, at the end and between, before that is an error.
            300, or GRADWRIGHT_TIMEOUT.

    Raises:
        RuntimeError: it was called before; JAX has started already; process 0 is not there in time. (If others are
            not, JAX ends process 0 with a message of its own.)
        ValueError: variables or arguments that are missing or fit no process.
        ImportError: without JAX.
    """
    if _Session.begun:
        raise RuntimeError(f"gradwright.distributed.init() was called before: this is process {_Session.rank} of "
                           f"{_Session.size}")  # fmt: skip
    beat, limit = _seconds("GRADWRIGHT_HEARTBEAT", heartbeat, 20.0), _seconds("GRADWRIGHT_TIMEOUT", timeout, 300.0)
    found = _given(coordinator, world_size, rank) or _of_environment(os.environ)
    if found is None and not any(name in os.environ for name in _CLUSTERS):
        _Session.begun = True
        return
    import_module("gradwright.backends.jax_devices")  # which says what is wrong with JAX, if anything
    _connect(found or {}, beat, limit)
    processes: Any = import_module("gradwright.backends.jax_processes")
    jax: Any = import_module("jax")
    _Session.rank, _Session.size, _Session.begun = jax.process_index(), jax.process_count(), True
    processes.set_limit(limit)
    watch.begin(_Session.rank, _Session.size, beat, limit)
    atexit.register(shutdown)
    processes.agree(f"jax {jax.__version__}", "Install the same release everywhere")


def _seconds(name: str, given: float | None, usual: float) -> float:
    try:
        out = float(os.environ.get(name, usual)) if given is None else float(given)
    except ValueError:
        out = 0.0
    if not 1 <= out < float("inf"):
        found = os.environ.get(name) if given is None else given
        raise ValueError(f"init(): {name.rpartition('_')[2].lower()} must be seconds, 1 or more, but got {found!r}")
    return out


def _given(coordinator: Any, size: Any, rank: Any) -> dict[str, Any] | None:
    """What was given as arguments."""
    parts = {"coordinator": coordinator, "world_size": size, "rank": rank}
    missing = [name for name, value in parts.items() if value is None]
    if len(missing) == len(parts):
        return None
    if missing:
        raise ValueError(f"init(): {' and '.join(missing)} must be given, too, as {_listed(set(parts) - set(missing))} "
                         "is; or nothing, and the environment says it")  # fmt: skip
    return _fitting(str(coordinator), int(size), int(rank), "arguments")


def _of_environment(variables: Mapping[str, str]) -> dict[str, Any] | None:
    """What PyTorch's variables say; None if there are none of them."""
    if "RANK" not in variables and "WORLD_SIZE" not in variables:
        return None
    missing = [name for name in _TORCHS if not variables.get(name)]
    if missing:
        raise ValueError(f"init(): the environment has {_listed(set(_TORCHS) - set(missing))}, but not "
                         f"{_listed(missing)}: gradwright launch sets all four")  # fmt: skip
    numbers = {name: variables[name] for name in ("RANK", "WORLD_SIZE", "MASTER_PORT")}
    for name, value in numbers.items():
        if not value.isdecimal():
            raise ValueError(f"init(): the environment variable {name} must be a whole number, but is {value!r}")
    port = int(numbers["MASTER_PORT"])
    if variables.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        port += 1  # torchrun itself listens at that port
    address = f"{variables['MASTER_ADDR']}:{port}"
    found = _fitting(address, int(numbers["WORLD_SIZE"]), int(numbers["RANK"]), "environment")
    if variables.get("LOCAL_RANK", "").isdecimal() and int(variables.get("LOCAL_WORLD_SIZE", 1)) > 1:
        found["local_device_ids"] = [int(variables["LOCAL_RANK"])]  # of GPUs: each process has one
    return found


def _fitting(address: str, size: int, rank: int, where: str) -> dict[str, Any]:
    if not 0 <= rank < size:
        raise ValueError(f"init(): rank {rank} of {size} processes ({where}): expected 0 to {size - 1}")
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"init(): expected the coordinator as host:port, but got {address!r} ({where})")
    return {"coordinator_address": address, "num_processes": size, "process_id": rank}


def _listed(names: Any) -> str:
    return ", ".join(sorted(names))


def _connect(found: dict[str, Any], beat: float, limit: float) -> None:
    """Start JAX's own session."""
    jax: Any = import_module("jax")
    address = found.get("coordinator_address", "")
    if address.rpartition(":")[0] in ("localhost", "127.0.0.1"):
        found["coordinator_bind_address"] = address  # nobody else is to reach it
    if found.get("process_id") and "gradwright.backends.jax" not in sys.modules:  # which has started JAX
        _reach(address, f"process {found['process_id']} of {found['num_processes']}", limit)
    if "JAX_ENABLE_PREEMPTION_SERVICE" not in os.environ:
        jax.config.update("jax_enable_preemption_service", False)  # with it, SIGTERM ends no process
    try:
        jax.distributed.initialize(**found, initialization_timeout=int(limit), heartbeat_timeout_seconds=int(2 * beat),
                                   shutdown_timeout_seconds=int(limit))  # fmt: skip
    except RuntimeError as e:
        if "must be called before" in str(e):
            raise RuntimeError(
                "init(): JAX has started already, and knows its devices: call gradwright.distributed.init() before the "
                'first tensor on a device, and before gradwright.device("jax")'
            ) from e
        who = f"process {found['process_id']} of {found['num_processes']}" if found else "this process"
        raise RuntimeError(f"init(): {who} has found no connection within {limit:.0f} s, with the coordinator at "
                           f"{address}: {' '.join(str(e).split())[:400]}") from e  # fmt: skip


def _reach(address: str, who: str, limit: float) -> None:
    """Wait until somebody listens at an address: JAX would end the process if nobody does."""
    host, _, port = address.rpartition(":")
    end = time.monotonic() + limit
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=max(0.1, end - time.monotonic())).close()
            return
        except OSError as e:
            if time.monotonic() > end:
                raise RuntimeError(f"init(): {who} has found no connection within {limit:.0f} s: the coordinator, "
                                   f"process 0, is to listen at {address} ({e})") from e  # fmt: skip
            time.sleep(0.1)


def barrier() -> None:
    """Wait until all processes are here.

    Raises RuntimeError if one is at another call, or, after the time limit of `init`, naming who is missing.
    """
    if _Session.size > 1:
        processes: Any = import_module("gradwright.backends.jax_processes")
        processes.agree("gradwright.distributed.barrier()", "Every process must make the same calls in the same order")


def shutdown() -> None:
    """Part from the other processes, when all are here. At the end of the program that is done anyway."""
    if _Session.size > 1:
        watch.part()
        import_module("jax").distributed.shutdown()
        watch.end()
    _Session.rank, _Session.size, _Session.begun = 0, 1, False


class PartSampler(Sampler[list[int]]):
    """This process's part of each batch of another batch sampler, for ``DataLoader(..., batch_sampler=...)``.

    Process r of n takes the r-th of n equal parts of a batch, in its order; ``shard(..., local=True)`` puts them
    together again. So the batches, and with them the numbers, are those of one process.

    Args:
        batches: a batch sampler over the whole data, which gives the same batches in each process: its generator must
            have the same seed in all, as `gradwright.manual_seed` gives it. The first batch of each pass is compared.
        rank: which process this is; as `init` has it, unless given.
        world_size: how many there are.

    Raises ValueError for a batch that does not divide, RuntimeError if the first batches differ.

    >>> from gradwright.utils.data import BatchSampler
    >>> list(PartSampler(BatchSampler(range(8), 4, drop_last=True), rank=1, world_size=2))
    [[2, 3], [6, 7]]
    """

    def __init__(self, batches: Iterable[list[int]], rank: int | None = None, world_size: int | None = None) -> None:
        self.batches = batches
        self.rank = get_rank() if rank is None else rank
        self.world_size = get_world_size() if world_size is None else world_size
        if not 0 <= self.rank < self.world_size:
            raise ValueError(f"PartSampler: rank {self.rank} of {self.world_size} processes: expected 0 to "
                             f"{self.world_size - 1}")  # fmt: skip

    def __iter__(self) -> Iterator[list[int]]:
        for k, batch in enumerate(self.batches):
            if k == 0 and get_world_size() > 1:
                digest = crc32(repr(list(batch)).encode())
                import_module("gradwright.backends.jax_processes").agree(
                    f"a batch of {len(batch)} samples that begins with {list(batch[:3])}, checksum {digest:08x}",
                    "PartSampler takes parts of one batch: give the samplers of all processes the same seed",
                )
            part, rest = divmod(len(batch), self.world_size)
            if rest:
                raise ValueError(f"PartSampler: batch {k}, of {len(batch)} samples, does not divide among "
                                 f"{self.world_size} processes: take another batch size, or drop_last")  # fmt: skip
            yield list(batch[self.rank * part : (self.rank + 1) * part])

    def __len__(self) -> int:
        return len(self.batches)  # type: ignore[arg-type]


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

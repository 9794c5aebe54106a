"""Calls that worker processes make, left in files for the process that looks at them."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from gradwright.engine.base import TensorBase, wrap
from gradwright.verify.audit.recorded import Met, Print, Recorded
from gradwright.verify.check.calls import Arg
from gradwright.verify.numeric.streams import Streams, known_torch

_ATOMS = (bool, int, float, str, type(None))


class Unwritable(Exception):  # noqa: N818 - the call is left out
    """An argument that cannot be written to a file; says which kind."""


class FromWorkers:
    """A folder of calls, written by forked processes: for each a file of arrays, and what is around them as JSON."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gradwright-audit-"))
        self.numbers = count()

    def put(self, recorded: Recorded) -> None:
        """Leave a call, or why it cannot be left."""
        arrays: dict[str, Any] = {}
        met = recorded.met
        about: dict[str, Any] = {
            "kind": met.kind, "name": met.name, "module": met.target.__module__ if met.kind != "op" else "",
            "qualname": getattr(met.target, "__qualname__", met.name), "id": id(met.target),
            "torch": hasattr(met.T, "_C"), "number": recorded.number, "seconds": recorded.seconds,
        }  # fmt: skip
        try:
            about["arguments"] = _written(recorded.arguments, arrays)
            about["static"] = _written(recorded.static, arrays)
            about["prints"] = [[list(p.shape), p.dtype, p.digest.hex(), p.length] for p in recorded.prints]
        except Unwritable as e:
            about["unwritable"] = str(e)
            arrays = {}
        about["streams"] = _stood(recorded.streams, arrays)
        stem = f"{os.getpid()}-{next(self.numbers)}"
        with (self.folder / f"{stem}.npz").open("wb") as f:
            np.savez(f, **arrays)
        (self.folder / f"{stem}.part").write_text(json.dumps(about))
        os.replace(self.folder / f"{stem}.part", self.folder / f"{stem}.json")

    def take(self, met: dict[int, Met], known: Callable[[], Iterable[tuple[Any, Any, str]]]) -> None:
        """Add what was left to what this process has met, and remove the folder.

        ``known`` gives the classes that there are, with library and kind, for what only workers have called.
        """
        for path in sorted(self.folder.glob("*.json")):
            about = json.loads(path.read_text())
            one = met.get(about["id"])
            if one is None or one.name != about["name"]:
                same = (k for k in known() if (id(k[0]), k[0].__qualname__) == (about["id"], about["qualname"]))
                if (there := next(same, None)) is None:
                    continue
                one = met[about["id"]] = Met(there[2], there[0], there[1], about["name"])
            one.calls += 1
            if "unwritable" in about:
                one.leave(f"in a worker process it was called with {about['unwritable']}")
                continue
            with np.load(path.with_suffix(".npz")) as arrays:
                arguments = _read(about["arguments"], arrays, one.T)
                static = _read(about["static"], arrays, one.T)
                streams = _standing(about["streams"], arrays)
            prints = tuple(Print(tuple(s), d, bytes.fromhex(x), n) for s, d, x, n in about["prints"])
            where = f" in worker process {path.stem.partition('-')[0]}"
            number, seconds = about["number"], about["seconds"]
            one.recorded.append(Recorded(one, number, arguments, static, streams, prints, seconds, where))
        self.remove()

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _stood(streams: Streams, arrays: dict[str, Any]) -> dict[str, Any]:
    """The states of random generators, as JSON and arrays."""
    kind, keys, *rest = streams.numpy
    arrays["numpy"] = keys
    if streams.torch is not None:
        arrays["torch"] = streams.torch.numpy()
    return {"python": streams.python, "numpy": [kind, *rest], "ours": streams.ours.hex()}


def _standing(about: dict[str, Any], arrays: Any) -> Streams:
    version, keys, following = about["python"]
    kind, *rest = about["numpy"]
    torch = known_torch()
    theirs = torch.from_numpy(arrays["torch"]) if torch is not None and "torch" in arrays else None
    numpy = (kind, arrays["numpy"], *rest)
    return Streams((version, tuple(keys), following), numpy, bytes.fromhex(about["ours"]), theirs)


def _written(value: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(value, Arg):
        name = f"a{len(arrays)}"
        ours = isinstance(value.array, TensorBase)
        dtype = str(value.array.dtype).rpartition(".")[2]
        if not ours and (value.array.device.type != "cpu" or dtype == "bfloat16"):
            raise Unwritable(f"a tensor of {dtype} on {value.array.device}")
        if ours and value.array.array.dtype.kind == "V":
            raise Unwritable(f"a tensor of {dtype}")
        arrays[name] = np.asarray(value.array.array) if ours else value.array.resolve_conj().numpy()
        return {"tensor": name, "grad": value.grad}
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        arrays[name := f"a{len(arrays)}"] = value
        return {"array": name}
    if type(value) in (tuple, list):
        return {type(value).__name__: [_written(v, arrays) for v in value]}
    if type(value) is dict and all(isinstance(k, str) for k in value):
        return {"dict": {k: _written(v, arrays) for k, v in value.items()}}
    if isinstance(value, _ATOMS):
        return {"value": value}
    raise Unwritable(f"an argument of type {type(value).__name__}")


def _read(value: dict[str, Any], arrays: Any, T: Any) -> Any:
    (kind, inside), *rest = value.items()
    if kind == "tensor":
        array = arrays[inside]
        return Arg(T.from_numpy(array) if hasattr(T, "_C") else wrap(array), rest[0][1])
    if kind == "array":
        return arrays[inside]
    if kind in ("tuple", "list"):
        made = [_read(v, arrays, T) for v in inside]
        return tuple(made) if kind == "tuple" else made
    return {k: _read(v, arrays, T) for k, v in inside.items()} if kind == "dict" else inside

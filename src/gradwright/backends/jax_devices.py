"""JAX's devices, meshes of them, and where its arrays lie.

A mesh is several devices that hold an array together, each a part of it or all of it: a
``jax.sharding.NamedSharding`` says which. Here a mesh goes by the sharding that gives every device all of an array.
"""

from __future__ import annotations

import os
import re
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

import numpy as np

from gradwright.backends import Library

try:
    import jax
except ImportError as e:
    raise ImportError("devices of JAX need jax: pip install jax", name="jax") from e
from gradwright.backends import jax_processes as processes

OLDEST = (0, 10)
if jax.__version_info__ < OLDEST:
    raise ImportError(
        f"devices of JAX need jax {'.'.join(map(str, OLDEST))} or later, but {jax.__version__} is installed: "
        "pip install --upgrade jax",
        name="jax",
    )

KINDS = {"cuda": "cuda", "rocm": "cuda", "gpu": "cuda", "tpu": "tpu"}
"""JAX's platforms, and the names that their devices have here beside "jax:N"."""

_IN_FLIGHT = 32
"""How many programs XLA begins on one device of a CPU before the next has to wait."""

_meshes: dict[str, Any] = {}


def start() -> None:
    """Start JAX; where it shows one CPU as several devices, with a thread for each program that can be in flight.

    XLA takes one for each device, and a program keeps its thread while it waits for what other devices add to a sum, or
    for its turn. When all of them wait, none is left to run what they wait for: after 40 s XLA aborts. The number can
    be told by the variable NPROC alone, which XLA reads when it starts.
    """
    found = re.search(r"--xla_force_host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", ""))
    count = max(int(found[1]) if found else 1, jax.config.jax_num_cpu_devices)
    if count == 1 or "NPROC" in os.environ:
        jax.devices()
        return
    os.environ["NPROC"] = str((_IN_FLIGHT + 1) * count)
    try:
        jax.devices()
    finally:
        del os.environ["NPROC"]


class Jax(Library):
    """What gradwright knows of JAX. Its namespace is handed out only while JAX computes in 64 bits."""

    @property
    def xp(self) -> Any:
        """The namespace; RuntimeError while JAX is switched to 32 bits."""
        if not jax.config.jax_enable_x64:
            raise RuntimeError(
                "JAX has been switched to 32 bits (jax_enable_x64 is off), where it makes float32 and int32 of float64 "
                "and int64 arrays: gradwright had switched it to 64. Leave the jax.enable_x64(False) that is around "
                "this, or call jax.config.update('jax_enable_x64', True)"
            )
        return self.__dict__["xp"]

    @xp.setter
    def xp(self, namespace: Any) -> None:
        self.__dict__["xp"] = namespace

    def devices(self) -> list[Any]:
        """Those that this process can use: JAX's own list, and after it the CPU's, if those are others."""
        return list(dict.fromkeys([*jax.local_devices(), *jax.local_devices(backend="cpu")]))

    def kinds(self) -> dict[str, list[Any]]:
        """All of them as ``jax``, GPUs as ``cuda`` and TPUs as ``tpu`` too."""
        every = self.devices()
        found: dict[str, list[Any]] = {"jax": every, "cuda": [], "tpu": []}
        for one in every:
            if one.platform in KINDS:
                found[KINDS[one.platform]].append(one)
        return found

    def named(self, native: Any) -> tuple[str, int | None, str | None]:
        """What a device or a mesh goes by."""
        if isinstance(native, jax.Device):
            return super().named(native)
        return kind_of(native.mesh), None, text_of(native.mesh)

    def all_devices(self) -> list[Any]:
        """The default kind of JAX's devices, of all processes."""
        return list(jax.devices(self.default_device().platform))

    def processes(self) -> set[int]:
        """The ranks of all processes."""
        return set(range(jax.process_count()))

    def mesh(self, kind: str, text: str) -> Any:
        """The mesh of this text; RuntimeError if none such was made."""
        found = _meshes.get(text)
        if found is None or kind not in ("jax", kind_of(found.mesh)):
            there = ", ".join(f"'{kind_of(one.mesh)}:{text}'" for text, one in _meshes.items()) or "none"
            raise RuntimeError(f"gradwright has no device '{kind}:{text}': there is no such mesh, but {there}; "
                               "gradwright.distributed.mesh makes one")  # fmt: skip
        return found

    def default_device(self) -> Any:
        """JAX's default device."""
        chosen = jax.config.jax_default_device
        return jax.local_devices(backend=chosen if isinstance(chosen, str) else None)[0] if (
            chosen is None or isinstance(chosen, str)) else chosen  # fmt: skip

    def make_default(self, device: Any) -> None:
        """Make this JAX's default device."""
        jax.config.update("jax_default_device", device)

    def taken(self, array: Any) -> Any:
        """An array of a dtype that is not weak: JAX lets one that is give way to others."""
        return self.xp.astype(array, array.dtype) if array.weak_type else array

    def place_of(self, array: Any) -> Any:
        """The device that an array lies on, or the mesh; RuntimeError if it lies on several devices otherwise."""
        place = array.device
        return place if isinstance(place, jax.Device) else whole(place)

    def moved(self, array: Any, native: Any, exact: bool = False) -> Any:
        """An array of JAX on another device or mesh; ``exact``: laid out there as ``native`` says."""
        at = self.place_of(array)
        if array.sharding == native or (native == at and not exact):
            return array
        if array.is_fully_addressable and (isinstance(native, jax.Device) or native.is_fully_addressable):
            return jax.device_put(array, native)
        if not isinstance(native, jax.Device) and whole(native) == at:
            return _again(native)(array)
        return self.brought(read_back(array), None, native)

    def brought(self, host: Any, dtype: Any, native: Any) -> Any:
        """A copy of an array of NumPy's on a device or a mesh."""
        return put(np.array(host, dtype), native)

    def lying_as(self, new: Any, array: Any) -> Any:
        """``new``, parted among the devices of a mesh as ``array`` is."""
        if new.sharding == array.sharding or isinstance(array.device, jax.Device):
            return new
        return self.moved(new, array.sharding, exact=True)

    def is_here(self, array: Any) -> bool:
        """Whether this process has all of an array's values."""
        return processes.reading_together() or array.is_fully_addressable or array.is_fully_replicated

    def is_elsewhere(self, array: Any) -> bool:
        """Whether it lies on devices of other processes, too."""
        return not array.is_fully_addressable

    def agree(self, what: str, mend: str) -> None:
        """RuntimeError, saying who says what, unless all processes say the same here, within a time limit."""
        processes.agree(what, mend)

    def together(self) -> AbstractContextManager[None]:
        """All processes do what the block does: values that lie in several of them are gathered when they are read."""
        return processes.together()


# -- meshes --


def kind_of(mesh: Any) -> str:
    """What the devices of a mesh are: "jax", "cuda" or "tpu"."""
    return KINDS.get(mesh.devices.flat[0].platform, "jax")


@lru_cache(1000)
def text_of(mesh: Any) -> str:
    """A mesh in words, "batch=4,model=2", with the places of its devices among JAX's where those are not the first."""
    axes = ",".join(f"{name}={size}" for name, size in mesh.shape.items())
    every = jax.devices(mesh.devices.flat[0].platform)
    places = [every.index(d) for d in mesh.devices.flat]
    return axes if places == list(range(len(places))) else f"{axes}@{','.join(map(str, places))}"


@lru_cache(1000)
def _whole_of(mesh: Any) -> Any:
    found = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    _meshes.setdefault(text_of(mesh), found)
    return found


def whole(place: Any) -> Any:
    """The mesh of a sharding, that is the sharding by which each device has all; a device or None as it is."""
    if place is None or isinstance(place, jax.Device):
        return place
    if not isinstance(place, jax.sharding.NamedSharding):
        raise RuntimeError(f"an array of JAX is spread over {len(place.device_set)} devices as {place}, which names no "
                           "mesh: gather it with jax.device_put(array, jax.devices()[0])")  # fmt: skip
    return _whole_of(place.mesh)


@lru_cache(1000)
def _again(sharding: Any) -> Any:
    return jax.jit(lambda a: a, out_shardings=sharding)


def put(host: Any, place: Any, agreed: bool = False) -> Any:
    """An array of NumPy's, which nobody else writes, on a device, or on a mesh as a sharding says.

    If the mesh is of several processes, all of them have to bring the same values, which is checked unless ``agreed``.
    """
    if place is None or isinstance(place, jax.Device) or place.is_fully_addressable:
        return jax.device_put(host, place)
    if not agreed:
        processes.agree_on_values(host)
    return jax.make_array_from_callback(host.shape, place, lambda index: host[index], dtype=host.dtype)


def read_back(array: Any) -> Any:
    """The values of an array on the host, to be read only.

    RuntimeError if they are gone, if they lie in other processes, or if what was to make them has failed, which JAX
    says no earlier.
    """
    if array.is_deleted():
        raise RuntimeError(
            f"the values of a tensor of shape {array.shape} are gone: its array was donated to a compiled function of "
            "JAX (donate_argnums) or deleted. Give such a function a clone() of what is needed afterwards"
        )
    if not (array.is_fully_addressable or array.is_fully_replicated):
        if not processes.reading_together():
            raise RuntimeError(
                f"the values of a tensor of shape {array.shape} on {text_of(array.sharding.mesh)} are asked for, and "
                f"process {jax.process_index()} has a part of them only. gradwright.distributed.gather(t), called by "
                "every process, gives each of them all"
            )
        array = _again(whole(array.sharding))(array)
    try:
        return np.asarray(array)
    except (jax.errors.JaxRuntimeError, ValueError) as e:
        raise RuntimeError(
            f"JAX was asked for values of shape {array.shape}, and says only now that a computation before has "
            f"failed, at this operation or an earlier one: {e}\nUnder gradwright.autograd.detect_anomaly() each "
            "operation waits for its result, and the error names the line of the one that failed"
        ) from e

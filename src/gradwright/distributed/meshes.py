"""Meshes of devices, and tensors that lie on all of one: parted among its devices, or whole on each."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from math import prod
from typing import Any

import numpy as np

from gradwright.backends.devices import CPU, Layout, device, device_of, get_default_device
from gradwright.base.errors import kind
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.general import general
from gradwright.face.creation import as_tensor
from gradwright.function.contract.trees import tree_map
from gradwright.nn.module import Module
from gradwright.ops.declare import table

Names = str | tuple[str, ...] | None
"""Which axes of a mesh a dim is parted along: one, several, or none."""

_made: dict[str, Mesh] = {}


def _jax() -> Any:
    """What gradwright knows of JAX; ImportError, saying what installs it, without it."""
    return importlib.import_module("gradwright.backends.jax").JAX


class Mesh(device):
    """Several of JAX's devices in a row, or a grid, whose axes have names; as a device, all of them.

    ``tensor.to(mesh)`` and ``gw.zeros(3, device=mesh)`` put the same values on each device, `shard` a part on each.
    What is computed of tensors on a mesh lies on it, computed by all; XLA decides who does what, and adds up or passes
    on what others need. In a ``with`` block it is the device where tensors are made and the mesh that `shard` means.

    Attributes: ``shape`` (the sizes of its axes by name), ``size`` (how many devices), ``devices`` (JAX's, in order),
    and those of a `gradwright.device`. `mesh` makes one.
    """

    __slots__ = ("devices", "shape")

    def __init__(self, axes: Mapping[str, int], devices: Iterable[Any]) -> None:
        sharding: Any = importlib.import_module("jax.sharding")
        self.shape, self.devices = dict(axes), list(devices)
        grid = np.empty(len(self.devices), object)
        grid[:] = self.devices
        grid = grid.reshape(tuple(axes.values()))
        one = sharding.NamedSharding(sharding.Mesh(grid, tuple(axes)), sharding.PartitionSpec())
        known = _jax()
        alone = len(self.devices) == 1 and self.devices[0] in known.devices()
        super().__init__(device(self.devices[0]) if alone else _device_of_mesh(known, one))

    @property
    def size(self) -> int:
        """How many devices it has."""
        return len(self.devices)

    def __repr__(self) -> str:
        return f"mesh({', '.join(f'{name}={size}' for name, size in self.shape.items())})"

    __hash__ = device.__hash__


def _device_of_mesh(known: Any, sharding: Any) -> device:
    out = device()
    out._become(known, importlib.import_module("gradwright.backends.jax_devices").whole(sharding))
    return out


def mesh(devices: Iterable[Any] | None = None, /, **axes: int) -> Mesh:
    """A mesh with axes of these names and sizes: ``mesh(batch=8)``, ``mesh(batch=4, model=2)``.

    Args:
        devices: which of JAX's devices, in order; the first ones of all processes, unless given. `gradwright.device`
            will do as well.
        axes: the size of each axis, of which one may be -1: as many as there are devices left. None at all is one axis,
            "batch", of all devices.

    Raises ValueError for a mesh that is larger than the devices, or leaves processes out; ImportError without JAX.
    """
    known = _jax()
    every = known.all_devices() if devices is None else [d.native if isinstance(d, device) else d for d in devices]
    sizes = dict(axes or {"batch": -1})
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, int) or (size < 1 and size != -1):
            raise ValueError(f"mesh(): the size of {name!r} must be a whole number from 1 on, or -1, but got {size!r}")
    open_axes = [name for name, size in sizes.items() if size == -1]
    if len(open_axes) > 1:
        raise ValueError(f"mesh(): only one axis may have the size -1, but {', '.join(open_axes)} have")
    wanted = prod(size for size in sizes.values() if size != -1)
    if open_axes:
        if len(every) % wanted or not every:
            raise ValueError(f"mesh(): {len(every)} devices do not divide into {_text(sizes)}")
        sizes[open_axes[0]] = len(every) // wanted
        wanted = len(every)
    if wanted > len(every) or (devices is not None and wanted != len(every)):
        more = ("on a CPU, XLA_FLAGS=--xla_force_host_platform_device_count=N, set before JAX starts, makes N of it; "
                "gradwright launch -n N starts several processes")  # fmt: skip
        raise ValueError(f"mesh(): {_text(sizes)} is {wanted} devices, but there are {len(every)}: "
                         f"{', '.join(map(str, every[:8]))}{', ...' * (len(every) > 8)} ({more})")  # fmt: skip
    taken: list[Any] = every[:wanted]
    left_out = known.processes() - {one.process_index for one in taken}
    if left_out:
        raise ValueError(f"mesh(): {_text(sizes)} leaves out all devices of {', '.join(map(str, sorted(left_out)))} of "
                         f"{len(known.processes())} processes: name some of each process's")  # fmt: skip
    out = Mesh(sizes, taken)
    return _made.setdefault(f"{out!r} {out.native}", out)


def _text(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={size}" for name, size in sizes.items())


def _meant(function: str, given: Any) -> Mesh:
    """The mesh that is given, that of the ``with`` block around, the default device, or the only one made so far."""
    for one in (given, get_default_device()):
        found = one if isinstance(one, Mesh) else next((m for m in _made.values() if m == one), None)
        if found is not None:
            return found
    if given is not None:
        raise TypeError(f"{function}(): expected a mesh, but got {kind(given)}: gradwright.distributed.mesh makes one")
    if len(_made) == 1:
        return next(iter(_made.values()))
    there = f"{len(_made)} meshes were made ({', '.join(map(repr, _made.values()))})" if _made else "none was made"
    raise RuntimeError(f"{function}(): which mesh is meant? {there}: give mesh=, or write `with mesh:` around")


# -- tensors --


def _checked(function: str, one: Mesh, shape: tuple[int, ...], names: tuple[Names, ...], what: str) -> None:
    """Raise ValueError unless a tensor of this shape can be parted along these axes."""
    if len(names) > len(shape):
        raise ValueError(f"{function}(): {len(names)} dims are named, {names}, but {what} has {len(shape)}")
    met: set[str] = set()
    for dim, axes in enumerate(names):
        along = _tuple(axes)
        for axis in along:
            if axis not in one.shape:
                hint = "" if axis else " (a tuple is several axes for one dim; each dim has an argument of its own)"
                raise ValueError(f"{function}(): {one!r} has no axis {axis!r}, but {', '.join(one.shape)}{hint}")
            if axis in met:
                raise ValueError(f"{function}(): axis {axis!r} stands for two dims in {names}")
            met.add(axis)
        parts = prod(one.shape[axis] for axis in along)
        if rest := shape[dim] % parts:
            batch = f"Leave out {rest} (drop_last=True), or take another batch size"
            mend = batch if function == "shard" else "Leave that dim whole (None), or take another size"
            raise ValueError(
                f"{function}(): dim {dim} of {what}, of shape {tuple(shape)}, does not divide: {shape[dim]} entries "
                f"among the {parts} devices of {' and '.join(map(repr, along))}. {mend}"
            )


def _tuple(axes: Names) -> tuple[str, ...]:
    return () if axes is None else (axes,) if isinstance(axes, str) else tuple(axes)


def _layout(one: Mesh, names: Iterable[Names]) -> Layout:
    if one.size == 1 and one.mesh is None:
        return Layout(one, one.native)
    sharding: Any = importlib.import_module("jax.sharding")
    whole: Any = one.native
    return Layout(one, sharding.NamedSharding(whole.mesh, sharding.PartitionSpec(*names)))


def _laid(t: Any, layout: Layout) -> Any:
    static = {"device": layout, "source": device_of(t.array)}
    return general(table["to_device"], (t,), static)  # once, not first the quick way: processes meet in it


def _tensor(function: str, value: Any) -> Any:
    if isinstance(value, TensorBase):
        return value
    if isinstance(value, np.ndarray):
        return as_tensor(value, device=CPU)
    raise TypeError(f"{function}(): expected tensors, in tuples, lists or dicts, but found {kind(value)}")


def shard(tensors: Any, *names: Names, mesh: Mesh | None = None, local: bool = False) -> Any:
    """Tensors, parted among the devices of a mesh: ``shard((x, y), "batch")``.

    Args:
        tensors: a tensor, an array of NumPy's, or tuples, lists and dicts of them.
        names: for each dim, from the first on, the axis of the mesh along which it is parted: a name, a tuple of
            several, or None. What is not named is whole on each device.
        mesh: if none, that of the ``with`` block around, the default device, or the only one that was made.
        local: in a program of several processes, whether ``tensors`` are this process's part alone, which comes in the
            order of ranks. Else each process has all of them, the same values, and takes its part.

    Returns:
        Tensors on the mesh, with the history of those they are made of.

    Raises ValueError for a dim that does not divide or an axis that there is not, TypeError for what is no tensor,
    RuntimeError if processes bring different shapes or, unless ``local``, different values.
    """
    one = _meant("shard", mesh)

    def put(value: Any) -> Any:
        t = _tensor("shard", value)
        if local and len(one_processes(one)) > 1:
            return _of_parts(one, t, names)
        _checked("shard", one, t.array.shape, names, "a tensor")
        return _laid(t, _layout(one, names))

    return tree_map(put, tensors)


def one_processes(one: Mesh) -> set[int]:
    """The ranks of the processes whose devices a mesh has."""
    return {d.process_index for d in one.devices}


def _of_parts(one: Mesh, t: Any, names: tuple[Names, ...]) -> Any:
    """The tensor whose part in this process is ``t``."""
    if t.requires_grad:
        raise RuntimeError("shard(local=True): a tensor that requires grad is given, and no gradient goes back to "
                           "parts: detach() it, and call requires_grad_() on what comes out")  # fmt: skip
    jax: Any = importlib.import_module("jax")
    processes: Any = importlib.import_module("gradwright.backends.jax_processes")
    shape, size = tuple(t.array.shape), list(t.array.shape)
    processes.agree(f"a part of {t.dtype} of shape {shape}",
                    "shard(local=True) wants parts of one shape: let each process take its part of the same batches "
                    "(gradwright.distributed.PartSampler), and drop_last=True")  # fmt: skip
    grid = np.array(one.devices, object).reshape(tuple(one.shape.values()))
    mine = np.argwhere(np.vectorize(lambda d: d.process_index == jax.process_index())(grid))
    axes = list(one.shape)
    for dim, given in enumerate(names[: len(shape)]):
        along = _tuple(given)
        here = len({tuple(place[axes.index(a)] for a in along if a in axes) for place in mine})
        if shape[dim] % here:
            raise ValueError(f"shard(local=True): dim {dim} of a part of shape {shape} does not divide among "
                             f"the {here} devices of this process along {' and '.join(map(repr, along))}")  # fmt: skip
        size[dim] = shape[dim] // here * prod(one.shape.get(a, 1) for a in along)
    _checked("shard", one, tuple(size), names, "the whole")
    host = CPU.hold(t.array)
    return wrap(jax.make_array_from_process_local_data(_layout(one, names).native, host, tuple(size)))


def replicate(value: Any, mesh: Mesh | None = None) -> Any:
    """A module, whose parameters and buffers are put on every device of a mesh; or tensors, alone or in containers.

    The module is the same one afterwards, and so are its parameters, as with `Module.to`; gradients go along. In a
    program of several processes each has to bring the same values, which is checked: RuntimeError, naming who differs.
    """
    one = _meant("replicate", mesh)
    layout = _layout(one, ())
    if isinstance(value, Module):
        return value._apply(lambda t: _laid(t, layout))
    return tree_map(lambda t: _laid(_tensor("replicate", t), layout), value)


def shard_parameters(module: Any, rule: Any, mesh: Mesh | None = None) -> Any:
    """Part a module's parameters and buffers among the devices of a mesh, each as a rule says; returns the module.

    Args:
        module: a module; its parameters stay the same objects.
        rule: a function of a parameter's name and shape that gives an axis for each dim, as `shard` takes them (None
            and () put all of it on each device); or a dict from patterns of names (``"*.weight"``) to that, of which
            the first that fits counts.
        mesh: as in `shard`.

    Raises ValueError, naming the parameter, where a dim does not divide, and for a pattern that fits none.
    """
    one = _meant("shard_parameters", mesh)
    used: set[str] = set()
    if isinstance(rule, Mapping):
        patterns: Mapping[str, Any] = rule

        def choose(name: str, shape: Any) -> Any:
            found = next((pattern for pattern in patterns if fnmatchcase(name, pattern)), None)
            used.add(found or "")
            return () if found is None else patterns[found]
    else:
        patterns, choose = {}, rule
    layouts: dict[int, Layout] = {}
    tensors = [*module.named_parameters(), *module.named_buffers()]
    for name, t in tensors:
        wanted = choose(name, tuple(t.shape))
        names = (wanted,) if isinstance(wanted, str) else tuple(wanted or ())
        _checked("shard_parameters", one, tuple(t.shape), names, f"{name!r}")
        layouts[id(t)] = _layout(one, names)
    if unused := [pattern for pattern in patterns if pattern not in used]:
        raise ValueError(f"shard_parameters(): no parameter is called {' or '.join(map(repr, unused))}; there are "
                         f"{', '.join(name for name, _ in tensors)}")  # fmt: skip
    _place(module, layouts)
    return module


def _place(module: Any, layouts: dict[int, Layout]) -> None:
    for part in module.modules():
        for parameter in part.parameters(recurse=False):
            layout = layouts.pop(id(parameter), None)
            if layout is not None:
                parameter.data = _laid(parameter.data, layout)
                if parameter.grad is not None:
                    parameter.grad.data = _laid(parameter.grad.data, layout)
        for name, buffer in part._buffers.items():
            if buffer is not None and id(buffer) in layouts:
                part._buffers[name] = _laid(buffer, layouts[id(buffer)])


def gather(tensors: Any) -> Any:
    """Tensors of a mesh, with all of their values on each device, so that each process can read them.

    Every process has to call it: what is elsewhere is sent. A tensor on one device is returned as it is.
    """

    def whole(value: Any) -> Any:
        t = _tensor("gather", value)
        at = device_of(t.array)
        return t if at.mesh is None else _laid(t, Layout(at, at.native))

    return tree_map(whole, tensors)


def layout(t: Any) -> tuple[Names, ...] | None:
    """The axis of its mesh along which each dim of a tensor is parted: ("batch", None); None if it is on one device."""
    at = device_of(t.array)
    if at.mesh is None:
        return None
    spec = tuple(t.array.sharding.spec)
    return (*spec, *(None,) * (t.array.ndim - len(spec)))


"""Where tensors live: an array library, and one of its devices."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from importlib import import_module
from importlib.util import find_spec
from re import fullmatch
from typing import Any

import numpy as np

from gradwright.backends import Library, libraries, library
from gradwright.backends.numpy import NUMPY
from gradwright.base import dtypes

BROUGHT = {
    "array-api-strict": "gradwright.backends.strict",
    **dict.fromkeys(("jax", "cuda", "tpu"), "gradwright.backends.jax"),
}
"""Names of devices, and the module that makes them known."""

PLUGINS = {"cuda": ("jax_plugins", "jax[cuda13]"), "tpu": ("libtpu", "jax[tpu]")}
"""Kinds of JAX's devices, the package without which there are none, and what installs it."""


NOMINAL = frozenset((
    "cuda", "fpga", "hip", "hpu", "ideep", "ipu", "lazy", "maia", "meta", "mkldnn", "mps", "mtia", "opencl", "opengl",
    "privateuseone", "ve", "vulkan", "xla", "xpu",
))  # fmt: skip
"""PyTorch's kinds of devices beside the CPU: one of them is a value even where there is none."""


class device:
    """Where a tensor lives: an array library, and one of its devices.

    ``"cpu"`` is NumPy's arrays. ``"jax:1"`` is the second of JAX's devices, ``"cuda:0"`` and ``"tpu:0"`` are the first
    of their kind among them; without a number, JAX's default device, or the first of that kind. Any other library that
    is registered goes by its name, with a device's place in the library's own list of devices behind it if it is not
    the default one: ``"array-api-strict"``, ``"array-api-strict:1"``. The library's own device object will do as well.

    A kind of PyTorch's that is not here ("cuda" without one, "meta") is a value that can be named and compared; what
    would put a tensor there raises RuntimeError.

    In a ``with`` block it is where tensors are made unless told otherwise, as `set_default_device` says for good.

    Several devices that hold tensors together are one, too, a mesh (`gradwright.distributed.mesh`): "jax:batch=8".

    Attributes: ``type`` ("cpu", "jax", "cuda", "tpu" or the name of the library), ``index`` (the device's place; None
    on the CPU, for a mesh, and for a kind that is not here and was named without one), ``mesh`` ("batch=8"; None for
    one device), ``library`` (what `gradwright.backends` knows of it), ``native`` (the library's own device).

    >>> device("cpu")
    device(type='cpu')
    >>> device("meta") == device("cpu")
    False

    Raises RuntimeError for a library or device that is not known, ImportError where JAX is not installed, TypeError for
    what names none.
    """

    __slots__ = ("index", "library", "mesh", "native", "type")
    type: str
    mesh: str | None
    library: Library
    native: Any

    def __init__(self, type: device | str | int = "cpu", index: int | None = None) -> None:
        self.type, self.index, self.mesh = "cpu", index, None
        if isinstance(type, device):
            self.type, self.index, self.mesh = type.type, type.index, type.mesh
            if type.is_here:
                self.library, self.native = type.library, type.native
        elif not isinstance(type, str) and type.__class__.__module__ == "torch" and type.__class__.__name__ == "device":
            self.__init__(str(type), index)  # type: ignore[misc]
        elif not isinstance(type, str):
            one = next((one for one in _others() if type in one.devices()), None)
            if one is None:
                raise TypeError(f"device: expected a string or a device, got {type!r}")
            self._become(one, type)
        elif type == "cpu" or fullmatch(r"cpu:\d+", type):
            self.library, self.native = NUMPY, "cpu"
        elif (named := fullmatch(r"([^:]+)(?::(\d+))?", type)) and named[1] in NOMINAL and not there(named[1]):
            self.type, self.index = named[1], index if named[2] is None else int(named[2])
        else:
            self._become(*_read(type, index))

    @property
    def is_here(self) -> bool:
        """Whether tensors can be there; of the kinds that PyTorch has, some can only be named."""
        return self.type not in NOMINAL or bool(there(self.type))

    def __getattr__(self, name: str) -> Any:
        if name not in ("library", "native"):
            raise AttributeError(f"'device' object has no attribute {name!r}", name=name, obj=self)
        self._become(*_read(str(self), None))  # which raises, unless it is here by now
        return getattr(self, name)

    def _become(self, one: Library, native: Any) -> None:
        self.library, self.native = one, native
        self.type, self.index, self.mesh = one.named(native)

    def __repr__(self) -> str:
        if self.mesh is not None:
            return f"device(type={self.type!r}, mesh={self.mesh!r})"
        numbered = self.type != "cpu" and self.index is not None
        return f"device(type={self.type!r}, index={self.index})" if numbered else f"device(type={self.type!r})"

    def __str__(self) -> str:
        if self.mesh is not None:
            return f"{self.type}:{self.mesh}"
        return self.type if self.type == "cpu" or self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> Any:
        return isinstance(other, device) and (self.type == other.type == "cpu" or other._key() == self._key())

    def __hash__(self) -> Any:
        return hash(self._key())

    def _key(self) -> tuple[Any, Any]:
        return (self.library, self.native) if self.is_here else (self.type, self.index)

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (str(self),)

    def __enter__(self) -> device:
        _inside.set((*_inside.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        _inside.set(_inside.get()[:-1])

    def hold(self, array: Any) -> Any:
        """An array, of whatever library, here: itself where it is here already, else a copy.

        Raises TypeError where the library lacks its dtype.
        """
        one = library(array)
        if one.outer and device_of(array) == self:
            return array
        if one.traces:
            return array.moved(self)
        if one is self.library:
            return array if self.type == "cpu" else one.moved(array, self.native, isinstance(self, Layout))
        host = one.to_host(array)
        if self.type == "cpu":
            return np.array(host)
        return self.library.brought(host, native(self.library.xp, host.dtype), self.native)


class Layout(device):
    """A mesh, and which part of an array each of its devices holds: ``native`` says it. Arrays go there, none is there.

    Args:
        mesh: the device that is the mesh.
        native: how an array lies there, as the library says that.
    """

    __slots__ = ()

    def __init__(self, mesh: device, native: Any) -> None:
        super().__init__(mesh)
        self.native = native

    def __eq__(self, other: object) -> Any:
        return isinstance(other, Layout) and (other.library, other.native) == (self.library, self.native)

    __hash__ = device.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return Layout, (device(str(self)), self.native)


def _read(text: str, index: int | None) -> tuple[Library, Any]:
    """The library, and its device, that a name means."""
    name, _, number = text.partition(":")
    if name in PLUGINS and not may_be_there(name):
        raise RuntimeError(f"gradwright has no device {text!r}: such devices are JAX's, which here has none of them "
                           f"(for those of this machine: pip install '{PLUGINS[name][1]}'). For a program that goes on "
                           "without: device = 'cuda' if torch.cuda.is_available() else 'cpu'")  # fmt: skip
    if name in BROUGHT:
        import_module(BROUGHT[name])
    one = next((one for one in _others() if name in one.kinds()), None)
    if one is None:
        if name in dtypes.NAMES:
            raise RuntimeError(f"Invalid device string: {name!r}, a dtype by its name; expected gradwright.{name}")
        if name == "cpu":
            raise RuntimeError(f"Invalid device string: {text!r}; expected 'cpu'")
        names = dict.fromkeys(("cpu", *(name for one in _others() for name in one.kinds()), *BROUGHT))
        if name == "gpu":
            raise RuntimeError("Expected a kind of device at start of device string: gpu; a GPU is 'cuda', where "
                               "torch.cuda.is_available(), else there is 'cpu'")  # fmt: skip
        raise RuntimeError(f"gradwright has no device {text!r}: every tensor lives on {', '.join(map(repr, names))}"
                           "; gradwright.backends.register makes another library known")  # fmt: skip
    if "=" in number:
        return one, one.mesh(name, number)
    known = one.kinds()[name]
    place = index if index is not None else int(number) if number.isdecimal() else None
    if (number and place is None) or (place is not None and not 0 <= place < len(known)) or not known:
        there = f"expected {name!r}, or one of its {len(known)} devices, '{name}:0' to '{name}:{len(known) - 1}'"
        if not known:
            there = f"{one.name} finds none of that kind here, but {', '.join(map(str, one.devices()))}"
        raise RuntimeError(f"gradwright has no device {text!r}: {there}")
    if place is not None:
        return one, known[place]
    first = one.default_device()
    return one, first if first in known else known[0]


def may_be_there(kind: str) -> bool:
    """Whether there may be devices of JAX of this kind. That is told without loading JAX where there are none."""
    return BROUGHT[kind] in sys.modules or find_spec(PLUGINS[kind][0]) is not None


def there(kind: str) -> list[Any]:
    """JAX's devices of this kind: none if it is another than "cuda" and "tpu", or where JAX is not installed."""
    if kind not in PLUGINS or not may_be_there(kind):
        return []
    try:
        return list(import_module(BROUGHT[kind]).JAX.kinds()[kind])
    except ImportError:
        return []


def native(space: Any, dtype: Any) -> Any:
    """A dtype as the array library ``space`` has it; TypeError if it has none such."""
    d = dtypes.of(dtype)
    if space is NUMPY.xp:
        return d.dtype
    try:
        return getattr(space, d.name)
    except AttributeError:
        raise TypeError(f"{space.__name__} has no {d}: take another dtype, such as {dtypes.float32}") from None


def _others() -> list[Library]:
    """The libraries registered beside NumPy and gradwright itself."""
    return [one for one in libraries() if one.name not in ("NumPy", "gradwright") and not one.outer]


def place(device_or_name: Any) -> device:
    """The device that an argument names; None is the CPU."""
    if device_or_name is None:
        return CPU
    return device_or_name if isinstance(device_or_name, device) else device(device_or_name)


def cuda(number: Any = None) -> device:
    """The CUDA device of this number, or name; the current one for None. RuntimeError where there is none."""
    one = device("cuda", number) if number is None or isinstance(number, int) else place(number)
    return one if one.is_here else device(one.native)  # which raises


def chosen(device_or_name: Any) -> device | None:
    """Where a function that makes tensors makes one: None, for the default device, where that is the CPU."""
    if device_or_name is not None:
        return place(device_or_name)
    found = get_default_device()
    return None if found is CPU else found


def beside(array: Any) -> device | None:
    """What such a function is to be told for a tensor beside an array: None where it need not be told."""
    at = device_of(array)
    return None if at is CPU and get_default_device() is CPU else at


def device_of(array: Any) -> device:
    """Where an array lives."""
    if array.__class__ is np.ndarray:
        return CPU
    one = library(array)
    if one.outer:
        return device_of(array.plain)
    if one is NUMPY:
        return CPU
    at = one, one.place_of(array)
    if at not in _known:
        _known[at] = device()
        _known[at]._become(*at)
    return _known[at]


CPU = device()
_known: dict[tuple[Library, Any], device] = {}
_inside: ContextVar[tuple[device, ...]] = ContextVar("devices whose with blocks we are in", default=())


class _Default:
    device = CPU


def get_default_device() -> device:
    """Where tensors are made unless told otherwise: the device of the innermost ``with device(...)``, or the default.

    >>> get_default_device()
    device(type='cpu')
    """
    inside = _inside.get()
    return inside[-1] if inside else _Default.device


def set_default_device(device: device | str | int | None) -> None:
    """Make tensors on this device from now on unless told otherwise; None is the CPU, as at the start.

    That holds for functions that make tensors from numbers or from nothing, and so for the parameters of modules. What
    is made of a tensor, or of another library's array, is made where that is.

    Raises RuntimeError for a device that is not known.
    """
    _Default.device = CPU if device is None else place(device)

"""Where tensors live: an array library, and one of its devices."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from gradwright import dtypes
from gradwright.backends import Library, libraries, library
from gradwright.backends.numpy import NUMPY


class device:
    """Where a tensor lives: an array library, and one of its devices.

    ``"cpu"`` is NumPy's arrays. Any other library that is registered goes by its name, with a device's place in the
    library's own list of devices behind it if it is not the default one: ``"array-api-strict"``,
    ``"array-api-strict:1"``. The library's own device object will do as well.

    Attributes: ``type`` ("cpu", or the name of the library), ``index`` (the device's place; None on the CPU),
    ``library`` (what `gradwright.backends` knows of it), ``native`` (the library's own device).

    >>> device("cpu")
    device(type='cpu')

    Raises RuntimeError for a library or device that is not known, TypeError for what names none.
    """

    __slots__ = ("index", "library", "native", "type")
    type: str

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:
        self.type, self.index = "cpu", index
        self.library, self.native = NUMPY, "cpu"
        if isinstance(type, device):
            self.type, self.index, self.library, self.native = type.type, type.index, type.library, type.native
        elif not isinstance(type, str):
            self._find(type)
        elif type.partition(":")[0] != "cpu":
            self._read(type, index)

    def _find(self, native: Any) -> None:
        """Become the device that is a library's own object."""
        for one in _others():
            known = one.devices()
            if native in known:
                self.type, self.index, self.library, self.native = one.name, known.index(native), one, native
                return
        raise TypeError(f"device: expected a string or a device, got {native!r}")

    def _read(self, text: str, index: int | None) -> None:
        """Become the device of this name."""
        name, _, number = text.partition(":")
        if name == "array-api-strict":
            import_module("gradwright.backends.strict")  # which registers it
        one = next((one for one in _others() if one.name == name), None)
        if one is None:
            if name in dtypes.NAMES:
                raise RuntimeError(f"Invalid device string: {name!r}, a dtype by its name; expected gradwright.{name}")
            names = " or ".join(["'cpu'", *(repr(one.name) for one in _others())])
            raise RuntimeError(f"gradwright has no device {text!r} yet: every tensor lives on {names}; "
                               "gradwright.backends.register makes another library known")  # fmt: skip
        known = one.devices()
        place = index if index is not None else int(number) if number.isdecimal() else None
        if (number and place is None) or (place is not None and not 0 <= place < len(known)):
            raise RuntimeError(f"gradwright has no device {text!r}: expected {name!r}, or one of its {len(known)} "
                               f"devices, '{name}:0' to '{name}:{len(known) - 1}'")  # fmt: skip
        self.native = one.default_device() if place is None else known[place]
        self.type, self.index, self.library = name, known.index(self.native), one

    def __repr__(self) -> str:
        return "device(type='cpu')" if self.type == "cpu" else f"device(type={self.type!r}, index={self.index})"

    def __str__(self) -> str:
        return "cpu" if self.type == "cpu" else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> Any:
        return isinstance(other, device) and (other.library, other.native) == (self.library, self.native)

    def __hash__(self) -> Any:
        return hash((self.type, self.native))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (str(self),)

    def hold(self, array: Any) -> Any:
        """An array, of whatever library, here: itself where it is here already, else a copy.

        Raises TypeError where the library lacks its dtype.
        """
        one = library(array)
        if one.outer and device_of(array) == self:
            return array
        if one is self.library:
            return array if self.type == "cpu" or array.device == self.native else array.to_device(self.native)
        host = one.to_host(array)
        if self.type == "cpu":
            return np.array(host)
        space = self.library.xp
        return space.asarray(host, dtype=native(space, host.dtype), device=self.native, copy=True)


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


def device_of(array: Any) -> device:
    """Where an array lives."""
    if array.__class__ is np.ndarray:
        return CPU
    one = library(array)
    if one.outer:
        return device_of(array.plain)
    return CPU if one is NUMPY else device(one.name, one.devices().index(array.device))


CPU = device()

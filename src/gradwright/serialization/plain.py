"""Nested data as JSON, and back.

None, booleans, texts, whole numbers of 64 bits and finite floats are themselves, lists are arrays. Everything else is
an object with one name, which says what it is: ``{"dict": [[key, value], ...]}``, ``{"tuple": [...]}``,
``{"tensor": 3}``, ``{"float": "nan"}``.
"""

from __future__ import annotations

import binascii
import math
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright.backends.devices import device
from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.base import TensorBase
from gradwright.face.methods.subclasses import attributes
from gradwright.nn.parameter import is_sparse
from gradwright.serialization.memory import Store, check

_DEEPEST = 100
_SEQUENCES = {"tuple": tuple, "set": set, "frozenset": frozenset, "Size": dtypes.Size}
_MAPPINGS = {"dict": dict, "OrderedDict": OrderedDict, "Counter": Counter}
_NAMES: dict[type, str] = {cls: name for table in (_SEQUENCES, _MAPPINGS) for name, cls in table.items()}

_SCALARS: dict[type, Callable[[Any], Any]] = {
    int: lambda n: n if -(2**63) <= n < 2**63 else {"int": hex(n)},  # decimal digits of long ones cost their square
    float: lambda x: x if math.isfinite(x) else {"float": repr(x)},
    complex: lambda z: {"complex": [repr(z.real), repr(z.imag)]},
    bytes: lambda b: {"bytes": binascii.b2a_base64(b, newline=False).decode()},
    dtypes.dtype: lambda d: {"dtype": d.name},
    device: lambda d: {"device": str(d)},
}

_READERS: dict[str, Callable[[Any], Any]] = {
    "int": lambda text: int(text, 16),
    "float": float,
    "complex": lambda parts: complex(*map(float, parts)),
    "bytes": lambda text: binascii.a2b_base64(text, strict_mode=True),
    "dtype": dtypes.of,
    "device": device,
}


class Writer:
    """Turns data into JSON, one part of it after the other; ``store`` gets its tensors."""

    def __init__(self) -> None:
        self.store = Store()
        self._path: list[Any] = []
        self._above: set[int] = set()

    def node(self, value: Any) -> Any:
        """The JSON of ``value``.

        Raises TypeError for what cannot be saved, ValueError for data that contain themselves or nest too deeply; both
        name the place in the data.
        """
        cls = type(value)
        if value is None or cls is bool or cls is str:
            return value
        if cls in _SCALARS:
            return _SCALARS[cls](value)
        if isinstance(value, (TensorBase, np.ndarray)):
            return {"tensor": self._tensor(value)}
        if isinstance(value, np.generic):
            return {"scalar": self._tensor(np.asarray(value))}
        if cls is not list and cls not in _NAMES:
            raise TypeError(f"save(): cannot save {self._place()}: {_mend(value)}")
        return self._container(value)

    def _container(self, value: Any) -> Any:
        if id(value) in self._above:
            raise ValueError(f"save(): the data contain themselves: {self._place()} is the {kind(value)} that it is in")
        if len(self._path) >= _DEEPEST:
            raise ValueError(f"save(): the data nest more than {_DEEPEST} deep, at {self._place():.200}")
        self._above.add(id(value))
        if isinstance(value, dict):
            items = [[self._part(key, key), self._part(key, item)] for key, item in value.items()]
            out: Any = {_NAMES[type(value)]: items}
            if hasattr(value, "_metadata"):  # a state_dict's, with the versions of its modules
                out["_metadata"] = self._part("_metadata", value._metadata)
        else:
            parts = [self._part(i, item) for i, item in enumerate(value)]
            out = parts if type(value) is list else {_NAMES[type(value)]: parts}
        self._above.remove(id(value))
        return out

    def _part(self, key: Any, value: Any) -> Any:
        self._path.append(key)
        out = self.node(value)
        self._path.pop()
        return out

    def _tensor(self, value: Any) -> int:
        try:
            check(value)
        except TypeError as e:
            raise TypeError(f"save(): cannot save {self._place()}: {e}") from None
        known = len(self.store.found)
        number = self.store.number(value, ".".join(_told(key, str) for key in self._path))
        if number == known and isinstance(value, TensorBase) and (its := attributes(value)):
            self._path.append("attributes")
            self.store.attributes[number] = self._container(its)
            self._path.pop()
        return number

    def _place(self) -> str:
        return "".join(f"[{_told(key, repr)}]" for key in self._path) or "the data"


def _told(key: Any, how: Callable[[Any], str]) -> str:
    """A key of a dict as a name or message has it; of long numbers and what may hold them, only the type."""
    return how(key) if isinstance(key, str) or (type(key) is int and abs(key) < 2**63) else type(key).__name__


def _mend(value: Any) -> str:
    what = kind(value)
    if is_sparse(value):
        return f"it is a {what}: save its to_dense(), or its indices(), values() and shape"
    for method in ("state_dict", "get_state"):
        if hasattr(value, method) and not isinstance(value, type):
            return f"it is a {what}: save what its {method}() returns"
    if isinstance(value, tuple):
        return f"it is a {what}: save tuple(value)"
    if isinstance(value, dict):
        return f"it is a {what}: save dict(value)"
    if callable(value):
        return f"it is a {what}, which is code: save its name"
    return f"it is a {what}; expected tensors, arrays, numbers, texts, bytes, None, and dicts, lists, tuples and sets"


def data_of(node: Any, tensors: list[Any]) -> Any:
    """The data that `Writer.node` made ``node`` of, ``tensors`` being those it refers to.

    Raises ValueError, TypeError, KeyError, IndexError or RecursionError where it made no such thing.
    """
    if isinstance(node, list):
        return [data_of(part, tensors) for part in node]
    if not isinstance(node, dict):
        return node
    (name, value), *more = node.items()
    if name == "tensor":
        return tensors[value]
    if name == "scalar":
        return tensors[value][()]
    if name in _READERS:
        return _READERS[name](value)
    if name in _SEQUENCES:
        return _SEQUENCES[name](data_of(part, tensors) for part in value)
    out: Any = _MAPPINGS[name]()
    for key, item in value:
        out[data_of(key, tensors)] = data_of(item, tensors)
    for attribute, item in more:
        if attribute != "_metadata":
            raise ValueError(f"a dict has no {attribute!r}")
        out._metadata = data_of(item, tensors)
    return out

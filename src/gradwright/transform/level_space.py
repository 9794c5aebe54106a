"""The namespace of the arrays of transforms."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

from gradwright import backends
from gradwright.backends.devices import CPU
from gradwright.base import dtypes
from gradwright.engine.base import wrap
from gradwright.engine.levels import LevelArray, as_tensor, below, taken_from


class _Space:
    """The namespace of level arrays, for what computes with arrays: values come out, and new arrays are constants."""

    def __init__(self, path: str = "") -> None:
        self._path = path

    def zeros_like(self, x: Any, *, shape: Any = None, dtype: Any = None) -> Any:
        return self._like("zeros_like", x, shape, dtype)

    def ones_like(self, x: Any, *, shape: Any = None, dtype: Any = None) -> Any:
        return self._like("ones_like", x, shape, dtype)

    def may_hold(self, condition: Any, *, often: bool = False) -> bool:
        """Whether a condition may hold anywhere, in any example."""
        return bool(backends.namespace(below(condition)).may_hold(below(condition), often=often))

    def zero(self, x: Any) -> Any:
        return self.zeros_like(x, shape=())

    def _like(self, name: str, x: Any, shape: Any, dtype: Any) -> Any:
        plain = below(x)
        like = getattr(backends.namespace(plain), name)
        return like(plain, shape=x.shape if shape is None else shape, dtype=x.dtype if dtype is None else dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in dtypes.NAMES:
            return dtypes.of(name).dtype
        if name in _MADE:
            return lambda *args, device=None, **kwargs: getattr(_library_at(device), name)(
                *args, device=device, **kwargs
            )
        path = f"{self._path}{name}"
        return _Space(f"{path}.") if path in _PARTS else partial(_computed, path)


_PARTS = ("linalg", "fft", "special")


def _computed(path: str, *args: Any, **kwargs: Any) -> Any:
    """The result of a function of a library's namespace for the values of level arrays; of batches, in batches."""
    given = [a.values() if isinstance(a, LevelArray) else a for a in args]
    batch = next((a for a in given if isinstance(a, LevelArray)), None)
    find = operator.attrgetter(path)
    if batch is None:
        plain = next((a for a in given if backends.is_array(a)), None)
        return find(CPU.library.xp if plain is None else backends.namespace(plain))(*given, **kwargs)
    try:
        f = find(backends.namespace(wrap(batch)))
    except AttributeError:  # it has no derivatives, and so tensors have no such function
        return batch.each(partial(_computed, path, **kwargs), given)
    return taken_from(f(*map(as_tensor, given), **kwargs))


_MADE = ("arange", "asarray", "empty", "eye", "full", "linspace", "ones", "zeros")


def _library_at(device: Any) -> Any:
    """The namespace of the library that calls a device by this name, which is NumPy's for its own."""
    if device is None or device == CPU.native:
        return CPU.library.xp
    for one in backends.libraries():
        if one.xp is not space and one.name != "gradwright" and device in one.devices():
            return one.xp
    raise ValueError(f"no array library has a device {device!r}")


space = _Space()
backends.register(space, LevelArray, name="a transform", writes=True, outer=True, host=True,
                  to_host=lambda array: backends.to_host(array.settled()))  # fmt: skip

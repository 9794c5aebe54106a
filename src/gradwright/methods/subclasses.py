"""Classes derived from Tensor: what operations on their instances are asked, and what they give.

A class of a user's has PyTorch's ``__torch_function__(cls, func, types, args, kwargs)``: the default runs the function
and makes its results instances of the class; one of its own decides what it does. Functions and methods are set to ask
for it when the first such class is defined. Until then there is nothing to ask, and it costs nothing.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import FunctionType, ModuleType
from typing import Any

from gradwright.engine.base import TensorBase
from gradwright.engine.view import alias_of
from gradwright.errors import kind
from gradwright.face.views import alias

_off: ContextVar[bool] = ContextVar("whether functions are run without asking", default=False)

SPACES = ("gradwright", "gradwright.linalg", "gradwright.fft", "gradwright.special", "gradwright.nn.functional")
"""The modules whose functions ask."""

_NEVER = frozenset({
    "__init__", "__new__", "__init_subclass__", "__class__", "__getattribute__", "__getattr__", "__setattr__",
    "__delattr__", "__hash__", "__reduce__", "__reduce_ex__", "__torch_function__", "__dir__", "__sizeof__",
    "__subclasshook__", "__array_ufunc__", "__array_function__", "__array_namespace__", "__dlpack__",
    "__dlpack_device__", "__array__", "__repr__", "__format__", "__deepcopy__", "__copy__", "__str__",
    "as_subclass", "_make_subclass",
})  # fmt: skip
_SILENT = frozenset({
    "as_tensor", "asarray", "detach", "from_dlpack", "from_numpy", "is_tensor", "tensor", "typename",
})  # fmt: skip
"""Functions that take anything, and ask nothing of it; and `detach`, which looks at the line that it is called from."""
_PROPERTIES = ("T", "mT", "H", "mH", "real", "imag", "data")


class DisableTorchFunctionSubclass:
    """A context in which functions and methods run without asking for a ``__torch_function__``."""

    def __enter__(self) -> None:
        self._token = _off.set(True)

    def __exit__(self, *_: object) -> None:
        _off.reset(self._token)


def is_asked() -> bool:
    """Whether functions ask their arguments' classes, here and now."""
    return not _off.get()


def own(value: Any) -> Any:
    """The ``__torch_function__`` of a value that is no plain tensor or parameter, or None."""
    cls = type(value)
    if cls in _plain:
        return None
    found = getattr(cls, "__torch_function__", None)
    return None if found is None or found is _disabled_torch_function_impl else found


_plain: set[type] = set()


def _disabled_torch_function_impl(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The ``__torch_function__`` of a class whose operations give plain tensors."""
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


def _values(args: Any, kwargs: Any) -> Iterator[Any]:
    for value in (*args, *kwargs.values()):
        if isinstance(value, (tuple, list)):
            yield from value
        else:
            yield value


def dispatch(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``func(*args, **kwargs)``, as the arguments' classes have it; TypeError if none of them can."""
    relevant: list[Any] = []
    for value in _values(args, kwargs):
        if own(value) is not None and type(value) not in [type(v) for v in relevant]:
            at = next((k for k, v in enumerate(relevant) if isinstance(value, type(v))), len(relevant))
            relevant.insert(at, value)
    types = tuple(type(v) for v in relevant)
    if not types:
        return func(*args, **kwargs)
    for value in relevant:
        out = own(value)(func, types, args, kwargs)
        if out is not NotImplemented:
            return out
    names = ", ".join(t.__name__ for t in types)
    raise TypeError(f"no implementation found for '{getattr(func, '__name__', func)}' on types that implement "
                    f"__torch_function__: {names}")  # fmt: skip


def asking(func: Callable[..., Any]) -> Any:
    """``func``, asking its arguments' classes first."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not _off.get():
            for value in _values(args, kwargs):
                if own(value) is not None:
                    return dispatch(call, args, kwargs)
        return func(*args, **kwargs)

    vars(call)["_asks"] = True
    return call


def _method(base: Any) -> Any:
    """A method of a derived class, in place of Tensor's."""

    @functools.wraps(base)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return base(self, *args, **kwargs) if _off.get() else dispatch(base, (self, *args), kwargs)

    return call


def _property(base: property) -> property:
    def get(self: Any) -> Any:
        return base.fget(self) if _off.get() else dispatch(base.fget, (self,), {})  # type: ignore[misc]

    return property(get, base.fset, base.fdel, base.__doc__)


@functools.cache
def _spaces_ask() -> None:
    """Set the functions of the public modules to ask, once."""
    changed: dict[int, tuple[Any, Any]] = {}
    __import__("gradwright.nn")
    for path in SPACES:
        module = sys.modules[path]
        for name in getattr(module, "__all__", ()):
            found = getattr(module, name)
            if isinstance(found, FunctionType) and name not in _SILENT:
                changed[id(found)] = found, asking(found) if id(found) not in changed else changed[id(found)][1]
                setattr(module, name, changed[id(found)][1])
    for name, there in list(sys.modules.items()):
        if name.partition(".")[0] == "torch" and isinstance(there, ModuleType):
            for key, value in list(vars(there).items()):
                if type(value) is FunctionType and id(value) in changed:
                    vars(there)[key] = changed[id(value)][1]
                elif type(value) is FunctionType and id(getattr(value, "__wrapped__", None)) in changed:
                    vars(there)[key] = asking(value)


def _parts(self: Any) -> Iterator[Any]:
    """``iter(x)`` of an instance of a derived class: its parts are instances, too."""
    if not self.array.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


class Subclasses:
    """What classes derived from Tensor inherit."""

    __slots__ = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.partition(".")[0] == "gradwright" or cls.__torch_function__ is _disabled_torch_function_impl:
            _plain.add(cls)
            return
        _spaces_ask()
        tensor = next(base for base in cls.__mro__ if base.__module__ == "gradwright.tensor")
        mine = {name for base in cls.__mro__[: cls.__mro__.index(tensor)] for name in vars(base)}
        for name in dir(tensor):
            found = getattr(tensor, name)
            if name in mine or name in _NEVER:
                continue
            if name == "__iter__":
                setattr(cls, name, _parts)
            elif isinstance(found, FunctionType) and not isinstance(vars(object).get(name), FunctionType):
                setattr(cls, name, _method(found))
            elif name in _PROPERTIES and isinstance(found, property):
                setattr(cls, name, _property(found))

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the function without asking again; tensors that it makes become instances of the class."""
        if _off.get() and not (getattr(func, "__module__", None) or "").startswith("gradwright"):
            raise RuntimeError(f"{getattr(func, '__name__', func)}(): a tensor of gradwright's among PyTorch's: "
                            "gradwright.from_dlpack() takes theirs, torch.from_dlpack() ours")  # fmt: skip
        if not all(issubclass(cls, t) for t in types):
            return NotImplemented
        with DisableTorchFunctionSubclass():
            out = func(*args, **(kwargs or {}))
        return _become(out, cls, [id(v) for v in _values(args, kwargs or {})])

    @staticmethod
    def _make_subclass(kind_of: Any, data: Any, require_grad: bool = False) -> Any:
        """An instance of a derived class over the memory of ``data``, without its history."""
        if not isinstance(data, TensorBase):
            raise TypeError(f"_make_subclass(): argument 'data' must be Tensor, not {kind(data)}")
        out: Any = alias_of(data)
        out.__class__ = kind_of
        with DisableTorchFunctionSubclass():
            return out.requires_grad_(require_grad)

    def as_subclass(self, cls: Any) -> Any:
        """The same memory and history as an instance of a class derived from Tensor."""
        if not (isinstance(cls, type) and issubclass(cls, TensorBase)):
            raise TypeError(f"as_subclass(): argument 'cls' must be a class derived from Tensor, not {cls!r}")
        return cls._of(self)  # type: ignore[attr-defined]

    @classmethod
    def _of(cls, x: Any) -> Any:
        """The same memory and history as an instance of the class."""
        with DisableTorchFunctionSubclass():
            out: Any = alias(x)
        out.__class__ = cls
        return out


def _become(out: Any, cls: type, given: list[int]) -> Any:
    if isinstance(out, TensorBase) and type(out) in _plain and id(out) not in given and not isinstance(out, cls):
        return cls._of(out) if out.is_leaf and out.requires_grad else _changed(out, cls)  # type: ignore[attr-defined]
    if isinstance(out, tuple) and hasattr(out, "_fields"):
        return type(out)(*[_become(v, cls, given) for v in out])
    if isinstance(out, (tuple, list)) and type(out) in (tuple, list):
        return type(out)(_become(v, cls, given) for v in out)
    return out


def _changed(out: Any, cls: type) -> Any:
    out.__class__ = cls
    return out

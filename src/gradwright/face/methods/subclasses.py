"""Classes derived from Tensor: what operations on their instances are asked, and what they give.

A class of a user's has PyTorch's ``__torch_function__(cls, func, types, args, kwargs)``: the default runs the function
and makes its results instances of the class; one of its own decides what it does. Functions, methods and operators are
set to ask for it (`gradwright.face.methods.exchange`) when the first such class is defined: until then it is free.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from threading import RLock
from types import FunctionType
from typing import Any, Self, TypeVar

from gradwright.backends.devices import device
from gradwright.base.changes import switch
from gradwright.base.cpython.frames import ASKING
from gradwright.base.dtypes import Size, dtype
from gradwright.base.errors import home, kind
from gradwright.base.source_line import warn
from gradwright.base.upward import above, slots
from gradwright.engine.base import TensorBase
from gradwright.engine.view import alias_of
from gradwright.face.functions.algebra.einsum import einsum
from gradwright.face.functions.views import alias
from gradwright.face.methods.exchange import KNOWN, exchange

_CLASSES, _ALL = 1, 2
_off = switch("what functions do not ask: classes, or modes, too", 0)

ASKING_MODULES = ("gradwright", "gradwright.linalg", "gradwright.fft", "gradwright.special", "gradwright.nn.functional")
"""The modules whose functions ask."""

_NEVER = frozenset({
    "__init__", "__new__", "__init_subclass__", "__class__", "__getattribute__", "__getattr__", "__setattr__",
    "__delattr__", "__hash__", "__reduce__", "__reduce_ex__", "__torch_function__", "__dir__", "__sizeof__",
    "__subclasshook__", "__array_ufunc__", "__array_function__", "__array_namespace__", "__dlpack__",
    "__dlpack_device__", "__array__", "__repr__", "__format__", "__deepcopy__", "__copy__", "__str__", "__iter__",
    "as_subclass", "_make_subclass", "_of",
})  # fmt: skip
SILENT = frozenset({
    "as_tensor", "asarray", "detach", "from_dlpack", "from_numpy", "is_tensor", "tensor", "typename",
})  # fmt: skip
"""Functions that take anything, and ask nothing of it; and `detach`, which looks at the line that it is called from."""
PROPERTIES = ("T", "mT", "H", "mH", "real", "imag", "data")
_METHODS = {f"__{sign}__": name for sign, name in (
    ("add", "add"), ("radd", "add"), ("sub", "sub"), ("mul", "mul"), ("rmul", "mul"), ("truediv", "div"),
    ("mod", "remainder"), ("matmul", "matmul"), ("neg", "neg"), ("abs", "abs"), ("lt", "lt"), ("le", "le"),
    ("gt", "gt"), ("ge", "ge"), ("ne", "ne"), ("iadd", "add_"), ("isub", "sub_"), ("imul", "mul_"),
    ("itruediv", "div_"), ("imod", "remainder_"), ("ifloordiv", "floor_divide_"),
)}  # fmt: skip
"""As which methods operators ask, as PyTorch's do; the others ask as themselves."""
_SHORT = frozenset({"abs", "div", "div_", "eq", "ge", "gt", "le", "lt", "mul", "mul_", "ne", "neg", "sub", "sub_"})
"""Names of methods that have a longer one, too."""


S = TypeVar("S")


class DisableTorchFunctionSubclass:
    """A context in which functions and methods run without asking classes for a ``__torch_function__``.

    Modes are asked all the same.
    """

    _stops = _CLASSES

    def __enter__(self) -> None:
        self._token = _off.set(max(_off.get(), self._stops))

    def __exit__(self, *_: object) -> None:
        _off.reset(self._token)


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """A context in which functions and methods run without asking, neither classes nor modes."""

    _stops = _ALL


def is_asked() -> bool:
    """Whether functions ask their arguments' classes, here and now."""
    return not _off.get()


def own(value: Any) -> Any:
    """The ``__torch_function__`` of a value that is no plain tensor or parameter, or None."""
    cls = type(value)
    if cls in _plain:
        return None
    found = getattr(cls, "__torch_function__", None)
    if found is None or found is _disabled_torch_function_impl:
        return None
    return None if _of_pytorch(cls.__mro__) else found


@functools.lru_cache(256)
def _of_pytorch(classes: tuple[type, ...]) -> bool:
    """Whether one of them is PyTorch's own, which has no say. Asked anew of a class that gets other bases."""
    return any(home(base) == "torch" for base in classes)


_plain: set[type] = {
    TensorBase, int, float, bool, complex, str, type(None), slice, type(...), range, dtype, device, Size,
}  # fmt: skip
KNOWN.update(_plain)


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


def _is_einsum(func: Any) -> bool:
    """Whether a function is gradwright's own, in whichever form it asks."""
    named = getattr(func, "__name__", ""), str(getattr(func, "__module__", "")).partition(".")[0]
    return func is einsum or named in (("einsum", "gradwright"), ("einsum", "torch"))


def dispatch(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``func(*args, **kwargs)``, as the arguments' classes have it; TypeError if none of them can."""
    if len(args) == 2 and type(args[1]) in (list, tuple) and _is_einsum(func):
        args = (args[0], *args[1])  # PyTorch's spreads them before it asks
    classes: list[type] = []
    functions: list[Any] = []
    for value in _values(args, kwargs):
        cls = type(value)
        if cls not in classes and (found := own(value)) is not None:
            at = next((k for k, other in enumerate(classes) if issubclass(cls, other)), len(classes))
            classes.insert(at, cls)
            functions.insert(at, found)
    if not classes:
        return func(*args, **kwargs)
    types = tuple(classes)
    for function in functions:
        out = function(func, types, args, kwargs)
        if out is not NotImplemented:
            return out
    names = ", ".join(t.__name__ for t in types)
    raise TypeError(f"no implementation found for '{getattr(func, '__name__', func)}' on types that implement "
                    f"__torch_function__: {names}")  # fmt: skip


def ask(public: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``function(*args, **kwargs)``, which programs have as ``public``, or what the arguments' classes make of it."""
    off = _off.get()
    if off != _ALL and _modes.get():
        return _moded(_public.get(public, public), args, kwargs)
    if not off:
        for value in _values(args, kwargs):
            if own(value) is not None:
                return dispatch(_public.get(public, public), args, kwargs)
    return function(*args, **kwargs)


ask.__code__ = ask.__code__.replace(co_filename=ASKING)  # nobody takes it for the function that was called

_modes = switch("modes that functions ask first", ())


def _moded(public: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the innermost mode makes of a call, and while it does, the one around it is asked."""
    *around, innermost = _modes.get()
    token = _modes.set(tuple(around))
    try:
        given = () if _off.get() else _values(args, kwargs)
        types = tuple({type(value): None for value in given if own(value) is not None})
        return innermost.__torch_function__(public, types, args, kwargs)
    finally:
        _modes.reset(token)


_entering = RLock()
_blocks = [0]
"""How many blocks of modes are entered, in all threads."""


def _entered(blocks: int) -> None:
    """So many more blocks of modes: while there is any, in whatever thread, no class is `KNOWN`."""
    with _entering:
        _blocks[0] += blocks
        if _blocks[0]:
            KNOWN.clear()
        else:
            KNOWN.update(_plain)


class TorchFunctionMode:
    """A context in which its ``__torch_function__(func, types, args, kwargs)`` is asked of every call of a function."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """To be written in a derived class."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        ask_from_now_on()
        _modes.set((*_modes.get(), self))
        _entered(1)
        return self

    def __exit__(self, *_: object) -> None:
        _modes.set(_modes.get()[:-1])
        _entered(-1)


def serving(function: Any, in_full: Any, name: str) -> Any:
    """``function`` as programs get it under a name of PyTorch's: it asks from the start, even if no tensor is given.

    ``in_full`` is the same function, with arguments besides.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        for x in args:
            if x.__class__ not in KNOWN:
                return ask(call, in_full, args, kwargs)
        return ask(call, in_full, args, kwargs) if kwargs else function(*args)

    call.__code__ = call.__code__.replace(co_filename=ASKING)
    functools.update_wrapper(call, function)
    call.__name__ = name
    _public.setdefault(function, call)
    return call


_public: dict[Any, Any] = {}
"""As what functions are known to programs."""


def methods_that_ask() -> dict[str, FunctionType]:
    """The methods and operators of tensors that ask, by name."""
    tensor = slots.tensor
    return {name: found for name in dir(tensor) if isinstance(found := getattr(tensor, name, None), FunctionType)
            and name not in _NEVER | SILENT and (name.startswith("__") or not name.startswith("_"))}  # fmt: skip


@functools.cache
def ask_from_now_on() -> None:
    """Set functions, methods and operators to ask, once."""
    above("functional")  # with it comes all of gradwright.nn
    methods = methods_that_ask()
    for name, found in methods.items():
        if methods.get(found.__name__) is not found or name in _SHORT:
            found.__name__ = name
    _public.update({found: methods[_METHODS.get(name, name)] for name, found in methods.items()})
    functions = dict.fromkeys(methods.values())
    for path in ASKING_MODULES:
        there = ((name, vars(sys.modules[path]).get(name)) for name in sys.modules[path].__all__)
        functions |= {f: None for name, f in there if isinstance(f, FunctionType) and name not in SILENT}
    for function in functions:
        exchange(function, function, ask)


def _stranger(operator: Any, *values: Any) -> Any:
    """What values that are no tensors make of an operator; NotImplemented if they have no say."""
    if _off.get() or all(own(value) is None for value in values):
        return NotImplemented
    ask_from_now_on()
    return dispatch(_public[operator], values, {}) if operator in _public else NotImplemented


slots.operand = _stranger


def _property(base: property) -> property:
    def get(self: Any) -> Any:
        return base.fget(self) if _off.get() else dispatch(base.__get__, (self,), {})  # type: ignore[misc]

    return property(get, base.fset, base.fdel, base.__doc__)


def _method(base: Any) -> Any:
    """A method of a derived class, in place of Tensor's."""

    @functools.wraps(base)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return base(self, *args, **kwargs) if _off.get() else dispatch(base, (self, *args), kwargs)

    return call


class Subclasses:
    """What classes derived from Tensor inherit."""

    __slots__ = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__torch_dispatch__" in vars(cls):
            warn(f"{cls.__name__} has a __torch_dispatch__, which gradwright never asks, and can have no instances: "
                 "say by __torch_function__ what operations on them do")  # fmt: skip
        if home(cls) == "gradwright" or cls.__torch_function__ is _disabled_torch_function_impl:
            with _entering:
                _plain.add(cls)
                if not _blocks[0]:
                    KNOWN.add(cls)
            return
        ask_from_now_on()
        tensor = slots.tensor
        mine = {name for base in cls.__mro__[: cls.__mro__.index(tensor)] for name in vars(base)}
        for name in {*PROPERTIES, "detach"} - mine:
            setattr(cls, name, _property(found) if isinstance(found := getattr(tensor, name), property)
                    else _method(found))  # fmt: skip

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
        return _become(out, cls, (args, kwargs or {}))

    @staticmethod
    def _make_subclass(kind_of: Any, data: Any, require_grad: bool = False) -> Any:
        """An instance of a derived class over the memory of ``data``, without its history."""
        if not isinstance(data, TensorBase):
            raise TypeError(f"_make_subclass(): argument 'data' must be Tensor, not {kind(data)}")
        refuse_dispatch(kind_of)
        out: Any = alias_of(data)
        out.__class__ = kind_of
        with DisableTorchFunction():
            return out.requires_grad_(require_grad)

    def as_subclass(self, cls: type[S]) -> S:
        """The same memory and history as an instance of a class derived from Tensor.

        >>> class Named(gw.Tensor):
        ...     pass
        >>> type(gw.ones(2).as_subclass(Named)).__name__
        'Named'
        """
        if not (isinstance(cls, type) and issubclass(cls, TensorBase)):
            raise TypeError(f"as_subclass(): argument 'cls' must be a class derived from Tensor, not {cls!r}")
        refuse_dispatch(cls)
        return cls._of(self)  # type: ignore[attr-defined]

    @classmethod
    def _of(cls, x: Any) -> Any:
        """The same memory and history as an instance of the class."""
        with DisableTorchFunction():
            out: Any = alias(x)
        out.__class__ = cls
        return out


def refuse_dispatch(cls: type) -> None:
    """NotImplementedError for a class with a ``__torch_dispatch__``: operations would pass it over."""
    if getattr(cls, "__torch_dispatch__", None) is not None:
        raise NotImplementedError(f"{cls.__name__} has a __torch_dispatch__, which gradwright never asks: say by "
                                  "__torch_function__ what operations on its instances do")  # fmt: skip


RESERVED = ("_freed", "_frozen", "_gradient_of", "_now", "__deepcopy__")
"""What gradwright itself sets on a tensor."""


def attributes(t: Any) -> dict[str, Any]:
    """What the user has set on a tensor."""
    return {name: value for name, value in t.__dict__.items() if name not in RESERVED}


def alike(t: Any, copy: Any) -> Any:
    """The copy of a tensor, of its class."""
    copy.__class__ = t.__class__
    return copy


def _become(out: Any, cls: type, given: tuple[Any, Any]) -> Any:
    """What a function made of ``given``, args and kwargs, as instances of the class; what was given stays as it is."""
    if isinstance(out, TensorBase):
        if type(out) not in _plain or isinstance(out, cls) or any(value is out for value in _values(*given)):
            return out
        return cls._of(out) if out.is_leaf and out.requires_grad else _changed(out, cls)  # type: ignore[attr-defined]
    if isinstance(out, tuple) and hasattr(out, "_fields"):
        return type(out)(*[_become(v, cls, given) for v in out])
    if isinstance(out, (tuple, list)) and type(out) in (tuple, list):
        return type(out)(_become(v, cls, given) for v in out)
    return out


def _changed(out: Any, cls: type) -> Any:
    out.__class__ = cls
    return out

"""Layers given by their settings: the fields of the class are the arguments, the attributes and what is printed."""

from __future__ import annotations

import dataclasses
import functools
from types import FunctionType
from typing import Any, TypeVar, dataclass_transform

from gradwright.nn.module import Module

M = TypeVar("M", bound=type[Module])


@dataclass_transform(eq_default=False, field_specifiers=(dataclasses.field,))
def layer(cls: M) -> M:
    """Make ``__init__`` of a module's annotated fields, and `extra_repr` unless the class defines one.

    Fields are declared, inherited and ordered as in a dataclass; a ``__post_init__`` runs last. All are printed but
    those declared with ``field(repr=False)`` and an ``inplace`` that is not set. A layer with parameters, whose
    attributes are other things than its arguments, writes its own ``__init__``.

    >>> @layer
    ... class Power(Module):
    ...     exponent: float = 2.0
    ...     inplace: bool = False
    ...     def forward(self, input):
    ...         return input.pow_(self.exponent) if self.inplace else input**self.exponent
    >>> Power(3.0), Power(inplace=True)
    (Power(exponent=3.0), Power(exponent=2.0, inplace=True))
    """
    dataclasses.dataclass(eq=False, repr=False)(cls)  # changes the class itself
    cls.__init__ = _after_modules(cls.__init__)  # type: ignore[method-assign]
    if cls.extra_repr is Module.extra_repr:
        cls.extra_repr = _settings  # type: ignore[method-assign]
    return cls


def _after_modules(assign: Any) -> Any:
    """``Module.__init__``, and then this."""

    @functools.wraps(assign)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        Module.__init__(self)
        assign(self, *args, **kwargs)

    return init


def own_init(cls: Any) -> None:
    """Give a class the ``__init__`` it inherits as its own: Python's messages about arguments then name this class."""
    init = cls.__init__
    if "__init__" not in vars(cls) and isinstance(init, FunctionType):
        assign = getattr(init, "__wrapped__", None)
        cls.__init__ = known_as(cls, init) if assign is None else _after_modules(known_as(cls, assign))


def known_as(cls: type, init: Any) -> Any:
    """A copy of an ``__init__`` that Python's messages call that of ``cls``."""
    copy = FunctionType(init.__code__, init.__globals__, init.__name__, init.__defaults__, init.__closure__)
    copy.__kwdefaults__, copy.__annotations__ = init.__kwdefaults__, init.__annotations__
    copy.__qualname__, copy.__module__ = f"{cls.__qualname__}.__init__", init.__module__
    return copy


def _settings(self: Any) -> str:
    """Every field that is printed, as "name=value"."""
    held = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.repr}
    return ", ".join(f"{name}={value!r}" for name, value in held.items() if name != "inplace" or value)

"""Layers given by their settings: the fields of the class are the arguments, the attributes and what is printed."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
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
    assign: Callable[..., None] = cls.__init__

    @functools.wraps(assign)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        Module.__init__(self)
        assign(self, *args, **kwargs)

    cls.__init__ = init  # type: ignore[method-assign]
    if cls.extra_repr is Module.extra_repr:
        cls.extra_repr = _settings  # type: ignore[method-assign]
    return cls


def _settings(self: Any) -> str:
    """Every field that is printed, as "name=value"."""
    held = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.repr}
    return ", ".join(f"{name}={value!r}" for name, value in held.items() if name != "inplace" or value)

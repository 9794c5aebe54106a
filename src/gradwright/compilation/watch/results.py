"""What is known of what a call will return, before it has returned."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from gradwright.compilation.watch.reads import UNKNOWN, Unknown


class Made(Unknown):
    """A function that the call itself has defined."""

    __slots__ = ("code",)

    def __init__(self, code: Any) -> None:
        super().__init__(FunctionType)
        self.code = code


class Result:
    """What is known of what a call will return.

    Attributes:
        value: it, if that is known.
        code: the Python code that returns it, if it is that of a function.
        any: whether whatever Python code is called returns it.
        instance: the class of which it is a new object.
        function: the Python function that is called, if it is known.
    """

    __slots__ = ("any", "code", "function", "instance", "value")

    def __init__(self, value: Any = UNKNOWN, code: Any = None, any: bool = False, instance: Any = None,
                 function: Any = None) -> None:  # fmt: skip
        self.value, self.code, self.any, self.instance, self.function = value, code, any, instance, function

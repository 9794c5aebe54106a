"""Layers that call one function with their settings; some of them are one layer of one, two and three dimensions.

``class Mish(Applied, function=F.mish)`` and ``class MaxPool2d(_MaxPool, axes=2)`` are complete but for their fields and
one line of docstring: the rest follows from the function.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, TypeVar

from gradwright.face.reading.keywords import names_of
from gradwright.face.tensor import Tensor
from gradwright.nn import functional as F
from gradwright.nn.functional.geometry import by_axes
from gradwright.nn.module import Module

M = TypeVar("M", bound=Callable[..., Any])


def of_inputs(forward: M) -> M:
    """Marks a ``forward`` that says no more than what the inputs are: each class with a function gets its own."""
    forward.inputs = names_of(forward)  # type: ignore[attr-defined]
    return forward


class Applied(Module):
    """A layer that calls ``function``: of its input, and of those of its fields that are named as its arguments are.

    ``training`` is one of them. A class may define a ``forward`` of its own. A docstring without an example goes on
    with `_about` or, if that is empty, with what the function's says behind its first paragraph, in terms of the layer.
    """

    _about: ClassVar[str] = ""
    _function: ClassVar[Callable[..., Any]]

    def __init_subclass__(cls, function: Callable[..., Any] | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if function is not None:
            cls._function = staticmethod(function)
            if hasattr(cls.forward, "inputs"):
                cls.forward = _calling(cls, function)  # type: ignore[method-assign]
            _complete(cls, function)

    @of_inputs
    def forward(self, input: Tensor) -> Tensor:
        """The function of ``input``, with the settings of the layer."""
        raise NotImplementedError


class Dimensional(Applied):
    """What the classes made with ``axes=n`` have of the kind of layer they are.

    `_calls` names their function, in `gradwright.nn.functional`. There, and in `_about`, "{n}" and its kin stand for
    the axes, see `by_axes`, and "{name}" for the class. A user's subclass, which names no axes, inherits all.
    """

    _calls: ClassVar[str] = ""
    _axes: ClassVar[int]

    def __init_subclass__(cls, axes: int = 0, **kwargs: Any) -> None:
        if axes:
            cls._axes = axes
            cls._about = by_axes(cls._about, axes).replace("{name}", cls.__name__)
            if cls._calls:
                kwargs["function"] = getattr(F, by_axes(cls._calls, axes))
            else:
                _complete(cls)
        super().__init_subclass__(**kwargs)


def _fields(cls: type[Applied]) -> set[str]:
    return {name for base in cls.__mro__ for name in vars(base).get("__annotations__", ())}


def _complete(cls: type[Applied], function: Any = None) -> None:
    """Let the docstring of a class go on, if there is one and it has no example."""
    if cls.__doc__ and ">>>" not in cls.__doc__:
        about = inspect.cleandoc(cls._about) or _of_layer(cls, function)
        cls.__doc__ = f"{cls.__doc__}\n\n{about}\n"


def _calling(cls: type[Applied], function: Callable[..., Any]) -> Any:
    """A ``forward`` as one would write it: what it reads can be followed, and costs nothing more."""
    inputs, arguments = list(cls.forward.inputs), names_of(function) or ()  # type: ignore[attr-defined]
    settings = [name for name in arguments if name in _fields(cls)]
    n = inspect.unwrap(function).__code__.co_argcount
    in_order = [*inputs, *settings] == list(arguments[: len(inputs) + len(settings)]) and len(inputs + settings) <= n
    given = ", ".join([*inputs, *(f"self.{name}" if in_order else f"{name}=self.{name}" for name in settings)])
    text = f"lambda function: lambda self, {', '.join(inputs)}: function({given})"
    return wraps(cls.forward)(eval(compile(text, __file__, "eval"))(function))  # noqa: S307 - the text is written here


def _of_layer(cls: type[Applied], function: Any) -> str:
    """What the docstring of a function says behind its first paragraph, in terms of the layer that calls it.

    What it says of arguments that the layer has not is left out: their lines under Args, paragraphs that name them.
    """
    layer = f"gw.nn.{cls.__name__}" if cls.__module__.startswith("gradwright.nn.") else cls.__name__
    arguments = names_of(function) or ()
    n = sum(a == b for a, b in zip(arguments, names_of(cls.forward) or (), strict=False))
    lacking = [name for k, name in enumerate(arguments) if k >= n and name not in _fields(cls)]
    _, *paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    about = "\n\n".join(p for p in paragraphs if not any(f"``{name}``" in p for name in lacking))
    lines = rf"^    ({'|'.join([*arguments[:n], *lacking])}): .*\n(        .*\n)*"
    about = re.sub(lines, "", about, flags=re.MULTILINE)

    def called(found: re.Match[str]) -> str:
        code = found[0]
        for call in ast.walk(ast.parse(code)):
            if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == function.__name__:
                parts: list[Any] = [*call.args, *call.keywords]
                given = [code[part.col_offset : part.end_col_offset] for part in parts]
                settings = ", ".join(text for text in given[n:] if text != "training=True")
                return (f"{code[: call.col_offset]}{layer}({settings})({', '.join(given[:n])})"
                        f"{code[call.end_col_offset :]}")  # fmt: skip
        return code

    return re.sub(rf"(?<=>>> ).*\b{function.__name__}\(.*", called, about)

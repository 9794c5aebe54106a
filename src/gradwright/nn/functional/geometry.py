"""How windows lie over a tensor: reading kernel sizes, strides, paddings and dilations, with errors that name them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from gradwright.base.errors import kind
from gradwright.base.errors import size as text
from gradwright.face.reading.torch import tensor_arg
from gradwright.face.tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])


def per_axis(function: str, argument: str, value: Any, n: int, least: int | None = None) -> tuple[int, ...]:
    """One int for all ``n`` axes, or one each, as a tuple.

    Raises TypeError for what is no int, RuntimeError for another number of them or for one below ``least``.
    """
    many = value if isinstance(value, (tuple, list)) else (value,)
    for v in many:
        if not hasattr(v, "__index__") or isinstance(v, bool):
            raise TypeError(f"{function}(): argument '{argument}' must be int or tuple of ints, not {kind(v)}")
    ints = tuple(v.__index__() for v in many)
    if len(ints) not in (1, n):
        raise RuntimeError(
            f"{function}(): expected {argument} to be a single integer value or a list of {n} values to match the "
            f"convolution dimensions, but got {argument}={list(ints)}"
        )
    if least is not None and min(ints) < least:
        sign = "negative" if least == 0 else "non-positive"
        raise RuntimeError(f"{function}(): {sign} {argument} is not supported, but got {argument}={list(ints)}")
    return ints * n if len(ints) == 1 else ints


def batched(function: str, input: Tensor, n: int) -> tuple[Any, bool]:
    """``input`` with a batch axis, and whether it came without: (C, *size) or (N, C, *size), ``n`` axes in size.

    Raises TypeError if it is no tensor, RuntimeError for another number of axes.
    """
    x = tensor_arg(function, input)
    ndim = x.array.ndim
    if ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {function}, but got input of size: "
            f"{text(x.array.shape)}"
        )
    return (x, False) if ndim == n + 2 else (x.unsqueeze(0), True)


_SIZES = {1: "L", 2: "H, W", 3: "D, H, W"}
_DIGITS = ("none", "ones", "twos", "threes", "fours", "fives")


def by_axes(text: str, n: int) -> str:
    """A text on any number of axes as that on ``n``: "{n} axes", their "{size}", a number for each ("{twos}")."""
    text = text.replace("{n} axes", f"{n} axes" if n > 1 else "one axis").replace("{n}", str(n))
    text = text.replace("{size}", _SIZES[n]).replace("{size'}", _SIZES[n].replace(",", "',") + "'")
    text = text.replace("{others}", ", 0, 0" * (n - 1))  # pads of the other axes
    for digit, word in enumerate(_DIGITS):
        text = text.replace(f"{{{word}}}", ", ".join(str(digit) * n))
    return text


def family(name: str, make: Callable[[int], F], axes: Sequence[int] = (1, 2, 3)) -> list[F]:
    """The functions that ``make(n)`` returns for each number of axes, named and documented."""
    made = []
    for n in axes:
        f = make(n)
        f.__name__ = f.__qualname__ = name.format(n)
        f.__doc__ = by_axes(f.__doc__ or "", n)
        made.append(f)
    return made

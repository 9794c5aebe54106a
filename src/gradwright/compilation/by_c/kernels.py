"""The formulas and derivatives of which kernels are built ahead, and the C text of these.

Each lays its first array out as rows, whose entries are what its axes reduce over: (s0, s1).
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from gradwright.compilation.by_c.ahead import written
from gradwright.compilation.by_c.build import FLAGS
from gradwright.compilation.by_c.source import whole
from gradwright.compilation.by_c.symbols import FLOOR, Symbols
from gradwright.compilation.trace.traced import space
from gradwright.native import text_of
from gradwright.ops import activation, loss, norm


class Kernel(NamedTuple):
    """One of them.

    Attributes:
        function: the formula, or the derivative, ``f(xp, ...)``.
        takes: a letter for each argument: X the first array, Y one of its shape, R one with length 1 where it is
            reduced, I whole numbers below that length for each row, A the axis, T the axes, E a float, M "mean"; (...)
            for several in a list.
        gives: the same for its results; S one number, the sum of those of the pieces.
    """

    function: Callable[..., Any]
    takes: str
    gives: str

    @property
    def name(self) -> str:
        """The function's, with its module."""
        return f"{self.function.__module__}.{self.function.__qualname__}"


KERNELS = (
    Kernel(activation.softmax.forward, "XA", "Y"),
    Kernel(activation._softmax_slope, "XYA", "Y"),
    Kernel(activation.log_softmax.forward, "XA", "Y"),
    Kernel(activation._log_softmax_slope, "XYA", "Y"),
    Kernel(norm.standardize.forward, "XTE", "YRR"),
    Kernel(norm._standardize_slope, "(XRR)(YRR)TE", "Y"),
    Kernel(loss.cross_entropy.forward, "XIAM", "S"),
)
BUILT = platform.machine() == "x86_64" and sys.platform != "win32"
"""Whether they are: where there are forms for the processor, and a compiler that takes these words."""
_FLAGS = [flag for flag in FLAGS if flag != "-shared"]
FORMS = {
    "avx2": [*_FLAGS, "-march=x86-64-v3"],
    "avx512": [*_FLAGS, "-march=x86-64-v4", "-mprefer-vector-width=512"],
}
"""What the compiler is told for each kind of processor that there is a form for."""
ROWS, ENTRIES, NUMBER = 211, 4099, 3 / 2**17
"""The samples: primes, and a number that is nowhere else."""


def text(kernel: Kernel, name: str, dtype: Any) -> str:
    """The C text of a kernel for a dtype: see `written`."""
    by = Symbols((ROWS, ENTRIES), (NUMBER,))
    random = np.random.default_rng(0)
    arrays: list[Any] = []

    def given(kind: str) -> Any:
        shape: Any = {"X": (ROWS, ENTRIES), "Y": (ROWS, ENTRIES), "R": (ROWS, 1)}.get(kind, (ROWS,))
        arrays.append(random.integers(0, ENTRIES, ROWS) if kind == "I" else random.random(shape).astype(dtype))
        return len(arrays) - 1

    code = kernel.function.__code__
    count = code.co_argcount - 1
    arguments = [*_read(iter(kernel.takes), given)]

    def called(*xs: Any) -> Any:
        values = [_filled(a, xs) for a in arguments]
        names = code.co_varnames[1 + count : 1 + count + code.co_kwonlyargcount]
        return kernel.function(space, *values[:count], **dict(zip(names, values[count:], strict=True)))

    return written(name, called, arrays, by)


def _read(kinds: Iterator[str], given: Callable[[str], Any]) -> Iterator[Any]:
    for kind in kinds:
        if kind == ")":
            return
        yield [*_read(kinds, given)] if kind == "(" else kind if kind in "ATEM" else given(kind)


def _filled(argument: Any, arrays: Any) -> Any:
    if isinstance(argument, list):
        return [_filled(a, arrays) for a in argument]
    if isinstance(argument, str):
        return {"A": 1, "T": (1,), "E": NUMBER, "M": "mean"}[argument]
    return arrays[argument]


def all_text() -> str:
    """All kernels, and the table ``KERNELS`` of them, in the words of native/kernels.h."""
    parts, table = [], []
    for k, kernel in enumerate(KERNELS):
        names = [f"k{k}_{kind}" for kind in ("single", "twice")]
        parts += [text(kernel, n, d) for n, d in zip(names, (np.float32, np.float64), strict=True)]
        runs, owns = ", ".join(names), ", ".join(f"{n}_own" for n in names)
        made_of = text_of(kernel.function.__module__)
        table.append(f'  {{"{kernel.name}", {made_of}u, "{kernel.takes}", "{kernel.gives}", '
                     f"{{{runs}}}, {{{owns}}}}},")  # fmt: skip
    ends = ["const Kernel KERNELS[] = {", *table, "  {0}", "};", ""]
    return "\n".join(['#include "kernels.h"', FLOOR, whole("\n".join(parts), None, frozenset()), *ends])

